package strategy

import (
	"sync/atomic"

	"github.com/slap-go/slap/internal/clock"
)

// Instant is a moment on this machine, in nanoseconds, by a clock that nobody sets
// and that counts the time in which the machine is suspended.
type Instant = clock.Instant

// Now is this moment.
func Now() Instant { return clock.Boot() }

// Lease is the right to serve a shard until a deadline. It is read at each request
// that enters the shard and at each answer that leaves it, so that a node which loses
// its store stops serving by a comparison alone. The nil lease lasts for ever and has
// generation 0. It is safe for concurrent use.
type Lease struct {
	generation uint64
	deadline   atomic.Int64 // an Instant, or over
}

// over is the deadline of a lease that has been seen expired.
const over = 0

// NewLease makes a lease with its generation, a number that rises with each claim.
func NewLease(generation uint64, deadline Instant) *Lease {
	l := &Lease{generation: generation}
	l.deadline.Store(int64(max(deadline, over)))
	return l
}

// Generation is the number of the claim.
func (l *Lease) Generation() uint64 {
	if l == nil {
		return 0
	}
	return l.generation
}

// Deadline is when the lease ends if it is not renewed; the past once it is over. Not for the nil lease.
func (l *Lease) Deadline() Instant { return Instant(l.deadline.Load()) }

// Valid says whether the lease lasts. Once it said no it always does.
func (l *Lease) Valid() bool { return l == nil || l.validAt(Now()) }

// End ends the lease at once, and for good. The nil lease has no end.
func (l *Lease) End() {
	if l != nil {
		l.deadline.Store(over)
	}
}

// Renew moves the deadline, never back. A deadline that has passed is final: false.
func (l *Lease) Renew(deadline Instant) bool { return l == nil || l.renewAt(Now(), deadline) }

func (l *Lease) validAt(now Instant) bool {
	for {
		deadline := l.deadline.Load()
		if int64(now) < deadline {
			return true
		}
		if deadline == over || l.deadline.CompareAndSwap(deadline, over) {
			return false
		}
	}
}

func (l *Lease) renewAt(now, deadline Instant) bool {
	for l.validAt(now) {
		old := l.deadline.Load()
		if old == over {
			break
		}
		if int64(deadline) <= old || l.deadline.CompareAndSwap(old, int64(deadline)) {
			return true
		}
	}
	return false
}
