package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/slap-go/slap/store"
)

// Fault is what happens to a request. It hands the request on to next, changed
// or not, or does not, and returns the reply.
type Fault func(ctx context.Context, r Request, next Next) Reply

// Next carries a request out.
type Next func(ctx context.Context, r Request) Reply

var (
	// ErrThrottled is the answer of [Throttle]: nothing was done.
	ErrThrottled = errors.New("slow down: the store refuses requests for now")

	errLost = errors.New("the reply was lost")
)

// Fail answers with the error; nothing is done.
func Fail(err error) Fault {
	return func(context.Context, Request, Next) Reply { return Reply{Err: err} }
}

// Throttle refuses with [ErrThrottled]; nothing is done.
func Throttle() Fault { return Fail(ErrThrottled) }

// Delay waits before the request is carried out. A context that ends meanwhile
// ends the request; nothing is done then.
func Delay(d time.Duration) Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		if err := r.bucket.sleep(ctx, d); err != nil {
			return Reply{Err: err}
		}
		return next(ctx, r)
	}
}

// LoseReply carries the request out and loses the reply, so that a write ends as
// [store.ErrUnknownOutcome].
func LoseReply() Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		next(ctx, r)
		return Reply{Err: r.unanswered(errLost)}
	}
}

// unanswered is the error of a request that was sent and has no reply.
func (r Request) unanswered(cause error) error {
	if r.Op&(Put|Delete) != 0 {
		return fmt.Errorf("%w: %w", store.ErrUnknownOutcome, cause)
	}
	return cause
}

// IgnoreIfAbsent makes of every create-if-absent an overwrite, as an unfit store does.
func IgnoreIfAbsent() Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		if r.Condition.Absent() {
			r.Condition = store.Overwrite()
		}
		return next(ctx, r)
	}
}

// IgnoreIfMatch makes of every update of one version an overwrite, as an unfit store does.
func IgnoreIfMatch() Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		if _, match := r.Condition.Match(); match {
			r.Condition = store.Overwrite()
		}
		return next(ctx, r)
	}
}

// StaleList answers every listing of a prefix with the first one that it meets.
func StaleList() Fault {
	var mu sync.Mutex
	first := map[string][]store.Entry{}
	return func(ctx context.Context, r Request, next Next) Reply {
		reply := next(ctx, r)
		if r.Op != List || reply.Err != nil {
			return reply
		}
		mu.Lock()
		defer mu.Unlock()
		if _, ok := first[r.Key]; !ok {
			first[r.Key] = reply.Entries
		}
		return Reply{Entries: slices.Clone(first[r.Key])}
	}
}

// OmitFromList leaves the keys that the pattern matches out of listings.
func OmitFromList(pattern string) Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		reply := next(ctx, r)
		reply.Entries = slices.DeleteFunc(reply.Entries, func(e store.Entry) bool { return matches(pattern, e.Key) })
		return reply
	}
}

// RepeatInList shows the keys that the pattern matches twice in listings.
func RepeatInList(pattern string) Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		reply := next(ctx, r)
		var entries []store.Entry
		for _, e := range reply.Entries {
			entries = append(entries, e)
			if matches(pattern, e.Key) {
				entries = append(entries, e)
			}
		}
		reply.Entries = entries
		return reply
	}
}

// Chain lets a request meet several faults, the first one first.
func Chain(faults ...Fault) Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		if len(faults) == 0 {
			return next(ctx, r)
		}
		return faults[0](ctx, r, func(ctx context.Context, r Request) Reply {
			return Chain(faults[1:]...)(ctx, r, next)
		})
	}
}
