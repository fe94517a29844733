package leasetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy/lease"
)

// counter is a lease whose generation is only ever incremented, and the model that it is
// compared with.
type counter struct {
	shard   int
	acked   atomic.Uint64 // increments reported as made
	unknown atomic.Uint64 // increments of unknown outcome
	highest atomic.Uint64 // the highest generation reported as written
}

func newCounter(t *testing.T, s lease.Store, shard int) *counter {
	t.Helper()
	mustWrite(t, s, shard, "", record("a", 0))
	return &counter{shard: shard}
}

// read is an error if it shows less than was written before it began.
func (c *counter) read(ctx context.Context, s lease.Store) (lease.Lease, error) {
	floor := c.highest.Load()
	l, err := s.ReadLease(ctx, c.shard)
	if err == nil && l.Record.Generation < floor {
		err = fmt.Errorf("generation %d of shard %d was read after %d had been written", l.Record.Generation, c.shard, floor)
	}
	return l, err
}

// increment makes one increment, trying again on conflicts. Every other one renews.
func (c *counter) increment(ctx context.Context, s lease.Store, byRenew bool) error {
	for {
		l, err := c.read(ctx, s)
		if err != nil {
			return err
		}
		runtime.Gosched() // others may get in between, also where a call takes no time
		l.Record = record("a", l.Record.Generation+1)
		switch err := c.write(ctx, s, l, byRenew); {
		case err == nil:
			c.acked.Add(1)
			raise(&c.highest, l.Record.Generation)
			return nil
		case errors.Is(err, lease.ErrUnknownOutcome):
			c.unknown.Add(1)
			return err
		case !errors.Is(err, lease.ErrConflict):
			return err
		}
	}
}

func (c *counter) write(ctx context.Context, s lease.Store, l lease.Lease, byRenew bool) (err error) {
	if byRenew {
		s.Renew(ctx, []lease.Lease{l}, func(_ int, _ lease.Version, e error) { err = e })
		return err
	}
	_, err = s.WriteLease(ctx, l)
	return err
}

func raise(to *atomic.Uint64, value uint64) {
	for {
		old := to.Load()
		if old >= value || to.CompareAndSwap(old, value) {
			return
		}
	}
}

// mustBalance checks that no acknowledged increment was lost and none was made unasked.
func (c *counter) mustBalance(t *testing.T, s lease.Store) {
	t.Helper()
	l, err := c.read(timeout(t), s)
	if err != nil {
		t.Fatal(err)
	}
	acked, unknown, value := c.acked.Load(), c.unknown.Load(), l.Record.Generation
	if value < acked || value > acked+unknown {
		t.Fatalf("shard %d has generation %d after %d acknowledged increments and %d of unknown outcome", c.shard, value, acked, unknown)
	}
	t.Logf("shard %d: %d acknowledged, %d unknown, generation %d", c.shard, acked, unknown, value)
}

// checkCounters lets many goroutines increment a few counters.
func checkCounters(t *testing.T, s lease.Store) {
	const workers, increments = 8, 20
	ctx := timeout(t)
	counters := []*counter{newCounter(t, s, 0), newCounter(t, s, 1), newCounter(t, s, 2)}
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range increments {
				err := counters[(w+i)%len(counters)].increment(ctx, s, i%2 == 0)
				if err != nil && !errors.Is(err, lease.ErrUnknownOutcome) {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	for _, c := range counters {
		c.mustBalance(t, s)
	}
}

// checkEndedWhile ends contexts at random moments. An increment whose outcome is not
// reported as unknown must not have been made.
func checkEndedWhile(t *testing.T, s lease.Store) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	c := newCounter(t, s, 1)
	took := time.Millisecond
	for i := range 80 {
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.Int64N(int64(took)*3/2)))
		err := c.increment(ctx, s, i%2 == 0)
		cancel()
		switch {
		case err == nil:
			took = (took + time.Since(start)) / 2
		case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, lease.ErrUnknownOutcome):
			t.Fatalf("increment: %v, want the context's error (seed %d)", err, seed)
		}
	}
	c.mustBalance(t, s)
}
