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

// Receive is all that Proto.Actor has for the actor. It is on the stack of each callback, new for most of them,
// so there are few frames below it.
func (c *child) Receive(ctx actor.Context) {
	if c.outer {
		c.deliver(ctx)
		return
	}
	msg := ctx.Message()
	if c.before(msg) {
		c.guarded(ctx)
	}
	c.after(ctx, msg)
}

// guarded is guard for deliver.
func (c *child) guarded(ctx actor.Context) {
	returned := false
	defer func() {
		if !returned {
			c.broke(ctx, recover())
		}
	}()
	c.deliver(ctx)
	returned = true
}

// middleware is the outermost receiver middleware: a panic in the user's middleware is the actor's.
func (c *child) middleware(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(rc actor.ReceiverContext, env *actor.MessageEnvelope) {
		ctx, ok := rc.(actor.Context)
		if !ok {
			panic("supervision: Proto.Actor gave middleware a context that is not the actor's")
		}
		if c.before(env.Message) {
			c.guard(ctx, func() { next(rc, env) })
		}
		c.after(ctx, env.Message)
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

// before notes what msg means and tells whether the actor is to see it: a crashed one sees only its last two.
func (c *child) before(msg any) bool {
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
	return !c.broken
}

// guard runs next and makes a panic in it the actor's crash.
func (c *child) guard(ctx actor.Context, next func()) {
	returned := false
	defer func() {
		if !returned {
			c.broke(ctx, recover())
		}
	}()
	next()
	returned = true
}

// broke makes a recovered panic the actor's crash.
func (c *child) broke(ctx actor.Context, v any) {
	if v == nil { // runtime.Goexit: the goroutine ends, and with it the mailbox
		c.leave(&PanicError{Value: "runtime.Goexit in a callback"})
		c.farewell(ctx)
		c.parent.signal(c, hasVanished)
		return
	}
	c.crash(&PanicError{Value: v, Stack: debug.Stack()})
}

// crash makes the actor end for this reason.
func (c *child) crash(reason error) {
	c.broken = true
	c.leave(reason)
	c.quit()
}

// after draws the consequences once msg was handled.
func (c *child) after(ctx actor.Context, msg any) {
	switch msg.(type) {
	case *actor.Started:
		if c.broken {
			c.quit()
		}
		if c.spec.Ready == AtOnce && c.spec.Supervisor == nil && !c.failed() {
			c.announce()
		}
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
	if c.gone {
		return
	}
	c.gone, c.stopping = true, true
	for _, pid := range ctx.Children() {
		ctx.Stop(pid)
	}
	if c.user != nil {
		c.guard(ctx, func() { c.user.Receive(farewell{ctx}) })
	}
}
