package slap_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store/slatedb"
)

// account is one counter, and what its callers were told.
type account struct {
	key                   string
	shard                 int
	call                  bool // a handler counts, else the child "counter"
	acknowledged, unknown atomic.Uint64
	refused               atomic.Uint64
	values                sync.Map // that were acknowledged
}

// adding are the handlers that count.
var adding = map[string]slap.Handler{"add": slap.Handle(add)}

// add counts per name, durably, beside others that do so.
func add(ctx context.Context, shard *slap.Shard, name *wrapperspb.StringValue) (*wrapperspb.UInt64Value, error) {
	for {
		n, seq, err := addOnce(ctx, shard.DB(), []byte(name.GetValue()))
		if errors.Is(err, slatedb.ErrConflict) {
			continue
		}
		if err == nil {
			err = shard.AwaitDurable(ctx, seq)
		}
		if err != nil {
			return nil, err
		}
		return wrapperspb.UInt64(n), nil
	}
}

func addOnce(ctx context.Context, db *slatedb.DB, key []byte) (n, seq uint64, err error) {
	tx, err := db.Begin(ctx, slatedb.Serializable)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	value, _, err := tx.Get(ctx, key, nil)
	if err != nil {
		return 0, 0, err
	}
	n = 1
	if len(value) == 8 {
		n += binary.BigEndian.Uint64(value)
	}
	if err := tx.Put(ctx, key, binary.BigEndian.AppendUint64(nil, n), nil); err != nil {
		return 0, 0, err
	}
	seq, err = tx.Commit(ctx)
	return n, seq, err
}

// increment adds one to the counter.
func (a *account) increment(ctx context.Context, c *slap.Cluster) (uint64, error) {
	if !a.call {
		answer, err := slap.Ask[*wrapperspb.UInt64Value](ctx, c, a.shard, "counter", wrapperspb.String(a.key))
		return answer.GetValue(), err
	}
	answer, err := slap.Call[*wrapperspb.UInt64Value](ctx, c, a.shard, "add", wrapperspb.String(a.key))
	return answer.GetValue(), err
}

// enter writes down what a caller was told.
func (a *account) enter(value uint64, err error) error {
	unknown, not := errors.Is(err, slap.ErrOutcomeUnknown), errors.Is(err, slap.ErrNotExecuted)
	switch {
	case err == nil:
		a.acknowledged.Add(1)
		if _, twice := a.values.LoadOrStore(value, true); twice {
			return fmt.Errorf("%s: %d acknowledged twice", a.key, value)
		}
	case unknown == not:
		return fmt.Errorf("%s: %w: unknown %v, not executed %v", a.key, err, unknown, not)
	case unknown:
		a.unknown.Add(1)
	default:
		a.refused.Add(1)
	}
	return nil
}

// books are the accounts of a number of callers.
type books struct {
	accounts []*account
	callTime time.Duration // deadline of a call
	hasty    int           // one call in so many has a deadline of at most 3 ms; none if 0
	seed     uint64

	slowest atomic.Int64 // time above the deadline, in nanoseconds
	stop    chan struct{}
	callers sync.WaitGroup
}

// openBooks makes some counters of both kinds on each of the shards.
func openBooks(t *testing.T, name string, each int, shards ...int) *books {
	t.Helper()
	b := &books{callTime: 5 * time.Second, seed: rand.Uint64(), stop: make(chan struct{})}
	t.Logf("seed %d", b.seed)
	for _, shard := range shards {
		for i := range 2 * each {
			b.accounts = append(b.accounts, &account{key: fmt.Sprintf("%s-%d-%d", name, shard, i), shard: shard, call: i%2 == 1})
		}
	}
	return b
}

// begin lets callers increment until the end, each over all counters.
func (b *books) begin(t *testing.T, cluster *slap.Cluster, callers int) {
	for n := range callers {
		b.callers.Go(func() {
			rnd := rand.New(rand.NewPCG(b.seed, uint64(n)))
			for i := n; ; i++ {
				select {
				case <-b.stop:
					return
				default:
					b.call(t, cluster, b.accounts[i%len(b.accounts)], rnd)
				}
			}
		})
	}
}

func (b *books) call(t *testing.T, cluster *slap.Cluster, a *account, rnd *rand.Rand) {
	limit := b.callTime
	if b.hasty > 0 && rnd.IntN(b.hasty) == 0 {
		limit = time.Duration(rnd.IntN(3_000)) * time.Microsecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	began := time.Now()
	value, err := a.increment(ctx, cluster)
	b.late(time.Since(began) - limit)
	if wrong := a.enter(value, err); wrong != nil {
		t.Errorf("seed %d: %v", b.seed, wrong)
	}
	if errors.Is(err, slap.ErrNotExecuted) {
		time.Sleep(time.Millisecond)
	}
}

func (b *books) late(d time.Duration) {
	for old := b.slowest.Load(); int64(d) > old && !b.slowest.CompareAndSwap(old, int64(d)); {
		old = b.slowest.Load()
	}
}

func (b *books) sum() (acknowledged, unknown, refused uint64) {
	for _, a := range b.accounts {
		acknowledged += a.acknowledged.Load()
		unknown += a.unknown.Load()
		refused += a.refused.Load()
	}
	return acknowledged, unknown, refused
}

func (b *books) acknowledged() uint64 {
	n, _, _ := b.sum()
	return n
}

// end stops the callers.
func (b *books) end() {
	close(b.stop)
	b.callers.Wait()
}

// audit compares the books with the counters, once the callers have stopped.
func (b *books) audit(t *testing.T, cluster *slap.Cluster) {
	t.Helper()
	for _, a := range b.accounts {
		var value uint64
		eventually(t, "the counter is served", func() bool {
			n, err := a.increment(within(t, time.Minute), cluster)
			if wrong := a.enter(n, err); wrong != nil {
				t.Errorf("seed %d: %v", b.seed, wrong)
			}
			value = n
			return err == nil
		})
		low := a.acknowledged.Load()
		if high := low + a.unknown.Load(); value < low || value > high {
			t.Errorf("seed %d: %s is %d, want %d to %d", b.seed, a.key, value, low, high)
		}
	}
	acknowledged, unknown, refused := b.sum()
	t.Logf("acknowledged %d, unknown %d, not executed %d", acknowledged, unknown, refused)
}

// fragile is a counter that panics when it is told to.
type fragile struct{ counter }

const panicKey = "panic"

func (f *fragile) Receive(ctx actor.Context) {
	if m, ok := ctx.Message().(*wrapperspb.StringValue); ok && m.GetValue() == panicKey {
		panic("as told")
	}
	f.counter.Receive(ctx)
}

func fragiles(s *slap.Shard) []slap.ChildSpec {
	return []slap.ChildSpec{{Name: "counter", New: func() actor.Actor { return &fragile{counter{s}} }}}
}
