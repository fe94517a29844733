package supervision

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"
)

// Ready says that the calling actor, whose spec says [Manual], has started: its supervisor goes on to the next.
// For others it has no effect, and none a second time. To be called in the actor's Receive.
func Ready(ctx actor.Context) {
	if c := childOf(ctx); c != nil {
		c.announce()
	}
}

// Fail ends the calling actor because it cannot start: the start fails with err, [ErrNotReady] if it is nil.
// After Ready it is a crash like any other. To be called in the actor's Receive.
func Fail(ctx actor.Context, err error) {
	if err == nil {
		err = ErrNotReady
	}
	Exit(ctx, err)
}

// Exit ends the calling actor for this reason: nil is a normal exit, as is ctx.Stop(ctx.Self()); an error that
// is [ErrShutdown] a shutdown; any other a crash. The first reason given stays, unless it is followed by a
// crash. The actor sees nothing more of its mailbox, only Stopping and Stopped. To be called in the actor's Receive; from
// an actor without a supervisor of this package it is ctx.Stop(ctx.Self()).
func Exit(ctx actor.Context, reason error) {
	c := childOf(ctx)
	if c == nil {
		ctx.Stop(ctx.Self())
		return
	}
	c.leave(reason)
	c.quit()
}

// Context ends, with the reason as its cause, when the calling actor has ended, and with [ErrAbandoned] when
// it did not stop in time. It is for work that must not outlive the actor. To be called in the actor's Receive;
// for an actor without a supervisor of this package it never ends.
func Context(ctx actor.Context) context.Context {
	c := childOf(ctx)
	if c == nil {
		return context.Background()
	}
	return c.context()
}

// PID is the address of a supervisor's child, whether it runs or not.
func PID(supervisor *actor.PID, child string) *actor.PID {
	return actor.NewPID(supervisor.GetAddress(), id(supervisor.GetId(), child))
}

// childOf is the supervised incarnation that ctx belongs to, or nil.
func childOf(ctx actor.Context) *child {
	c, _ := ctx.Actor().(*child)
	return c
}
