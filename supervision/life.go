package supervision

import (
	"runtime"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"
)

var (
	_ actor.Actor              = (*child)(nil)
	_ actor.SupervisorStrategy = (*child)(nil)
)

// Receive is all that Proto.Actor has for the actor. Most callbacks run on a new and small stack, so it takes
// little of it.
func (c *child) Receive(ctx actor.Context) {
	switch {
	case c.outer:
		c.user.Receive(ctx)
	case isLast(ctx.Message()):
		c.receiveLast(ctx)
	case !c.broken:
		c.user.Receive(c.viewed(ctx))
	}
}

func (c *child) receiveLast(ctx actor.Context) {
	c.last(ctx, ctx.Message(), func() { c.user.Receive(c.viewed(ctx)) })
}

// middleware is the outermost receiver middleware: a panic in the user's middleware is the actor's.
func (c *child) middleware(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(rc actor.ReceiverContext, env *actor.MessageEnvelope) {
		ctx, ok := rc.(actor.Context)
		switch {
		case ok && isLast(env.Message):
			c.last(ctx, env.Message, func() { next(rc, env) })
		case !c.broken:
			next(rc, env)
		}
	}
}

// HandleFailure passes the failure of an actor's own child to the actor's strategy. A supervisor's children
// send their signals this way, as system messages that overtake its requests.
func (c *child) HandleFailure(
	system *actor.ActorSystem, sv actor.Supervisor, who *actor.PID, stats *actor.RestartStatistics, reason, msg any,
) {
	strategy, ok := c.user.(actor.SupervisorStrategy)
	if !ok {
		strategy = actor.DefaultSupervisorStrategy()
	}
	strategy.HandleFailure(system, sv, who, stats, reason, msg)
}

// prepare makes the user's actor.
func (c *child) prepare() {
	c.user = nobody
	c.user = c.make()
}

// nobody is the actor of a child whose New failed.
var nobody = actor.ReceiveFunc(func(actor.Context) {})

// started tells the parent of a child that is ready at once, now that its Started has returned.
func (c *child) started() {
	if c.broken {
		c.quit()
	}
	if c.spec.Ready == AtOnce && c.spec.Supervisor == nil && !c.failed() {
		c.announce()
	}
}

// crash makes the actor end for this reason.
func (c *child) crash(reason error) {
	c.broken = true
	c.leave(reason)
	c.quit()
}

// isLast tells whether a message may belong to the actor's end. In any other a panic may unwind all of
// Proto.Actor's frames; in these the end must go on, or the actor would never get there.
func isLast(msg any) bool {
	switch msg.(type) {
	case *actor.Stopping, *actor.Stopped, *actor.Terminated, *actor.Restarting:
		return true
	}
	return false
}

// last follows the actor's end while next handles one of these messages. A crashed actor sees only Stopping and
// Stopped; a supervisor still has children, whose end it must hear of.
func (c *child) last(ctx actor.Context, msg any, next func()) {
	farewell := true
	switch msg.(type) {
	case *actor.Stopping:
		c.stopping = true
		if !c.told.Load() {
			c.parent.signal(c, isLeaving)
		}
	case *actor.Stopped:
		c.stage.CompareAndSwap(ending, unnamed)
	default:
		farewell = false
	}
	if farewell || !c.broken || c.spec.Supervisor != nil {
		c.guard(next)
	}
	c.after(ctx, msg)
}

// guard runs next and makes a panic in it the actor's crash.
func (c *child) guard(next func()) {
	defer func() {
		if v := recover(); v != nil {
			c.crash(&PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	next()
}

// after draws the consequences once msg was handled.
func (c *child) after(ctx actor.Context, msg any) {
	switch msg.(type) {
	case *actor.Restarting: // only its supervisor makes a next incarnation
		c.broken = true
		c.leave(errRestarted)
		if c.spec.Supervisor != nil {
			c.quit() // it has a child to Proto.Actor: a restart waits for that
			return
		}
		c.farewell(ctx)
		c.parent.signal(c, hasVanished)
		runtime.Goexit()
	case *actor.Stopping:
		c.descend(ctx)
		if c.stage.Load() == cut {
			c.vanish(ctx)
		}
	case *actor.Terminated:
		if c.stopping {
			c.descend(ctx)
		}
	case *actor.Stopped:
		if !c.stage.CompareAndSwap(unnamed, ended) {
			runtime.Goexit() // cut while in Stopped: its parent has gone on
		}
		c.release(c.exitReason())
		c.parent.signal(c, hasEnded)
	}
}

// descend notes that Proto.Actor ends the actor as soon as this callback returns: when it has no child left.
func (c *child) descend(ctx actor.Context) {
	if len(ctx.Children()) == 0 && !c.stage.CompareAndSwap(alive, ending) {
		c.vanish(ctx)
	}
}

// vanish ends an abandoned actor's goroutine when the callback that it hung in returns: Proto.Actor never gets to
// end it.
func (c *child) vanish(ctx actor.Context) {
	c.farewell(ctx)
	runtime.Goexit()
}

// farewell is the end of an actor that Proto.Actor does not end: its own children are told to stop, and it sees
// its Stopped.
func (c *child) farewell(ctx actor.Context) {
	c.stopping = true
	for _, pid := range ctx.Children() {
		ctx.Stop(pid)
	}
	c.guard(func() { c.user.Receive(farewell{ctx}) })
}
