package actors

import (
	"sync"
	"sync/atomic"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// gate is the one place where requests enter a shard. Shut, it lets nothing in;
// what is inside may finish. It is read on the hot path without a lock.
type gate struct {
	status *status
	lease  *strategy.Lease // nil without leases
	shut   atomic.Bool
	inside atomic.Int64 // requests that have begun and are not settled

	mu      sync.Mutex
	drained bool
	then    []func()
}

// enter lets a request begin, or says why not.
func (g *gate) enter() error {
	g.inside.Add(1)
	if !g.shut.Load() && g.status.get() == Running {
		return nil
	}
	g.leave()
	return g.refusal()
}

// leave is owed for every request that entered, once.
func (g *gate) leave() {
	if g.inside.Add(-1) == 0 && g.shut.Load() {
		g.finish()
	}
}

// close shuts the gate for good.
func (g *gate) close() {
	g.shut.Store(true)
	if g.inside.Load() == 0 {
		g.finish()
	}
}

// onDrained calls f once the gate is shut and nothing is inside, at once if that
// is so already.
func (g *gate) onDrained(f func()) {
	g.mu.Lock()
	drained := g.drained
	if !drained {
		g.then = append(g.then, f)
	}
	g.mu.Unlock()
	if drained {
		f()
	}
}

func (g *gate) finish() {
	g.mu.Lock()
	g.drained = true
	then := g.then
	g.then = nil
	g.mu.Unlock()
	for _, f := range then {
		f()
	}
}

// refusal is the kind of a request that the gate does not let in.
func (g *gate) refusal() error {
	if g.status.get() == Fenced {
		return messages.ErrFenced
	}
	return messages.ErrStopping
}
