package slatedb

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/store"
)

// appending is a merge operator.
func appending(_, existing, operand []byte) ([]byte, error) {
	return append(bytes.Clone(existing), operand...), nil
}

func merge(t testing.TB, db *DB, key, operand string) {
	t.Helper()
	_, err := db.Merge(t.Context(), []byte(key), []byte(operand), nil)
	require.NoError(t, err)
}

func TestMergesCombine(t *testing.T) {
	objects := openStore(t, store.Memory())
	db := openDB(t, objects, "db", &Options{MergeOperator: appending})
	merge(t, db, "k", "a")
	merge(t, db, "k", "b")
	require.Equal(t, "ab", get(t, db, "k"))
	put(t, db, "k", "0")
	merge(t, db, "k", "c")
	require.NoError(t, db.Flush(t.Context(), Memtable))
	var b Batch
	b.Merge([]byte("k"), []byte("d"), nil)
	b.Merge([]byte("k"), []byte("e"), &WriteOptions{TTL: NoExpiry()})
	_, err := db.Write(t.Context(), &b)
	require.NoError(t, err)
	require.Equal(t, "0cde", get(t, db, "k"))
	tx := beginTx(t, db, SnapshotIsolation)
	require.NoError(t, tx.Merge(t.Context(), []byte("k"), []byte("f"), nil))
	_, err = tx.Commit(t.Context())
	require.NoError(t, err)
	require.NoError(t, db.Close(t.Context(), nil))

	db = openDB(t, objects, "db", &Options{MergeOperator: appending})
	require.Equal(t, "0cdef", get(t, db, "k"))
}

func TestMergeTellsNoValueFromEmpty(t *testing.T) {
	var none, empty atomic.Int64
	db := memoryDB(t, &Options{MergeOperator: func(_, existing, operand []byte) ([]byte, error) {
		switch {
		case existing == nil:
			none.Add(1)
		case len(existing) == 0:
			empty.Add(1)
		}
		return append(bytes.Clone(existing), operand...), nil
	}})
	merge(t, db, "k", "x")
	require.Equal(t, "x", get(t, db, "k"))
	require.Positive(t, none.Load())
	put(t, db, "e", "")
	merge(t, db, "e", "x")
	require.Equal(t, "x", get(t, db, "e"))
	require.Positive(t, empty.Load())
}

func TestFactAFailingMergeOperatorFailsTheRead(t *testing.T) {
	for name, operator := range map[string]MergeOperator{
		"error": func(_, _, _ []byte) ([]byte, error) { return nil, errors.New("cannot add") },
		"panic": func(_, _, _ []byte) ([]byte, error) { panic("cannot add") },
	} {
		t.Run(name, func(t *testing.T) {
			db := memoryDB(t, &Options{MergeOperator: operator})
			put(t, db, "k", "v")
			_, mergeErr := db.Merge(t.Context(), []byte("k"), []byte("x"), nil)
			_, _, readErr := db.Get(t.Context(), []byte("k"), nil)
			err := errors.Join(mergeErr, readErr)
			require.ErrorIs(t, err, ErrInvalid)
			require.ErrorContains(t, err, "cannot add")
			put(t, db, "other", "v")
			require.Equal(t, "v", get(t, db, "other"))
			require.NoError(t, db.Close(t.Context(), &CloseOptions{SkipFlush: true}))
		})
	}
}

func TestFactWithoutAMergeOperatorOnlyMergesFail(t *testing.T) {
	objects := openStore(t, store.Memory())
	db := openDB(t, objects, "db", &Options{MergeOperator: appending})
	put(t, db, "k", "v")
	merge(t, db, "k", "x")
	put(t, db, "other", "v")
	require.NoError(t, db.Close(t.Context(), nil))

	db = openDB(t, objects, "db", nil)
	_, _, err := db.Get(t.Context(), []byte("k"), nil)
	require.ErrorIs(t, err, ErrInvalid)
	_, err = db.Merge(t.Context(), []byte("k"), []byte("y"), nil)
	require.ErrorIs(t, err, ErrInvalid)
	require.Equal(t, "v", get(t, db, "other"))
}

func TestFactAFailingMergeAtAFlushEndsTheDatabase(t *testing.T) {
	var fail atomic.Bool
	operator := func(key, existing, operand []byte) ([]byte, error) {
		if fail.Load() {
			panic("cannot add")
		}
		return appending(key, existing, operand)
	}
	objects := openStore(t, store.Memory())
	db := openDB(t, objects, "db", &Options{MergeOperator: operator})
	put(t, db, "k", "v")
	merge(t, db, "k", "x")
	merge(t, db, "k", "y")
	require.NoError(t, db.Flush(t.Context(), WAL))
	fail.Store(true)
	require.Error(t, db.Flush(t.Context(), Memtable))
	eventually(t, "dead", func() bool { return db.Status().CloseReason == ReasonPanic })
	_, err := db.Put(t.Context(), []byte("k"), nil, nil)
	require.ErrorContains(t, err, "cannot add") // every call gives the first error
	require.Error(t, db.Close(t.Context(), nil))
	require.Equal(t, ReasonPanic, db.Status().CloseReason)
	_, err = db.Put(t.Context(), []byte("k"), nil, nil)
	require.ErrorIs(t, err, ErrClosed)

	fail.Store(false)
	db = openDB(t, objects, "db", &Options{MergeOperator: operator})
	require.Equal(t, "vxy", get(t, db, "k"))
}
