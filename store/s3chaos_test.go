package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
)

// Several writers add one to a number by conditional updates while every third
// request fails in a way chosen at random. Whatever happens, the number is at
// least what was acknowledged and at most that and what is unknown: no verdict
// was wrong. A conflict must not have been the writer's own update.
func TestS3VerdictsAreTrueUnderRandomFaults(t *testing.T) {
	t.Parallel()
	seed, writers, updates := rand.Uint64(), 4, 40
	if os.Getenv("SLAP_STRESS") != "" {
		updates = 2000
	}
	t.Logf("seed %d", seed)
	f := newFlaky(t)
	f.seed(t, "number", "0 start")
	dice := &dice{random: rand.New(rand.NewPCG(seed, 0))}
	f.proxy.Inject(s3test.Rule{
		Match: func(r s3test.Request) bool { return dice.roll(3) == 0 },
		Fault: func(x *s3test.Exchange) { dice.fault()(x) },
	})

	var c chaos
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range updates {
				c.update(t, f.bucket, fmt.Sprintf("%d-%d", w, i))
			}
		})
	}
	group.Wait()
	f.proxy.Clear()

	o, err := f.direct.Get(t.Context(), "number")
	if err != nil {
		t.Fatal(err)
	}
	value, last := number(t, o.Data)
	acknowledged, unknown := c.acknowledged.Load(), c.unknown.Load()
	t.Logf("value %d after %d acknowledged, %d unknown, %d conflicts; last writer %s",
		value, acknowledged, unknown, c.conflicts.Load(), last)
	if value < acknowledged || value > acknowledged+unknown {
		t.Errorf("value %d after %d acknowledged and %d unknown updates (seed %d)", value, acknowledged, unknown, seed)
	}
	if acknowledged == 0 || unknown == 0 {
		t.Errorf("%d acknowledged and %d unknown prove nothing (seed %d)", acknowledged, unknown, seed)
	}
}

// chaos counts the verdicts of updates.
type chaos struct{ acknowledged, unknown, conflicts atomic.Int64 }

// update adds one to the number under a nonce, until there is a verdict.
func (c *chaos) update(t *testing.T, b store.Bucket, nonce string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for try := 0; ; try++ {
		o, err := b.Get(ctx, "number")
		if err != nil {
			t.Errorf("get: %v", err)
			return
		}
		value, _ := number(t, o.Data)
		_, err = b.Put(ctx, "number", fmt.Appendf(nil, "%d %s-%d", value+1, nonce, try), store.IfMatch(o.Version))
		switch {
		case errors.Is(err, store.ErrConflict):
			c.conflicts.Add(1)
			continue
		case errors.Is(err, store.ErrUnknownOutcome):
			c.unknown.Add(1)
		case err == nil:
			c.acknowledged.Add(1)
		default:
			t.Errorf("put: %v", err)
		}
		return
	}
}

func number(t *testing.T, data []byte) (value int64, nonce string) {
	t.Helper()
	if _, err := fmt.Sscanf(string(data), "%d %s", &value, &nonce); err != nil {
		t.Errorf("the store holds %q: %v", data, err)
	}
	return value, nonce
}

// dice is a source of randomness for the proxy's many goroutines.
type dice struct {
	mu     sync.Mutex
	random *rand.Rand
}

func (d *dice) roll(sides int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.IntN(sides)
}

func (d *dice) fault() s3test.Fault {
	faults := []s3test.Fault{
		s3test.Drop, s3test.LoseReply, s3test.EmptyReply, s3test.TruncateReply,
		s3test.Status(http.StatusConflict, "ConditionalRequestConflict"), s3test.Status(http.StatusTooManyRequests, "SlowDown"),
		s3test.Status(http.StatusInternalServerError, "InternalError"), s3test.Status(http.StatusServiceUnavailable, "SlowDown"),
		s3test.ApplyThenStatus(http.StatusInternalServerError, "InternalError"), s3test.ErrorUnder200("InternalError"),
		s3test.Delay(20 * time.Millisecond),
	}
	return faults[d.roll(len(faults))]
}
