// Package counter is the shard child that keeps counters.
package counter

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/demopb"
)

// Child is the name under which a shard has this child.
const Child = "counter"

// prefix separates the counters from what else the shard's database holds.
const prefix = "c/"

// Spec is the child as a shard starts it.
func Spec(shard *slap.Shard) slap.ChildSpec {
	return slap.ChildSpec{Name: Child, New: func() actor.Actor { return &counters{shard: shard} }}
}

// counters is the one writer of its shard's counters. Between the read and the
// write of an addition nothing else runs, so no addition is lost.
type counters struct{ shard *slap.Shard }

// readPatience bounds a read, which waits while the store is away. A write is
// waited for as long as it takes: one that was given up could still be applied,
// after the next.
const readPatience = 10 * time.Second

// Receive answers additions and reads.
func (c *counters) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *demopb.Add:
		c.add(ctx, m)
	case *demopb.ReadCounter:
		c.read(ctx, m)
	}
}

func (c *counters) add(ctx actor.Context, m *demopb.Add) {
	value, err := c.load(m.GetKey())
	if err != nil {
		ctx.Respond(err)
		return
	}
	sum, fits := sum(value, m.GetBy())
	if !fits {
		c.shard.RespondWhenDurable(ctx, c.shard.WrittenSeq(), &demopb.Added{Overflow: true})
		return
	}
	seq, err := c.shard.DB().Put(context.Background(), row(m.GetKey()), encode(sum), nil)
	if err != nil {
		ctx.Respond(err)
		return
	}
	c.shard.RespondWhenDurable(ctx, seq, &demopb.Added{Value: sum, Seq: seq})
}

// read answers once what it saw is durable: a value that a crash could take back
// is told to nobody.
func (c *counters) read(ctx actor.Context, m *demopb.ReadCounter) {
	value, err := c.load(m.GetKey())
	if err != nil {
		ctx.Respond(err)
		return
	}
	c.shard.RespondWhenDurable(ctx, c.shard.WrittenSeq(), &demopb.CounterValue{Value: value})
}

func (c *counters) load(key []byte) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readPatience)
	defer cancel()
	data, found, err := c.shard.DB().Get(ctx, row(key), nil)
	if err != nil || !found {
		return 0, err
	}
	return decode(data)
}

func row(key []byte) []byte { return append([]byte(prefix), key...) }

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
