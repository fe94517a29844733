package slatedb

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/store"
)

func TestReaderFollowsTheWriter(t *testing.T) {
	objects := openStore(t, store.Memory())
	db := openDB(t, objects, "db", manual())
	put(t, db, "a", "1")
	require.NoError(t, db.Flush(t.Context(), WAL))
	r, err := OpenReader(t.Context(), objects, "db", &ReaderOptions{
		PollInterval: 10 * time.Millisecond, CheckpointLifetime: 10 * patience,
	})
	require.NoError(t, err)
	require.Equal(t, "1", get(t, r, "a"))
	put(t, db, "a", "2")
	require.Equal(t, "1", get(t, r, "a"))
	require.NoError(t, db.Flush(t.Context(), WAL))
	eventually(t, "followed", func() bool { return get(t, r, "a") == "2" })
	require.Equal(t, []string{"a"}, allKeys(t, r))
	require.Equal(t, ReasonNone, db.Status().CloseReason) // nobody is fenced
	require.NoError(t, r.Close(t.Context()))
	require.NoError(t, r.Close(t.Context()))
	require.Equal(t, ReasonClean, r.Status().CloseReason)
	_, _, err = r.Get(t.Context(), []byte("a"), nil)
	require.ErrorIs(t, err, ErrClosed)
}

func TestReaderOfNothing(t *testing.T) {
	objects := openStore(t, store.Memory())
	_, err := OpenReader(t.Context(), objects, "none", nil)
	require.ErrorIs(t, err, ErrData)
	_, err = OpenReader(t.Context(), objects, "none", &ReaderOptions{Checkpoint: "x", NoCheckpoint: true})
	require.ErrorIs(t, err, ErrInvalid)
}

func TestCheckpointsPinAState(t *testing.T) {
	objects := openStore(t, store.Memory())
	db := openDB(t, objects, "db", nil)
	put(t, db, "a", "1")
	require.NoError(t, db.Flush(t.Context(), Memtable))
	admin, err := OpenAdmin(objects, "db")
	require.NoError(t, err)
	defer admin.Close()
	id, manifest, err := admin.CreateCheckpoint(t.Context(), &CheckpointOptions{Name: "backup", Lifetime: time.Hour})
	require.NoError(t, err)
	put(t, db, "a", "2")
	require.NoError(t, db.Flush(t.Context(), Memtable))

	r, err := OpenReader(t.Context(), objects, "db", &ReaderOptions{Checkpoint: id})
	require.NoError(t, err)
	require.Equal(t, "1", get(t, r, "a"))
	require.NoError(t, r.Close(t.Context()))
	require.Equal(t, ReasonClean, r.Status().CloseReason)

	listed, err := admin.Checkpoints(t.Context(), "backup")
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, id, listed[0].ID)
	require.Equal(t, manifest, listed[0].ManifestID)
	require.WithinDuration(t, time.Now().Add(time.Hour), listed[0].ExpiresAt, 10*time.Minute)
	require.NoError(t, admin.RefreshCheckpoint(t.Context(), id, 0))
	listed, err = admin.Checkpoints(t.Context(), "")
	require.NoError(t, err)
	require.True(t, listed[0].ExpiresAt.IsZero())

	require.NoError(t, admin.DeleteCheckpoint(t.Context(), id))
	listed, err = admin.Checkpoints(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, listed)
	require.ErrorIs(t, admin.DeleteCheckpoint(t.Context(), "no id"), ErrInvalid)
}

func TestManifestsAreRead(t *testing.T) {
	objects := openStore(t, store.Memory())
	admin, err := OpenAdmin(objects, "db")
	require.NoError(t, err)
	none, err := admin.Manifest(t.Context(), 0)
	require.NoError(t, err)
	require.Nil(t, none)

	// Only the writer writes manifests.
	db := openDB(t, objects, "db", manual(map[string]any{"compactor_options": nil, "garbage_collector_options": nil}))
	put(t, db, "first", "1")
	seq := put(t, db, "last", "1")
	require.NoError(t, db.Flush(t.Context(), Memtable))
	latest, err := admin.Manifest(t.Context(), 0)
	require.NoError(t, err)
	require.True(t, latest.Initialized)
	require.Equal(t, seq, latest.LastL0Seq)
	require.Len(t, latest.L0, 1)
	require.Equal(t, "first", string(latest.L0[0].FirstKey))
	require.Equal(t, "last", string(latest.L0[0].LastKey))
	require.Positive(t, latest.L0[0].Size)

	all, err := admin.Manifests(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Equal(t, latest.ID, all[len(all)-1].ID)
	some, err := admin.Manifests(t.Context(), 2, latest.ID)
	require.NoError(t, err)
	require.Len(t, some, len(all)-2)
	require.NoError(t, db.Close(t.Context(), nil))
	db = openDB(t, objects, "db", nil)
	defer db.Close(t.Context(), nil)
	next, err := admin.Manifest(t.Context(), 0)
	require.NoError(t, err)
	require.Greater(t, next.WriterEpoch, latest.WriterEpoch)
	admin.Close()
	_, err = admin.Manifest(t.Context(), 0)
	require.ErrorIs(t, err, ErrClosed)
}

func TestAsyncReaderAndAdmin(t *testing.T) {
	objects := openStore(t, store.Memory())
	db := openDB(t, objects, "db", nil)
	put(t, db, "a", "1")
	require.NoError(t, db.Flush(t.Context(), WAL))
	admin, err := OpenAdmin(objects, "db")
	require.NoError(t, err)
	defer admin.Close()
	var all sync.WaitGroup
	all.Add(5)
	check := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	OpenReaderAsync(objects, "db", nil, func(r *Reader, err error) {
		check(err)
		r.CloseAsync(func(err error) { check(err); all.Done() })
	})
	admin.ManifestAsync(0, func(_ *Manifest, err error) { check(err); all.Done() })
	admin.ManifestsAsync(0, 0, func(_ []Manifest, err error) { check(err); all.Done() })
	admin.CheckpointsAsync("", func(_ []Checkpoint, err error) { check(err); all.Done() })
	admin.CreateCheckpointAsync(nil, func(id string, _ uint64, err error) {
		check(err)
		admin.RefreshCheckpointAsync(id, time.Hour, func(err error) {
			check(err)
			admin.DeleteCheckpointAsync(id, func(err error) { check(err); all.Done() })
		})
	})
	all.Wait()
}
