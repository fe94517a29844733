package slatedb

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/internal/footprint"
	"github.com/slap-go/slap/store"
)

func median(samples []int) int {
	s := slices.Sorted(slices.Values(samples))
	return s[len(s)/2]
}

// A thousand rounds of opening and closing leave everything as it was: goroutines
// and descriptors exactly, memory within 5 % or 8 MiB over the second half.
func TestRoundsLeaveNothingBehind(t *testing.T) {
	const (
		rounds = 1000
		every  = 25 // rounds on one memory, whose objects pile up until it is forgotten
	)
	run := func() {
		objects, err := NewObjectStore(t.Context(), store.Memory())
		require.NoError(t, err)
		for i := range every {
			openAndClose(t, objects, fmt.Sprint("db", i%5))
		}
		require.NoError(t, objects.Close(t.Context()))
	}
	run()
	goroutines, files := runtime.NumGoroutine(), footprint.Of(t).Descriptors
	var samples []int
	for range rounds / every {
		run()
		samples = append(samples, int(footprint.Of(t).Memory))
	}
	eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "as many descriptors as before", func() bool { return footprint.Of(t).Descriptors <= files })

	half := samples[len(samples)/2:]
	before, after := median(half[:len(half)/2]), median(half[len(half)/2:])
	t.Logf("resident memory %d kB, then %d kB", before>>10, after>>10)
	require.LessOrEqual(t, after, before+max(before/20, 8<<20), "%v", samples)
}

// openAndClose is one round: a database that is opened, used and closed.
func openAndClose(t *testing.T, objects *ObjectStore, path string) {
	t.Helper()
	db, err := Open(t.Context(), objects, path, nil)
	require.NoError(t, err)
	seq := put(t, db, "k", "v")
	require.Equal(t, "v", get(t, db, "k"))
	it, err := db.Scan(t.Context(), Range{}, nil)
	require.NoError(t, err)
	require.True(t, it.Next(t.Context()))
	it.Close()
	require.NoError(t, db.Close(t.Context(), nil))
	require.GreaterOrEqual(t, db.Status().DurableSeq, seq)
}

// Object stores own goroutines and descriptors and give them back.
func TestObjectStoresLeaveNothingBehind(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	files := -1
	for i := range 50 {
		objects, err := NewObjectStore(t.Context(), store.Memory())
		require.NoError(t, err)
		require.NoError(t, objects.Close(t.Context()))
		if i == 0 {
			files = footprint.Of(t).Descriptors
		}
	}
	eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "as many descriptors as before", func() bool { return footprint.Of(t).Descriptors <= files })
}
