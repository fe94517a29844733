package slatedb

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func filled(t testing.TB) *DB {
	db := memoryDB(t, nil)
	for _, k := range []string{"a", "b1", "b2", "b3", "c", "d"} {
		put(t, db, k, "value of "+k)
	}
	return db
}

func TestScansInBothOrders(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		db := filled(t)
		if flushed {
			require.NoError(t, db.Flush(t.Context(), Memtable))
		}
		for _, c := range []struct {
			keys Range
			want []string
		}{
			{Range{}, []string{"a", "b1", "b2", "b3", "c", "d"}},
			{Range{Start: []byte("b1"), End: []byte("c")}, []string{"b1", "b2", "b3"}},
			{Range{Start: []byte("b1"), End: []byte("c"), StartExclusive: true, EndInclusive: true}, []string{"b2", "b3", "c"}},
			{Range{Start: []byte("b2"), End: []byte("b2"), EndInclusive: true}, []string{"b2"}},
			{Range{Start: []byte("x")}, []string{}},
		} {
			it, err := db.Scan(t.Context(), c.keys, nil)
			require.Equal(t, c.want, keysFrom(t, it, err))
			it, err = db.Scan(t.Context(), c.keys, &ScanOptions{Order: Descending})
			require.Equal(t, reversed(c.want), keysFrom(t, it, err))
		}
		for prefix, want := range map[string][]string{
			"b": {"b1", "b2", "b3"}, "": {"a", "b1", "b2", "b3", "c", "d"}, "bb": {}, "d": {"d"},
		} {
			it, err := db.ScanPrefix(t.Context(), []byte(prefix), nil)
			require.Equal(t, want, keysFrom(t, it, err))
			it, err = db.ScanPrefix(t.Context(), []byte(prefix), &ScanOptions{Order: Descending})
			require.Equal(t, reversed(want), keysFrom(t, it, err))
		}
	}
}

func reversed(keys []string) []string {
	r := make([]string, len(keys))
	for i, k := range keys {
		r[len(keys)-1-i] = k
	}
	return r
}

func TestScanOfManyRows(t *testing.T) {
	const n = 5000
	db := memoryDB(t, nil)
	var b Batch
	for i := range n {
		b.Put(fmt.Appendf(nil, "%06d", i), fmt.Append(nil, i), nil)
	}
	seq, err := db.Write(t.Context(), &b)
	require.NoError(t, err)
	for _, o := range []*ScanOptions{nil, {Order: Descending}, {ReadAhead: 1 << 20, FetchTasks: 4, CacheFill: true}} {
		it, err := db.Scan(t.Context(), Range{}, o)
		require.NoError(t, err)
		i := 0
		for ; it.Next(t.Context()); i++ {
			at := i
			if o != nil && o.Order == Descending {
				at = n - 1 - i
			}
			require.Equal(t, fmt.Sprintf("%06d", at), string(it.Row().Key))
			require.Equal(t, fmt.Sprint(at), string(it.Row().Value))
			require.Equal(t, seq, it.Row().Seq)
		}
		require.NoError(t, it.Err())
		require.Equal(t, n, i)
		require.False(t, it.Next(t.Context()))
		it.Close()
		it.Close()
	}
}

func TestNextBatchAndNextMix(t *testing.T) {
	db := filled(t)
	it, err := db.Scan(t.Context(), Range{}, nil)
	require.NoError(t, err)
	defer it.Close()
	require.True(t, it.Next(t.Context()))
	require.Equal(t, "a", string(it.Row().Key))
	rows, err := it.NextBatch(t.Context(), 2)
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, "b1", string(rows[0].Key))
	rows, err = it.NextBatch(t.Context(), 0)
	require.NoError(t, err)
	require.Empty(t, rows)
	require.True(t, it.Next(t.Context()))
	require.Equal(t, "b3", string(it.Row().Key))
	rows, err = it.NextBatch(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, rows, 2)
	rows, err = it.NextBatch(t.Context(), 100)
	require.NoError(t, err)
	require.Empty(t, rows)
	require.False(t, it.Next(t.Context()))
}

