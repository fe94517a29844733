package store

import (
	"crypto/rand"
	"fmt"
	"io"
)

// readRandom fills b from the source, or from the system's if that is nil.
func readRandom(source io.Reader, b []byte) error {
	if source == nil {
		source = rand.Reader
	}
	if _, err := io.ReadFull(source, b); err != nil {
		return fmt.Errorf("read random bytes: %w", err)
	}
	return nil
}
