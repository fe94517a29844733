package slatedb

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLifetimeEndsOnceAfterItsLastUse(t *testing.T) {
	var l lifetime
	ok, last := l.use()
	require.True(t, ok)
	require.False(t, last)
	first, last := l.close()
	require.True(t, first)
	require.False(t, last)
	ok, last = l.use()
	require.False(t, ok)
	require.False(t, last)
	first, last = l.close()
	require.False(t, first)
	require.False(t, last)
	require.True(t, l.release())
	ok, last = l.use()
	require.False(t, ok)
	require.False(t, last)

	var unused lifetime
	_, last = unused.close()
	require.True(t, last)
}

func TestLifetimeUnderConcurrency(t *testing.T) {
	for range 500 {
		var (
			l    lifetime
			ends atomic.Int64
			all  sync.WaitGroup
		)
		end := func(last bool) {
			if last {
				ends.Add(1)
			}
		}
		for i := range 8 {
			all.Go(func() {
				for range 20 {
					ok, last := l.use()
					if ok && ends.Load() > 0 {
						t.Error("a use after the end")
					}
					if ok {
						last = l.release()
					}
					end(last)
				}
				if i%4 == 0 {
					_, last := l.close()
					end(last)
				}
			})
		}
		all.Wait()
		require.Equal(t, int64(1), ends.Load())
	}
}
