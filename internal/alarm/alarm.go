// Package alarm wakes an actor.
package alarm

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
)

// Alarm sends an actor a message after a while, one at a time. It is the actor's alone. The
// zero value is not set.
type Alarm struct{ timer *time.Timer }

// Set lets the message come after d, and what was set before not at all, unless it is in the
// mailbox already.
func (a *Alarm) Set(ctx actor.Context, d time.Duration, message any) {
	a.Stop()
	root, self := ctx.ActorSystem().Root, ctx.Self()
	a.timer = clock.AfterFunc(max(d, 0), func() { root.Send(self, message) })
}

// Stop takes back what was set.
func (a *Alarm) Stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
