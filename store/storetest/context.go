package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/slap-go/slap/store"
)

func checkCancelledBefore(t *testing.T, b store.Bucket) {
	v := mustPut(t, b, "key", "one", store.IfAbsent())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, call := range calls(b) {
		if err := call(ctx, "key"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v, want context.Canceled", name, err)
		}
	}
	expired, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	for name, call := range calls(b) {
		if err := call(expired, "key"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s with an expired context: %v, want context.DeadlineExceeded", name, err)
		}
	}
	mustHold(t, b, "key", "one", v)
}

// checkCancelledWhile cancels conditional updates at random moments. One that is
// reported as cancelled, and not as of unknown outcome, must not have been made.
func checkCancelledWhile(t *testing.T, b store.Bucket) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	c := newCounter("key")
	c.mustStart(t, b)
	took := time.Millisecond
	for range 100 {
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.Int64N(int64(took)*3/2)))
		err := c.increment(ctx, b)
		cancel()
		switch {
		case err == nil:
			took = (took + time.Since(start)) / 2
		case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, store.ErrUnknownOutcome):
			t.Fatalf("increment: %v, want the context's error (seed %d)", err, seed)
		}
	}
	c.mustBalance(t, b)
}

func checkClose(t *testing.T, b store.Bucket) {
	mustPut(t, b, "key", "one", store.IfAbsent())
	for range 2 {
		if err := b.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	for name, call := range calls(b) {
		if err := call(timeout(t), "key"); !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
}

// calls are the bucket's methods, as far as their errors go.
func calls(b store.Bucket) map[string]func(ctx context.Context, key string) error {
	return map[string]func(ctx context.Context, key string) error{
		"Get": func(ctx context.Context, key string) error {
			_, err := b.Get(ctx, key)
			return err
		},
		"Put": func(ctx context.Context, key string) error {
			_, err := b.Put(ctx, key, []byte("other"), store.Overwrite())
			return err
		},
		"Delete": b.Delete,
		"List": func(ctx context.Context, key string) error {
			_, err := b.List(ctx, key)
			return err
		},
	}
}
