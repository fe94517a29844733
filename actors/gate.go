package actors

import (
	"sync"
	"sync/atomic"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// gate is the one place where requests enter a shard and answers leave it. Shut, it
// lets nothing in; what is inside may finish, as long as the lease lasts. It is read on
// the hot path without a lock. An expired lease is the self-fence: what tears the shard
// down afterwards may take its time.
type gate struct {
	status *status
	lease  *strategy.Lease // nil without leases
	shut   atomic.Bool
	over   atomic.Bool  // the shard has ended: whose it is now, its lease does not say any more
	inside atomic.Int64 // requests that have begun and are not settled, and handlers that run

	mu      sync.Mutex
	drained bool
	then    []func()
}

// enter lets a request begin, or says why not.
func (g *gate) enter() error {
	g.inside.Add(1)
	if g.open() {
		return nil
	}
	g.leave()
	return g.refusal()
}

// stay enters once more on behalf of what is inside.
func (g *gate) stay() { g.inside.Add(1) }

// leave is owed for every time that something entered, once.
func (g *gate) leave() {
	if g.inside.Add(-1) == 0 && g.shut.Load() {
		g.finish()
	}
}

// open says whether requests may begin.
func (g *gate) open() bool { return !g.shut.Load() && g.valid() && g.status.get() == Running }

// valid says whether the lease lasts. If not, the shard is stopping.
func (g *gate) valid() bool {
	if g.lease == nil || g.lease.Valid() {
		return true
	}
	g.status.stopping()
	return false
}

// lets an answer leave, or says why it cannot be relied on. After a fence only one
// that was proven true, by what became durable, may leave.
func (g *gate) lets(proven bool) error {
	switch {
	case !g.valid():
		return messages.ErrStopping
	case !proven && g.status.get() == Fenced:
		return messages.ErrFenced
	}
	return nil
}

// proves says whether the lease alone says that what was read here was current.
func (g *gate) proves() bool { return !g.over.Load() && g.lets(false) == nil }

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
