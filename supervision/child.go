package supervision

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
)

// errRestarted is the reason of a child that something else than its supervisor restarted.
var errRestarted = errors.New("restarted by Proto.Actor instead of its supervisor")

// dispatcher runs each mailbox in a goroutine of its own: a child must never run in its supervisor's, and
// an abandoned one ends its goroutine.
var dispatcher = actor.NewDefaultDispatcher(300)

// A parent is told what its child does: a supervisor, or the [Tree] of a root supervisor.
type parent interface {
	signal(from *child, what signalKind)
	// inherited is what receives the events of a supervisor that names no receiver itself.
	inherited() func(Event)
}

// A signalKind is what a child tells its parent.
type signalKind int

const (
	isReady     signalKind = iota // it has started
	isLeaving                     // it began to end by itself
	hasEnded                      // its last callback has returned: to the owner of a root, which has no Terminated
	hasVanished                   // its goroutine has ended without Proto.Actor's end
	isOverdue                     // its time to stop is over; told by its timer
)

// A stage is how far a child's end has come. It decides the race between an end and an abandonment.
type stage = int32

const (
	alive   stage = iota
	ending        // past the callback after which Proto.Actor frees its name
	unnamed       // its name is free, its Stopped callback runs
	ended
	cut // abandoned: it must not reach Proto.Actor's end, which would free its successor's name
)

// A child is one incarnation: the actor that Proto.Actor sees, around the user's.
type child struct {
	spec    *ChildSpec
	parent  parent
	kid     *kid // the supervisor's entry, nil for a root
	mailbox mailbox
	outer   bool         // lifecycle is followed by middleware around the user's, not by Receive
	stage   atomic.Int32 // a stage
	told    atomic.Bool  // its supervisor told it to stop

	// Of the actor's goroutine.
	user      actor.Actor
	view      view // set with the first message
	announced bool // ready was signalled
	broken    bool // a callback crashed; it sees nothing any more but Stopping and Stopped
	stopping  bool // Stopping was received

	// Of the parent's goroutine.
	pid        *actor.PID
	timer      *time.Timer
	registered bool // its name is, while it is spawned

	mu     sync.Mutex
	gave   bool // a reason was given
	reason error
	lost   []string // ids of children that a supervisor abandoned while it stopped
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// spawn starts the actor under this id. Unless its spec has props, it has those given, which produce it.
func (c *child) spawn(at actor.SpawnerContext, id string, props *actor.Props) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
			if c.registered {
				at.ActorSystem().ProcessRegistry.Remove(at.ActorSystem().NewLocalPID(id))
			}
		}
		if err != nil {
			c.stage.Store(ended)
		}
	}()
	c.mailbox.owner, c.mailbox.inner = c, c.spec.mailbox()
	pid, err := actor.DefaultSpawner(at.ActorSystem(), id, c.props(props), at)
	if err != nil {
		return fmt.Errorf("spawn %s: %w", id, err)
	}
	c.pid = pid
	return nil
}

// props are the props of this incarnation: the plain ones, or those of its spec between ours.
func (c *child) props(plain *actor.Props) *actor.Props {
	if len(c.spec.Props) == 0 {
		return plain
	}
	c.outer = true
	init := func(actor.Context) { c.registered = true }
	return new(actor.Props).
		Configure(actor.WithOnInit(init), actor.WithReceiverMiddleware(c.middleware), actor.WithContextDecorator(c.protect)).
		Configure(c.spec.Props...).
		Configure(actor.WithContextDecorator(c.decorate)).
		Configure(producing(func() *child { return c })...)
}

// producing are the props that every child has: they make the child that next gives.
func producing(next func() *child) []actor.PropsOption {
	return []actor.PropsOption{
		actor.WithProducer(func() actor.Actor { return next() }),
		actor.WithMailbox(func() actor.Mailbox { return &next().mailbox }),
		actor.WithDispatcher(dispatcher),
	}
}

// make is the user's actor, or a supervisor.
func (c *child) make() actor.Actor {
	if c.spec.Supervisor != nil {
		return newSupervisor(*c.spec.Supervisor, c)
	}
	user := c.spec.New()
	if user == nil {
		panic(fmt.Errorf("%w: New of child %q returned nil", ErrSpec, c.spec.Name))
	}
	return user
}

// announce tells the parent once that the child is ready, unless it is ending.
func (c *child) announce() {
	if !c.announced && !c.broken && !c.stopping {
		c.announced = true
		c.parent.signal(c, isReady)
	}
}

// leave records the reason of an exit by itself. The first reason stays, but a crash replaces an ordinary one.
func (c *child) leave(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gave || IsCrash(reason) && !IsCrash(c.reason) {
		c.gave, c.reason = true, reason
	}
}

// exitReason is why the child ended, or ends.
func (c *child) exitReason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gave && c.told.Load() {
		return ErrShutdown
	}
	return c.reason
}

// failed tells whether the child gave a reason that is not normal.
func (c *child) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason != nil
}

// stop tells the actor to stop. Called by the parent, and only when the actor was spawned.
func (c *child) stop() {
	c.told.Store(true)
	c.quit()
}

// arm signals the child as overdue after this time. Called by the parent.
func (c *child) arm(after time.Duration) {
	c.disarm()
	c.timer = clock.AfterFunc(after, func() { c.parent.signal(c, isOverdue) })
}

// disarm forgets the timer. Called by the parent.
func (c *child) disarm() {
	if c.timer != nil {
		c.timer.Stop()
	}
}

// quit makes the actor stop.
func (c *child) quit() { c.post(&actor.Stop{}) }

// post sends this incarnation a system message, which none with the same name can get.
func (c *child) post(msg any) {
	if c.stage.Load() != ended {
		c.mailbox.inner.PostSystemMessage(msg)
	}
}

// abandon takes the actor's name and context away, tells its watchers, and reports whether it did: an actor whose
// end has gone too far will tell so itself in a moment. Called by the parent.
func (c *child) abandon(system *actor.ActorSystem) bool {
	switch {
	case c.stage.CompareAndSwap(alive, cut):
		system.ProcessRegistry.Remove(c.pid)
	case c.stage.CompareAndSwap(unnamed, cut):
	default:
		return false
	}
	c.release(ErrAbandoned)
	c.mailbox.bury(system, c.pid)
	return true
}

// context is cancelled when the child has ended or is abandoned.
func (c *child) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithCancelCause(context.Background())
		if c.stage.Load() == cut {
			c.cancel(ErrAbandoned)
		}
	}
	return c.ctx
}

// release cancels the child's context, if it has one.
func (c *child) release(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(cause)
	}
}

// setLost records what a supervisor abandoned.
func (c *child) setLost(lost []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = lost
}

// getLost is what a supervisor abandoned.
func (c *child) getLost() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}
