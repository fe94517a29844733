package actors

import (
	"context"
	"sync"
)

// tally counts goroutines that somebody will wait for.
type tally struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when none is left; nil while nobody waits for that
}

func (t *tally) add() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

func (t *tally) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	if t.n == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// wait waits until none is left, at most until ctx ends, and returns how many are.
func (t *tally) wait(ctx context.Context) int {
	t.mu.Lock()
	n := t.n
	if n > 0 && t.idle == nil {
		t.idle = make(chan struct{})
	}
	idle := t.idle
	t.mu.Unlock()
	if n == 0 {
		return 0
	}
	select {
	case <-idle:
		return 0
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.n
	}
}
