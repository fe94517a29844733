package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slap-go/slap/store"
)

// counter is an object that is only ever incremented, by conditional updates, and
// the model that it is compared with.
type counter struct {
	key     string
	tries   atomic.Int64 // makes bodies unlike each other
	acked   atomic.Int64 // updates reported as made
	unknown atomic.Int64 // updates of unknown outcome
	highest atomic.Int64 // the highest value reported as written
}

func newCounter(key string) *counter { return &counter{key: key} }

func (c *counter) mustStart(t *testing.T, b store.Bucket) {
	t.Helper()
	mustPut(t, b, c.key, "0 start", store.IfAbsent())
}

// read gets the value. A value lower than one that was reported as written
// before the read began is an error.
func (c *counter) read(ctx context.Context, b store.Bucket) (int64, store.Version, error) {
	floor := c.highest.Load()
	o, err := b.Get(ctx, c.key)
	if err != nil {
		return 0, "", err
	}
	number, _, _ := strings.Cut(string(o.Data), " ")
	value, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, "", fmt.Errorf("%s holds %.40q", c.key, o.Data)
	}
	if value < floor {
		return 0, "", fmt.Errorf("%s was read as %d after %d had been written", c.key, value, floor)
	}
	return value, o.Version, nil
}

// increment makes one update, trying again on conflicts.
func (c *counter) increment(ctx context.Context, b store.Bucket) error {
	for {
		value, version, err := c.read(ctx, b)
		if err != nil {
			return err
		}
		runtime.Gosched() // others may get in between, also where a request takes no time
		body := fmt.Appendf(nil, "%d %d", value+1, c.tries.Add(1))
		_, err = b.Put(ctx, c.key, body, store.IfMatch(version))
		switch {
		case err == nil:
			c.acked.Add(1)
			raise(&c.highest, value+1)
			return nil
		case errors.Is(err, store.ErrUnknownOutcome):
			c.unknown.Add(1)
			return err
		case !errors.Is(err, store.ErrConflict):
			return err
		}
	}
}

func raise(to *atomic.Int64, value int64) {
	for {
		old := to.Load()
		if old >= value || to.CompareAndSwap(old, value) {
			return
		}
	}
}

// mustBalance checks that no acknowledged update was lost and none was made unasked.
func (c *counter) mustBalance(t *testing.T, b store.Bucket) {
	t.Helper()
	value, _, err := c.read(timeout(t), b)
	if err != nil {
		t.Fatal(err)
	}
	acked, unknown := c.acked.Load(), c.unknown.Load()
	if value < acked || value > acked+unknown {
		t.Fatalf("%s is %d after %d acknowledged updates and %d of unknown outcome", c.key, value, acked, unknown)
	}
	t.Logf("%s: %d acknowledged, %d unknown, value %d", c.key, acked, unknown, value)
}

// checkCounters lets many goroutines increment a few counters.
func checkCounters(t *testing.T, b store.Bucket) {
	const workers, updates = 12, 25
	ctx := timeout(t)
	counters := []*counter{newCounter("c/one"), newCounter("c/two"), newCounter("three")}
	for _, c := range counters {
		c.mustStart(t, b)
	}
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range updates {
				err := counters[(w+i)%len(counters)].increment(ctx, b)
				if err != nil && !errors.Is(err, store.ErrUnknownOutcome) {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	for _, c := range counters {
		c.mustBalance(t, b)
	}
}