func TestSeekGoesForward(t *testing.T) {
	const n = 100
	db := memoryDB(t, nil)
	for i := range n {
		put(t, db, fmt.Sprintf("%02d", i), "")
	}
	it, err := db.Scan(t.Context(), Range{}, nil)
	require.NoError(t, err)
	defer it.Close()
	require.True(t, it.Next(t.Context()))
	for _, c := range []struct{ target, found string }{ // among the fetched rows, and beyond
		{"03", "03"}, {"05x", "06"}, {"50", "50"}, {"97x", "98"},
	} {
		require.NoError(t, it.Seek(t.Context(), []byte(c.target)))
		require.True(t, it.Next(t.Context()))
		require.Equal(t, c.found, string(it.Row().Key))
	}
	require.ErrorIs(t, it.Seek(t.Context(), []byte("10")), ErrInvalid)
	require.True(t, it.Next(t.Context()))
	require.Equal(t, "99", string(it.Row().Key))

	backwards, err := db.Scan(t.Context(), Range{}, &ScanOptions{Order: Descending})
	require.NoError(t, err)
	defer backwards.Close()
	require.ErrorIs(t, backwards.Seek(t.Context(), []byte("10")), ErrInvalid)
}

func TestIteratorDoesNotSeeLaterWrites(t *testing.T) {
	db := filled(t)
	it, err := db.Scan(t.Context(), Range{}, nil)
	require.NoError(t, err)
	put(t, db, "a0", "new")
	require.Equal(t, []string{"a", "b1", "b2", "b3", "c", "d"}, keysFrom(t, it, nil))
}

func TestSnapshotKeepsItsState(t *testing.T) {
	db := filled(t)
	s, err := db.Snapshot(t.Context())
	require.NoError(t, err)
	put(t, db, "a", "new")
	require.NoError(t, db.Flush(t.Context(), Memtable))
	require.Equal(t, "value of a", get(t, s, "a"))
	require.Equal(t, "new", get(t, db, "a"))
	require.Equal(t, allKeys(t, db), allKeys(t, s))
	s.Close()
	s.Close()
	_, _, err = s.Get(t.Context(), []byte("a"), nil)
	require.ErrorIs(t, err, ErrClosed)
}

func TestRowsTellWhenTheyWereWritten(t *testing.T) {
	db := memoryDB(t, nil)
	before := time.Now().Truncate(time.Millisecond)
	seq := put(t, db, "k", "v")
	row, err := db.GetRow(t.Context(), []byte("k"), &ReadOptions{Dirty: true, NoCacheFill: true})
	require.NoError(t, err)
	require.Equal(t, seq, row.Seq)
	require.False(t, row.CreatedAt.Before(before))
	row, err = db.GetRow(t.Context(), []byte("none"), nil)
	require.NoError(t, err)
	require.Nil(t, row)
}

func TestAsyncReads(t *testing.T) {
	db := filled(t)
	var all sync.WaitGroup
	const n = 500
	all.Add(4 * n)
	for range n {
		db.GetAsync([]byte("a"), nil, func(value []byte, ok bool, err error) {
			defer all.Done()
			if string(value) != "value of a" || !ok || err != nil {
				t.Error(string(value), ok, err)
			}
		})
		db.GetAsync([]byte("none"), nil, func(value []byte, ok bool, err error) {
			defer all.Done()
			if value != nil || ok || err != nil {
				t.Error(string(value), ok, err)
			}
		})
		db.GetRowAsync([]byte("a"), nil, func(row *Row, err error) {
			defer all.Done()
			if err != nil || string(row.Value) != "value of a" {
				t.Error(row, err)
			}
		})
		db.ScanPrefixAsync([]byte("b"), nil, func(it *Iterator, err error) {
			if err != nil {
				t.Error(err)
				all.Done()
				return
			}
			it.NextBatchAsync(10, func(rows []Row, err error) {
				defer all.Done()
				it.Close()
				if len(rows) != 3 || err != nil {
					t.Error(len(rows), err)
				}
			})
		})
	}
	all.Wait()
}

func TestEndedContextDoesNothing(t *testing.T) {
	db := filled(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := db.Put(ctx, []byte("a"), []byte("new"), nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrAbandoned)
	require.Equal(t, "value of a", get(t, db, "a"))
	require.ErrorIs(t, db.Close(ctx, nil), context.Canceled)
	require.Equal(t, ReasonNone, db.Status().CloseReason)
}
