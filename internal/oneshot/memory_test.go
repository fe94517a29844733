//go:build !race

package oneshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// With the race detector on, a [sync.Pool] forgets some of what it is given.
func TestWaitingCostsNoMemory(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	ctx := t.Context()
	given := 0
	allocs := testing.AllocsPerRun(1_000, func() {
		s := New()
		s.Send()
		s.Wait(ctx, time.Hour, func(error) { given++ })
	})
	require.Zero(t, allocs)
	require.Zero(t, given)
}
