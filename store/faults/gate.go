package faults

import (
	"bytes"
	"context"
	"sync"

	"github.com/slap-go/slap/store"
)

// Gate holds requests up until it is opened. Make one with [NewGate].
type Gate struct {
	entered chan struct{}
	open    chan struct{}
	once    sync.Once
}

// NewGate makes a shut gate.
func NewGate() *Gate {
	return &Gate{entered: make(chan struct{}), open: make(chan struct{})}
}

// Open lets all requests go, those to come too. It is idempotent.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// AwaitRequest waits until one more request is held up at the gate.
func (g *Gate) AwaitRequest(ctx context.Context) error {
	select {
	case <-g.entered:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Before holds requests up before they are carried out. One whose context ends
// meanwhile is not carried out.
func (g *Gate) Before() Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		if err := g.wait(ctx, r); err != nil {
			return Reply{Err: err}
		}
		return next(ctx, r)
	}
}

// After holds up the replies of requests that were carried out. A write whose
// context ends meanwhile has an unknown outcome.
func (g *Gate) After() Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		reply := next(ctx, r)
		if err := g.wait(ctx, r); err != nil {
			return Reply{Err: r.unanswered(err)}
		}
		return reply
	}
}

// Late holds requests up on their way: one whose context ends meanwhile has an
// unknown outcome, and is carried out all the same once the gate opens.
func (g *Gate) Late() Fault {
	return func(ctx context.Context, r Request, next Next) Reply {
		r.Data = bytes.Clone(r.Data)
		replies := make(chan Reply, 1)
		arrive := func() {
			detached := context.WithoutCancel(ctx)
			if err := g.wait(detached, r); err != nil {
				replies <- Reply{Err: err}
				return
			}
			replies <- next(detached, r)
		}
		if !r.bucket.later(arrive) {
			return Reply{Err: store.ErrClosed}
		}
		select {
		case reply := <-replies:
			return reply
		case <-ctx.Done():
			return Reply{Err: r.unanswered(context.Cause(ctx))}
		}
	}
}

// wait is over when the gate is open, the context ends or the bucket is closed.
func (g *Gate) wait(ctx context.Context, r Request) error {
	entered := g.entered
	for {
		select {
		case entered <- struct{}{}:
			entered = nil
		case <-g.open:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.bucket.done:
			return store.ErrClosed
		}
	}
}
