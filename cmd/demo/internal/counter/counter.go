// Package counter keeps counters on a shard: a child adds to them, a handler reads them.
package counter

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/demopb"
	"github.com/slap-go/slap/cmd/demo/internal/table"
)

// Names under which a shard is asked.
const (
	Child   = "counter"      // adds
	Handler = "counter.read" // reads
)

// Invalid is the code of the [slap.AppError] for an addition whose sum does not fit 64
// bits. Nothing was written.
const Invalid = "invalid"

// prefix separates the counters from what else the shard's database holds.
const prefix = "c/"

// Spec is the child as a shard starts it.
func Spec(shard *slap.Shard) slap.ChildSpec {
	return slap.ChildSpec{Name: Child, New: func() actor.Actor { return &adder{table.Of(shard, prefix)} }}
}

// adder is the one writer of its shard's counters. Between the read and the write of an
// addition nothing else runs, so no addition is lost.
type adder struct{ table table.Table }

// Receive answers additions.
func (a *adder) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(*demopb.Add); ok {
		a.table.Respond(ctx, a.add(m))
	}
}

func (a *adder) add(m *demopb.Add) table.Answer {
	value, err := load(context.Background(), a.table, m.GetKey())
	if err != nil {
		return table.Answer{Err: err}
	}
	sum, fits := sum(value, m.GetBy())
	if !fits {
		return table.Answer{Reply: &slap.AppError{Code: Invalid, Message: "by: the sum does not fit 64 bits"}}
	}
	seq, err := a.table.Put(m.GetKey(), encode(sum))
	return table.Answer{Reply: &demopb.Added{Value: sum, Seq: seq}, Seq: seq, Err: err}
}

// Read is the handler. A read needs no actor: it is answered once it is confirmed that
// what it saw is durable and was current.
func Read(ctx context.Context, shard *slap.Shard, m *demopb.ReadCounter) (*demopb.CounterValue, error) {
	value, err := load(ctx, table.Of(shard, prefix), m.GetKey())
	if err != nil {
		return nil, err
	}
	if err := shard.Confirm(ctx); err != nil {
		return nil, err
	}
	return &demopb.CounterValue{Value: value}, nil
}

// load is 0 for a counter that is not there.
func load(ctx context.Context, t table.Table, key []byte) (int64, error) {
	data, found, err := t.Get(ctx, key)
	if err != nil || !found {
		return 0, err
	}
	return decode(data)
}

func encode(value int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(value)) }

func decode(data []byte) (int64, error) {
	if len(data) != 8 {
		return 0, fmt.Errorf("a stored counter has %d bytes instead of 8", len(data))
	}
	return int64(binary.BigEndian.Uint64(data)), nil
}

// sum is a+b, if that fits.
func sum(a, b int64) (int64, bool) {
	if (b > 0 && a > math.MaxInt64-b) || (b < 0 && a < math.MinInt64-b) {
		return 0, false
	}
	return a + b, true
}
