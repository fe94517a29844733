package actors

import (
	"container/heap"
	"time"
)

// durability decides when a shard is flushed and whose waits are over. It is a
// state machine without clock or I/O; the notifier carries out what it says.
//
// A dirty shard is flushed at once when the last flush began at least interval
// ago, else at that moment; never two flushes at a time.
type durability struct {
	interval time.Duration

	dirty    bool // something was written since the last flush began
	flushing bool
	urgent   bool      // somebody asked for a flush that does not wait for the pace
	began    time.Time // when the last flush began

	durable uint64
	waiters waiterHeap
	order   uint64
	ended   error // set once: no sequence number above durable will be reported durable
}

// waiter is somebody who is told once its sequence number is durable, or never will be.
type waiter struct {
	seq    uint64
	order  uint64
	prompt bool // tell never waits, and runs nothing of the application's: anybody may call it
	tell   func(durable bool, reason error)
}

// step is what to do next. A zero wake means: nothing to wait for.
type step struct {
	flush bool
	wake  time.Duration
}

// wrote says that the shard was written to.
func (d *durability) wrote(now time.Time) step {
	d.dirty = true
	return d.next(now)
}

// hurry says that somebody wants everything up to seq durable soon. It joins the flush in
// flight only if nothing was written since that began.
func (d *durability) hurry(seq uint64, now time.Time) step {
	if seq > d.durable {
		d.urgent = d.dirty || !d.flushing
	}
	return d.next(now)
}

// woke says that the time of an earlier step has passed.
func (d *durability) woke(now time.Time) step { return d.next(now) }

// flushed says that the flush in flight ended.
func (d *durability) flushed(now time.Time) step {
	d.flushing = false
	return d.next(now)
}

func (d *durability) next(now time.Time) step {
	if d.flushing || d.ended != nil || !d.dirty && !d.urgent {
		return step{}
	}
	if wait := d.began.Add(d.interval).Sub(now); wait > 0 && !d.urgent && !d.began.IsZero() {
		return step{wake: wait}
	}
	d.dirty, d.urgent, d.flushing, d.began = false, false, true, now
	return step{flush: true}
}

// advance releases the waiters up to the durable sequence number, lowest first.
func (d *durability) advance(durable uint64) []waiter {
	d.durable = max(d.durable, durable)
	var released []waiter
	for len(d.waiters) > 0 && d.waiters[0].seq <= d.durable {
		w, _ := heap.Pop(&d.waiters).(waiter)
		released = append(released, w)
	}
	return released
}

// answer releases those in front who may be told by anybody, and says whether somebody
// is left who is to be told by the notifier.
func (d *durability) answer(durable uint64) (released []waiter, left bool) {
	d.durable = max(d.durable, durable)
	for len(d.waiters) > 0 && d.waiters[0].seq <= d.durable {
		if !d.waiters[0].prompt {
			return released, true
		}
		w, _ := heap.Pop(&d.waiters).(waiter)
		released = append(released, w)
	}
	return released, false
}

// end says that the database is closed, with everything up to durable durable.
// It returns who is released and who will never be. The first end counts; another
// one returns who came since.
func (d *durability) end(durable uint64, reason error) (released, lost []waiter) {
	if d.ended != nil {
		durable = d.durable
	} else {
		d.ended = reason
	}
	released = d.advance(durable)
	for len(d.waiters) > 0 {
		w, _ := heap.Pop(&d.waiters).(waiter)
		lost = append(lost, w)
	}
	return released, lost
}

// wait adds a waiter.
func (d *durability) wait(w waiter) {
	d.order++
	w.order = d.order
	heap.Push(&d.waiters, w)
}

// waiterHeap has the lowest sequence number on top, ties in the order they came.
type waiterHeap []waiter

// Len is for container/heap.
func (h *waiterHeap) Len() int { return len(*h) }

// Less is for container/heap.
func (h *waiterHeap) Less(i, j int) bool {
	a, b := (*h)[i], (*h)[j]
	if a.seq != b.seq {
		return a.seq < b.seq
	}
	return a.order < b.order
}

// Swap is for container/heap.
func (h *waiterHeap) Swap(i, j int) { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }

// Push is for container/heap.
func (h *waiterHeap) Push(x any) {
	w, _ := x.(waiter)
	*h = append(*h, w)
}

// Pop is for container/heap.
func (h *waiterHeap) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = waiter{}
	*h = old[:len(old)-1]
	return w
}
