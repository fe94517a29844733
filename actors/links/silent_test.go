package links

import (
	"io"
	"sync"
	"testing"
)

// silentAddress takes connections and says nothing.
func silentAddress(t *testing.T) string {
	t.Helper()
	l := listenLoopback(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				_, _ = io.Copy(io.Discard, c)
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String()
}
