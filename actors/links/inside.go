package links

import (
	"context"
	"sync"
)

// inside counts what somebody will wait for, and lets nothing in once it is shut.
type inside struct {
	mu   sync.Mutex
	n    int
	shut bool
	idle chan struct{} // closed once it is shut and nothing is inside; made by close
}

func (i *inside) enter() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.shut {
		return false
	}
	i.n++
	return true
}

func (i *inside) leave() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.n--
	if i.n == 0 && i.shut {
		close(i.idle)
	}
}

// close lets nothing in any more. False: it did not before.
func (i *inside) close() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.shut {
		return false
	}
	i.shut, i.idle = true, make(chan struct{})
	if i.n == 0 {
		close(i.idle)
	}
	return true
}

// wait waits until nothing is inside, at most until ctx ends. It comes after close.
func (i *inside) wait(ctx context.Context) error {
	select {
	case <-i.idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
