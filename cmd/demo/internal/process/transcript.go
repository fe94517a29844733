package process

import (
	"strings"
	"sync"
)

// maxTranscript bounds what a [Transcript] keeps, in bytes; the beginning tells the most.
const maxTranscript = 1 << 20

// Transcript keeps what is written while others read it.
type Transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write takes the next piece.
func (t *Transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text.Len() < maxTranscript {
		t.text.Write(p)
	}
	return len(p), nil
}

// String is what was written so far.
func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
