package supervision

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// Errors of requests to a supervisor.
var (
	// ErrStopping is the answer of a supervisor that is ending or has ended.
	ErrStopping = errors.New("supervisor is stopping")
	// ErrChildExists is the answer to a start under a name that the supervisor has already.
	ErrChildExists = errors.New("child exists")
	// ErrUnknownChild is the answer to a stop of a child that the supervisor does not have.
	ErrUnknownChild = errors.New("unknown child")
)

// A core is the decisions of one supervisor: a table of children and what is to become of them. It has no
// goroutine, no clock and no actor: each method is an input that changes the table and appends to out what
// the shell must do.
//
// The table is reconciled rather than planned. An input says what is wanted of which child; advance then
// takes every step that the order allows: down before up, the last static child first, all dynamic
// children before the static ones; up in order, each static child after the one before is ready, then all
// dynamic children at the same time.
type core struct {
	id       string
	strategy Strategy
	auto     AutoShutdown
	limit    limit

	static []*kid // in order
	names  map[string]*kid
	seq    uint64

	going   int // dynamic kids that go down with their group and are not idle yet
	waiting int // dynamic kids that are idle and wait for their turn to start

	up       bool // was ready once
	stopping bool
	killed   bool
	finished bool
	reason   error    // why it ends
	lost     []string // ids of children abandoned while stopping

	silent bool // nobody takes the events
	out    []action
}

// newCore is the supervisor with this id; nothing runs yet.
func newCore(id string, spec Spec) *core {
	spec = spec.withDefaults()
	c := &core{
		id:       id,
		strategy: spec.Strategy,
		auto:     spec.AutoShutdown,
		limit:    limit{intensity: spec.Intensity, period: spec.Period},
		names:    make(map[string]*kid, len(spec.Children)),
	}
	children := slices.Clone(spec.Children)
	for i := range children {
		k := c.add(&children[i])
		k.ordered = true
		c.static = append(c.static, k)
	}
	return c
}

// start begins to start the children.
func (c *core) start() { c.advance() }

// kidReady says that a kid's actor is ready.
func (c *core) kidReady(k *kid) {
	if k.phase != starting {
		return
	}
	k.phase, k.ready, k.ordered = running, true, false
	if k.begun {
		k.restarts++
		emit(c, ChildRestarted{Supervisor: c.id, Child: k.spec.Name, Restarts: k.restarts})
	} else {
		k.begun = true
		emit(c, ChildStarted{Supervisor: c.id, Child: k.spec.Name})
	}
	c.started(k, nil)
	c.advance()
}

// kidLeaving says that a kid began to end by itself: its end is bounded from now on.
func (c *core) kidLeaving(k *kid) {
	if !k.alive() {
		return
	}
	k.phase = leaving
	switch {
	case c.killed:
		c.arm(k, 0)
	case k.shutdown == Brutal:
		c.arm(k, DefaultShutdown)
	case k.shutdown != Infinity:
		c.arm(k, k.shutdown)
	}
}

// kidDown says that a kid has ended, for this reason, and which children at any depth it abandoned.
func (c *core) kidDown(now time.Time, k *kid, reason error, lost []string) {
	if k.phase == idle {
		return
	}
	if reason == nil && !k.ready && k.phase != stopping {
		reason = ErrNotReady
	}
	asked := k.phase == stopping
	k.phase = idle
	k.lost = append(k.lost, lost...)
	c.do(action{do: doDisarm, kid: k})
	emit(c, ChildExited{Supervisor: c.id, Child: k.spec.Name, Reason: reason, Asked: asked, Ready: k.ready})
	c.ungroup(k)
	c.settle(now, k, reason)
	c.advance()
}

