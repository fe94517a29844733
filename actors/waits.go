package actors

import (
	"sync"
	"time"
)

// waits shares a shard's durability state between the notifier, which drives it,
// and everybody who registers. Nobody is told anything under the lock.
type waits struct {
	mu   sync.Mutex
	d    durability
	over bool // the shard has ended and everybody who waited is told
}

// on adds a waiter, or tells it at once if the shard has ended and those before are
// told.
func (w *waits) on(one waiter) {
	w.mu.Lock()
	over, ended, durable := w.over, w.d.ended, w.d.durable
	if !over {
		w.d.wait(one)
	}
	w.mu.Unlock()
	if over {
		one.tell(one.seq <= durable, ended)
	}
}

func (w *waits) wrote(now time.Time) step {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.d.wrote(now)
}

func (w *waits) hurry(seq uint64, now time.Time) step {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.d.hurry(seq, now)
}

func (w *waits) woke(now time.Time) step {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.d.woke(now)
}

func (w *waits) flushed(now time.Time) step {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.d.flushed(now)
}

func (w *waits) advance(durable uint64) {
	w.mu.Lock()
	released := w.d.advance(durable)
	w.mu.Unlock()
	tell(released, true, nil)
}

// answer tells those in front who may be told by anybody, and says whether somebody is
// left for the notifier.
func (w *waits) answer(durable uint64) (left bool) {
	w.mu.Lock()
	released, left := w.d.answer(durable)
	w.mu.Unlock()
	tell(released, true, nil)
	return left
}

func (w *waits) end(durable uint64, reason error) {
	for more := true; more; {
		w.mu.Lock()
		released, lost := w.d.end(durable, reason)
		more = len(released)+len(lost) > 0
		w.over = !more
		w.mu.Unlock()
		tell(released, true, nil)
		tell(lost, false, reason)
	}
}

func tell(waiters []waiter, durable bool, reason error) {
	for _, w := range waiters {
		w.tell(durable, reason)
	}
}
