package leasemem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/strategy/lease"
)

// Fault is what happens to a call. The zero fault lets it pass.
type Fault struct {
	meet  func(ctx context.Context, c Call, next func() Reply) Reply
	waits bool // it may block
}

// Does makes a fault of one's own. f carries the call out by next, or does not, and
// returns the reply. It may block until ctx ends.
func Does(f func(ctx context.Context, c Call, next func() Reply) Reply) Fault {
	return Fault{meet: f, waits: true}
}

func quick(f func(c Call, next func() Reply) Reply) Fault {
	return Fault{meet: func(_ context.Context, c Call, next func() Reply) Reply { return f(c, next) }}
}

var (
	errReplyLost   = errors.New("the reply was lost")
	errRequestLost = errors.New("the request was lost")
)

// unanswered is the reply to a call whose reply did not come: only of a write it matters
// what became of it.
func unanswered(c Call, why error) Reply {
	if c.Op&Writes != 0 {
		why = fmt.Errorf("%w: %w", lease.ErrUnknownOutcome, why)
	}
	return Reply{Err: why}
}

// Fail answers with the error; nothing is done.
func Fail(err error) Fault {
	return quick(func(Call, func() Reply) Reply { return Reply{Err: err} })
}

// LoseReply carries the call out; the caller of a write does not know.
func LoseReply() Fault {
	return quick(func(c Call, next func() Reply) Reply {
		next()
		return unanswered(c, errReplyLost)
	})
}

// LoseRequest does nothing; the caller of a write does not know.
func LoseRequest() Fault {
	return quick(func(c Call, _ func() Reply) Reply { return unanswered(c, errRequestLost) })
}

// Omit leaves these leases and heartbeats out of listings.
func Omit(shards []int, nodes []string) Fault {
	return quick(func(_ Call, next func() Reply) Reply {
		r := next()
		for _, n := range shards {
			delete(r.Listing.Leases, n)
		}
		for _, name := range nodes {
			delete(r.Listing.Heartbeats, name)
		}
		return r
	})
}

// Delay carries the call out after that time. If the context ends before, nothing is
// done, and the caller knows.
func Delay(d time.Duration) Fault {
	return Does(func(ctx context.Context, _ Call, next func() Reply) Reply {
		if err := clock.Sleep(ctx, d); err != nil {
			return Reply{Err: err}
		}
		return next()
	})
}
