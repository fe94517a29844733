package actors

import (
	"sync"

	"github.com/slap-go/slap/messages"
)

// ledger is the list of requests that somebody below answers for and that are not
// settled, so that none is forgotten when that ends.
type ledger struct {
	mu    sync.Mutex
	first *request
}

// add enters a request. The caller holds the lock.
func (l *ledger) add(r *request) {
	r.ledger, r.linked, r.next = l, true, l.first
	if l.first != nil {
		l.first.prev = r
	}
	l.first = r
}

// remove forgets a settled request, or one that the notifier took over.
func (l *ledger) remove(r *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.linked {
		return
	}
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		l.first = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.linked, r.prev, r.next = false, nil, nil
}

// endAll settles requests whose end has come: what waits was not executed, what has begun
// is unknown, of this kind.
func endAll(requests []*request, kind error) {
	for _, r := range requests {
		r.end(messages.ErrStopping, kind, nil)
	}
}

// open are the requests that are not settled. The caller holds the lock.
func (l *ledger) open() []*request {
	var open []*request
	for r := l.first; r != nil; r = r.next {
		open = append(open, r)
	}
	return open
}
