package supervision

import (
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"
)

// A view is the context that the user's actor sees. An abandoned actor that comes back must not stop its
// successor, which has its PID.
type view struct {
	actor.Context

	child *child
}

// Stop stops the actor with this PID.
func (v *view) Stop(pid *actor.PID) {
	if v.own(pid) {
		v.child.quit()
		return
	}
	v.Context.Stop(pid)
}

// Poison stops the actor with this PID once it has handled what is in its mailbox now.
func (v *view) Poison(pid *actor.PID) {
	if !v.own(pid) || v.child.stage.Load() != cut {
		v.Context.Poison(pid)
	}
}

func (v *view) own(pid *actor.PID) bool { return pid != nil && pid.Equal(v.Self()) }

// protect is the outermost decorator: Proto.Actor would end the process when one of the user's panics.
func (c *child) protect(next actor.ContextDecoratorFunc) actor.ContextDecoratorFunc {
	return func(ctx actor.Context) (decorated actor.Context) {
		defer func() {
			if v := recover(); v != nil {
				c.broken = true
				c.leave(&PanicError{Value: v, Stack: debug.Stack()})
				decorated = ctx
			}
		}()
		return next(ctx)
	}
}

// viewed is ctx as the user's actor sees it when no decorator has made a view.
func (c *child) viewed(ctx actor.Context) actor.Context {
	if c.view.child == nil {
		c.view.Context, c.view.child = ctx, c
	}
	return &c.view
}

// decorate makes a view the innermost of the user's decorated contexts.
func (c *child) decorate(next actor.ContextDecoratorFunc) actor.ContextDecoratorFunc {
	return func(ctx actor.Context) actor.Context { return &view{Context: next(ctx), child: c} }
}

// A farewell is an abandoned actor's context for its Stopped.
type farewell struct{ actor.Context }

// Message is Stopped.
func (farewell) Message() any { return &actor.Stopped{} }