// kidOverdue says that a kid's time to end is over. Unless it is a supervisor the shell has cut it off.
func (c *core) kidOverdue(now time.Time, k *kid, reason error) {
	if k.phase != stopping && k.phase != leaving {
		return
	}
	if k.spec.Supervisor != nil {
		c.do(action{do: doKill, kid: k})
		return
	}
	emit(c, ChildAbandoned{Supervisor: c.id, Child: k.spec.Name, Waited: k.bound})
	if k.phase == stopping {
		reason = ErrAbandoned
	}
	c.kidDown(now, k, reason, []string{id(c.id, k.spec.Name)})
}

// startChild adds a dynamic child.
func (c *core) startChild(spec *ChildSpec, r *request) {
	switch {
	case c.stopping:
		c.answer(r, nil, ErrStopping)
		return
	case c.names[spec.Name] != nil:
		c.answer(r, nil, ErrChildExists)
		return
	}
	ordered := c.busy()
	k := c.add(spec)
	k.dynamic, k.starter = true, r
	if ordered {
		c.queue(k)
		return
	}
	c.spawn(k)
}

// stopChild stops a child and takes it out of the table.
func (c *core) stopChild(name string, r *request) {
	k := c.names[name]
	if k == nil {
		c.answer(r, nil, ErrUnknownChild)
		return
	}
	k.stoppers = append(k.stoppers, r)
	k.want = gone
	if k.phase == idle {
		c.remove(k, ErrShutdown)
	} else if k.alive() {
		c.stop(k)
	}
	c.advance()
}

// shutdown ends the supervisor for this reason: all children stop, then it finishes.
func (c *core) shutdown(reason error) {
	if c.stopping {
		return
	}
	c.stopping, c.reason = true, reason
	c.do(action{do: doLeave, reason: reason})
	c.stopDynamic()
	c.advance()
}

// kill ends the supervisor without waiting for any child.
func (c *core) kill(reason error) {
	c.killed = true
	for _, k := range c.all() {
		if k.phase == stopping || k.phase == leaving {
			c.arm(k, 0)
		}
	}
	c.shutdown(reason)
}

// all are the kids in their order: the static ones, then the dynamic ones as they came.
func (c *core) all() []*kid {
	kids := make([]*kid, 0, len(c.names))
	kids = append(kids, c.static...)
	for _, k := range c.names {
		if k.dynamic {
			kids = append(kids, k)
		}
	}
	slices.SortFunc(kids[len(c.static):], func(a, b *kid) int { return cmp.Compare(a.seq, b.seq) })
	return kids
}

// dynamics are the dynamic kids as they came.
func (c *core) dynamics() []*kid {
	if len(c.names) == len(c.static) {
		return nil
	}
	return c.all()[len(c.static):]
}

// add enters a child into the table.
func (c *core) add(spec *ChildSpec) *kid {
	c.seq++
	k := &kid{spec: spec, shutdown: spec.shutdown(), seq: c.seq}
	c.names[spec.Name] = k
	return k
}

// remove takes an idle kid out of the table and answers all who wait for it, those who wait for its start
// with err.
func (c *core) remove(k *kid, err error) {
	c.unqueue(k)
	delete(c.names, k.spec.Name)
	if !k.dynamic {
		c.static = slices.DeleteFunc(c.static, func(other *kid) bool { return other == k })
	}
	emit(c, ChildRemoved{Supervisor: c.id, Child: k.spec.Name})
	c.started(k, err)
	c.stopped(k)
}

func (c *core) do(a action) { c.out = append(c.out, a) }

// emit publishes an event. It is generic so that one that nobody takes costs nothing.
func emit[E Event](c *core, e E) {
	if !c.silent {
		c.do(action{do: doEmit, event: e})
	}
}

// started answers who waits for the kid's start.
func (c *core) started(k *kid, err error) {
	c.answer(k.starter, k, err)
	k.starter = nil
}

// stopped answers who waits for the kid's end.
func (c *core) stopped(k *kid) {
	for _, r := range k.stoppers {
		c.answer(r, k, abandoned(k.lost))
	}
	k.stoppers = nil
}

func (c *core) answer(r *request, k *kid, err error) {
	if r != nil {
		c.do(action{do: doReply, asked: r, kid: k, reason: err})
	}
}
