package tour

import (
	"io"
	"sync"
)

// lines lets several goroutines write whole lines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes at once.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
