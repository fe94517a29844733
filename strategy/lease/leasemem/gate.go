package leasemem

import (
	"context"
	"sync"
)

// Gate holds calls up until it is opened. Make one with [NewGate]. A call whose context
// ends while it is held up returns, and if it is a write its outcome is unknown to the caller.
type Gate struct {
	mu     sync.Mutex
	opened bool
	open   chan struct{} // closed when opened
	held   int           // calls held up now
	moved  chan struct{} // closed when held changes
	late   []func()      // what is carried out when the gate opens
}

// NewGate makes a shut gate.
func NewGate() *Gate { return &Gate{open: make(chan struct{}), moved: make(chan struct{})} }

// Open lets all calls go, those to come too, and carries out those that are late, in the
// order in which they were given up. It is idempotent.
func (g *Gate) Open() {
	for _, f := range g.unlock() {
		f()
	}
}

func (g *Gate) unlock() (late []func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.opened {
		g.opened = true
		close(g.open)
	}
	late, g.late = g.late, nil
	return late
}

// Await waits until at least that many calls are held up at once.
func (g *Gate) Await(ctx context.Context, calls int) error {
	for {
		held, moved := g.state()
		if held >= calls {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *Gate) state() (held int, moved <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held, g.moved
}

// Before holds calls up before they are carried out. One that is given up is not.
func (g *Gate) Before() Fault {
	return Does(func(ctx context.Context, c Call, next func() Reply) Reply {
		if err := g.wait(ctx); err != nil {
			return unanswered(c, err)
		}
		return next()
	})
}

// After holds up the replies of calls that were carried out.
func (g *Gate) After() Fault {
	return Does(func(ctx context.Context, c Call, next func() Reply) Reply {
		reply := next()
		if err := g.wait(ctx); err != nil {
			return unanswered(c, err)
		}
		return reply
	})
}

// Late holds calls up on their way: one that is given up is carried out all the same when
// the gate opens, by whoever opens it.
func (g *Gate) Late() Fault {
	return Does(func(ctx context.Context, c Call, next func() Reply) Reply {
		err := g.wait(ctx)
		if err == nil {
			return next()
		}
		if !g.later(func() { next() }) {
			next()
		}
		return unanswered(c, err)
	})
}

func (g *Gate) wait(ctx context.Context) error {
	g.hold(1)
	defer g.hold(-1)
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *Gate) hold(change int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held += change
	close(g.moved)
	g.moved = make(chan struct{})
}

// later is false if the gate is open.
func (g *Gate) later(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.opened {
		g.late = append(g.late, f)
	}
	return !g.opened
}
