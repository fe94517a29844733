package actors

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/slap-go/slap/messages"
)

// reader is the queue in front of one loop over events. Its lock is held for a moment
// only, never while the loop's body runs.
type reader struct {
	limit   int
	wake    chan struct{}        // holds one value when there may be something to read
	missing func(messages.Event) // told of each event that is missed
	looped  atomic.Bool          // the loop has begun

	mu     sync.Mutex
	queue  []messages.Event // at most limit
	missed messages.EventsMissed
	closed bool
}

// put adds an event; the oldest one makes room if there is none.
func (r *reader) put(e messages.Event) {
	r.mu.Lock()
	var oldest messages.Event
	if !r.closed {
		if len(r.queue) == r.limit {
			oldest = r.take()
			r.missed.Origin = oldest.From()
			r.missed.Count++
		}
		r.queue = append(r.queue, e)
	}
	r.mu.Unlock()
	r.signal()
	if oldest != nil {
		r.missing(oldest)
	}
}

// take removes the oldest event. The lock is held.
func (r *reader) take() messages.Event {
	e := r.queue[0]
	r.queue[0] = nil // the array stays for a while
	r.queue = r.queue[1:]
	return e
}

// next waits for an event. False: the queue is closed and empty, or ctx has ended.
func (r *reader) next(ctx context.Context) (messages.Event, bool) {
	for {
		if ctx.Err() != nil {
			return nil, false
		}
		if e, more := r.poll(); e != nil || !more {
			return e, more
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
		}
	}
}

// poll is the next event, nil if there is none now. False: there will be none.
func (r *reader) poll() (messages.Event, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.missed.Count > 0:
		missed := r.missed
		r.missed = messages.EventsMissed{}
		return missed, true
	case len(r.queue) > 0:
		return r.take(), true
	default:
		return nil, !r.closed
	}
}

// close lets the loop read what is there, then ends it.
func (r *reader) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.signal()
}

// drop ends the loop at once.
func (r *reader) drop() {
	r.mu.Lock()
	r.closed, r.queue, r.missed = true, nil, messages.EventsMissed{}
	r.mu.Unlock()
	r.signal()
}

func (r *reader) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
