// Package oneshot is a signal that is sent once, to one who waits.
package oneshot

import (
	"context"
	"sync"
	"time"

	"github.com/slap-go/slap/internal/clock"
)

// Signal is sent exactly once, by whoever settles what is waited for, and ends with the
// wait. The zero value is none.
type Signal struct{ sent chan struct{} }

// spare are the channels of signals that are over, empty.
var spare = sync.Pool{New: func() any { return make(chan struct{}, 1) }}

// New makes a signal.
func New() Signal {
	sent, _ := spare.Get().(chan struct{})
	return Signal{sent}
}

// Send lets the wait end. It does not block.
func (s Signal) Send() { s.sent <- struct{}{} }

// Drop gives back a signal that is neither sent nor waited for.
func (s Signal) Drop() { spare.Put(s.sent) }

// Wait waits for the signal. Once ctx ends or, above 0, patience, it calls giveUp with the
// reason, after which the signal must come soon if it was not sent before.
func (s Signal) Wait(ctx context.Context, patience time.Duration, giveUp func(cause error)) {
	var late <-chan time.Time
	if patience > 0 {
		timer := clock.Timer(patience)
		defer clock.Release(timer)
		late = timer.C
	}
	select {
	case <-s.sent:
	case <-ctx.Done():
		giveUp(context.Cause(ctx))
		<-s.sent
	case <-late:
		giveUp(context.DeadlineExceeded)
		<-s.sent
	}
	spare.Put(s.sent)
}
