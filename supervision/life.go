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

// Receive is all that Proto.Actor has for the actor.
func (c *child) Receive(ctx actor.Context) {
	if c.outer {
		c.deliver(ctx)
		return
	}
	c.around(ctx, ctx.Message(), func() { c.deliver(ctx) })
}

// middleware is the outermost receiver middleware: a panic in the user's middleware is the actor's.
func (c *child) middleware(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(rc actor.ReceiverContext, env *actor.MessageEnvelope) {
		ctx, ok := rc.(actor.Context)
		if !ok {
			panic("supervision: Proto.Actor gave middleware a context that is not the actor's")
		}
		c.around(ctx, env.Message, func() { next(rc, env) })
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
	ctx, ok := sv.(actor.Context)
	if !ok {
		panic("supervision: Proto.Actor reported a failure to something that is not an actor's context")
	}
	c.guard(ctx, func() { strategy.HandleFailure(system, sv, who, stats, reason, msg) })
}

// deliver gives a message to the user's actor, which is made with its first.
func (c *child) deliver(ctx actor.Context) {
	if _, ok := ctx.Message().(*actor.Started); ok && c.user == nil {
		c.view = view{Context: ctx, child: c}
		c.user = c.make()
	}
	if c.user == nil {
		return
	}
	if !c.outer { // else a decorator has done it
		ctx = &c.view
	}
	c.user.Receive(ctx)
}

// around follows the actor's life while next handles msg.
func (c *child) around(ctx actor.Context, msg any, next func()) {
	farewell := c.before(msg)
	if farewell || !c.broken {
		c.guard(ctx, next)
	}
	c.after(ctx, msg)
}

// before notes what msg means and tells whether it is one of the two last that a crashed actor still sees.
func (c *child) before(msg any) (farewell bool) {
	switch msg.(type) {
	case *actor.Stopping:
		c.stopping = true
		if !c.told.Load() {
			c.parent.signal(c, isLeaving)
		}
		return true
	case *actor.Stopped:
		c.stage.CompareAndSwap(ending, unnamed)
		return true
	}
	return false
}

// guard runs next and makes a panic in it the actor's crash.
func (c *child) guard(ctx actor.Context, next func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v == nil { // runtime.Goexit: the goroutine ends, and with it the mailbox
			c.leave(&PanicError{Value: "runtime.Goexit in a callback"})
			c.parent.signal(c, isWedged)
			return
		}
		c.crash(ctx, &PanicError{Value: v, Stack: debug.Stack()})
	}()
	next()
	returned = true
}

// crash makes the actor end for this reason.
func (c *child) crash(ctx actor.Context, reason error) {
	c.broken = true
	c.leave(reason)
	if !c.stopping {
		c.quit(ctx)
	}
}

// after draws the consequences once msg was handled.
func (c *child) after(ctx actor.Context, msg any) {
	switch msg.(type) {
	case *actor.Started:
		if c.broken {
			c.quit(ctx)
		}
		if c.spec.Ready == AtOnce && c.spec.Supervisor == nil && !c.failed() {
			c.announce()
		}
	case *actor.Restarting:
		c.broken = true
		c.leave(errRestarted)
		c.quit(ctx)
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

// vanish ends an abandoned actor's goroutine when the callback that it hung in returns: the actor sees its
// Stopped, its own children are told to stop, and Proto.Actor never gets to end it.
func (c *child) vanish(ctx actor.Context) {
	for _, pid := range ctx.Children() {
		ctx.Stop(pid)
	}
	if c.user != nil {
		c.guard(ctx, func() { c.user.Receive(farewell{ctx}) })
	}
	runtime.Goexit()
}
