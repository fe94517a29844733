// Package clock is the one place that touches the process's clock. Decisions take
// the time as an argument; the shells around them ask here.
package clock

import (
	"context"
	"sync"
	"time"
)

// Now is the current time with its monotonic reading.
func Now() time.Time { return time.Now() }

// Since is the time that has passed since t.
func Since(t time.Time) time.Duration { return time.Since(t) }

// Until is the time that is left until t.
func Until(t time.Time) time.Duration { return time.Until(t) }

// AfterFunc calls f in a goroutine of its own after d, unless the timer is stopped first.
func AfterFunc(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, f) }

// NewTimer makes a timer that sends on its channel after d.
func NewTimer(d time.Duration) *time.Timer { return time.NewTimer(d) }

// NewTicker makes a ticker that sends on its channel every d.
func NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

// Sleep waits for d or until ctx ends, and returns the context's cause in that case.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Instant is a moment in nanoseconds since some moment before the process started.
type Instant int64

// Add is the moment d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub is the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// timers are those that nobody uses.
var timers = sync.Pool{New: func() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}}

// Timer is [NewTimer] for one that comes back by [Release].
func Timer(d time.Duration) *time.Timer {
	t, _ := timers.Get().(*time.Timer)
	t.Reset(d)
	return t
}

// Release stops a timer of [Timer] for others to use: nothing is left in its channel.
func Release(t *time.Timer) {
	t.Stop()
	timers.Put(t)
}
