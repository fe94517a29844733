package slatedb

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/store"
)

func TestLeftover(t *testing.T) {
	for _, c := range []struct {
		databases, iterators int64
		abandoned            int
		want                 string
	}{
		{1, 0, 0, "1 database is still open: close it first"},
		{2, 1, 0, "2 databases, 1 iterator are still open: close them first"},
		{0, 1, 0, "1 iterator is still open: close it first"},
		{1, 0, 2, "1 database is still open: close it first (2 abandoned operations go on)"},
		{0, 0, 1, "1 abandoned operation goes on"},
		{0, 0, 0, "its last operations go on"},
	} {
		var open census
		open[objectDB].Store(c.databases)
		open[objectIterator].Store(c.iterators)
		require.Equal(t, c.want, leftover(&open, c.abandoned))
	}
}

func TestObjectStoreCloseSaysWhatIsOpen(t *testing.T) {
	s := openStore(t, store.Memory())
	db := openDB(t, s, "db", nil)
	put(t, db, "k", "v")
	snapshot, err := db.Snapshot(t.Context())
	require.NoError(t, err)
	it, err := db.Scan(t.Context(), Range{}, nil)
	require.NoError(t, err)
	requireOpen := func(want string) {
		t.Helper()
		err := s.Close(within(t, 1))
		require.ErrorIs(t, err, ErrAbandoned)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, want)
	}
	requireOpen("1 database, 1 snapshot, 1 iterator are still open: close them first")
	snapshot.Close()
	it.Close()
	requireOpen("1 database is still open: close it first")
	require.NoError(t, db.Close(t.Context(), nil))
	require.NoError(t, s.Close(t.Context()))
}
