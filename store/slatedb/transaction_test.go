package slatedb

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func beginTx(t testing.TB, db *DB, i Isolation) *Transaction {
	t.Helper()
	tx, err := db.Begin(t.Context(), i)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(t.Context()) })
	return tx
}

func TestTransactionIsAllOrNothing(t *testing.T) {
	db := filled(t)
	tx := beginTx(t, db, SnapshotIsolation)
	require.NoError(t, tx.Put(t.Context(), []byte("a"), []byte("tx"), nil))
	require.NoError(t, tx.Put(t.Context(), []byte("new"), []byte("tx"), &WriteOptions{TTL: NoExpiry()}))
	require.NoError(t, tx.Delete(t.Context(), []byte("d")))
	require.Equal(t, "tx", get(t, tx, "a"))
	require.Equal(t, []string{"a", "b1", "b2", "b3", "c", "new"}, allKeys(t, tx))
	require.Equal(t, "value of a", get(t, db, "a"))
	seq, err := tx.Commit(t.Context())
	require.NoError(t, err)
	row, err := db.GetRow(t.Context(), []byte("a"), nil)
	require.NoError(t, err)
	require.Equal(t, seq, row.Seq)
	require.Equal(t, []string{"a", "b1", "b2", "b3", "c", "new"}, allKeys(t, db))
}

func TestTransactionEnds(t *testing.T) {
	db := filled(t)
	tx := beginTx(t, db, SnapshotIsolation)
	require.NoError(t, tx.Put(t.Context(), []byte("a"), []byte("tx"), nil))
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, "value of a", get(t, db, "a"))
	_, err := tx.Commit(t.Context())
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, tx.Put(t.Context(), []byte("a"), nil, nil), ErrClosed)

	empty := beginTx(t, db, Serializable)
	seq, err := empty.Commit(t.Context())
	require.NoError(t, err)
	require.Zero(t, seq)
}

func TestFactConflictsByIsolation(t *testing.T) {
	write := func(t *testing.T, tx *Transaction, key string) {
		require.NoError(t, tx.Put(t.Context(), []byte(key), []byte("tx"), nil))
	}
	for _, c := range []struct {
		name      string
		isolation Isolation
		first     func(*testing.T, *Transaction)
		conflict  bool
	}{
		{"snapshot, both write", SnapshotIsolation, func(t *testing.T, tx *Transaction) { write(t, tx, "a") }, true},
		{"serializable, both write", Serializable, func(t *testing.T, tx *Transaction) { write(t, tx, "a") }, true},
		{"snapshot, one reads", SnapshotIsolation, func(t *testing.T, tx *Transaction) { get(t, tx, "a"); write(t, tx, "b1") }, false},
		{"serializable, one reads", Serializable, func(t *testing.T, tx *Transaction) { get(t, tx, "a"); write(t, tx, "b1") }, true},
		{"serializable, one scans", Serializable, func(t *testing.T, tx *Transaction) { allKeys(t, tx); write(t, tx, "b1") }, true},
		{"serializable, apart", Serializable, func(t *testing.T, tx *Transaction) { get(t, tx, "c"); write(t, tx, "b1") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := filled(t)
			first, second := beginTx(t, db, c.isolation), beginTx(t, db, c.isolation)
			c.first(t, first)
			write(t, second, "a")
			_, err := second.Commit(t.Context())
			require.NoError(t, err)
			_, err = first.Commit(t.Context())
			if !c.conflict {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrConflict)
			require.Equal(t, "value of b1", get(t, db, "b1"))
		})
	}
}

func TestAsyncTransaction(t *testing.T) {
	db := filled(t)
	var all sync.WaitGroup
	all.Add(1)
	db.BeginAsync(SnapshotIsolation, func(tx *Transaction, err error) {
		if err != nil {
			t.Error(err)
			all.Done()
			return
		}
		tx.PutAsync([]byte("a"), []byte("async"), nil, func(error) {
			tx.DeleteAsync([]byte("c"), func(error) {
				tx.CommitAsync(func(seq uint64, err error) {
					defer all.Done()
					if seq == 0 || err != nil {
						t.Error(seq, err)
					}
				})
			})
		})
	})
	all.Wait()
	require.Equal(t, "async", get(t, db, "a"))
	require.Equal(t, "-", get(t, db, "c"))
}
