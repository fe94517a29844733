package slatedb

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
)

func TestMemoryStoresShareTheirSpace(t *testing.T) {
	s := store.Memory()
	first, second, other := openStore(t, s), openStore(t, s), openStore(t, store.Memory())
	db := openDB(t, first, "db", nil)
	put(t, db, "k", "v")
	require.NoError(t, db.Close(t.Context(), nil))
	require.Equal(t, "v", get(t, openDB(t, second, "db", nil), "k"))
	require.Equal(t, "-", get(t, openDB(t, other, "db", nil), "k"))
}

func TestMemoryIsForgottenWithItsSpace(t *testing.T) {
	held := func() int {
		memories.Lock()
		defer memories.Unlock()
		return len(memories.ids)
	}
	memory := store.Memory()
	objects, err := NewObjectStore(t.Context(), memory)
	require.NoError(t, err)
	require.NoError(t, objects.Close(t.Context()))
	before := held()
	runtime.KeepAlive(memory) // up to here it counts
	eventually(t, "forgotten", func() bool {
		runtime.GC()
		return held() < before
	})
}

func TestDirStoresPersist(t *testing.T) {
	for _, name := range []string{"plain", "a b", "ü", "a%20b", "%2e%2e", "a#b?c", "日本", `a\b"<c>`} {
		dir := filepath.Join(t.TempDir(), name, "new")
		db := openDB(t, openStore(t, store.Dir(dir)), "some/db", nil)
		put(t, db, "k", name)
		require.NoError(t, db.Close(t.Context(), nil))
		require.DirExists(t, filepath.Join(dir, "some", "db", "manifest"))
		require.Equal(t, name, get(t, openDB(t, openStore(t, store.Dir(dir)), "some/db", nil), "k"))
	}
}

func TestWrongConfigurationIsNamed(t *testing.T) {
	_, err := buildStore("s3://bucket", map[string]string{"foo": "bar"})
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "foo")
	_, err = buildStore("no url", nil)
	require.Error(t, err)
	_, err = NewObjectStore(t.Context(), store.Store{})
	require.Error(t, err)
}

func TestNilObjectStoreIsInvalid(t *testing.T) {
	_, open := Open(t.Context(), nil, "db", nil)
	_, reader := OpenReader(t.Context(), nil, "db", nil)
	_, admin := OpenAdmin(nil, "db")
	failed := make(chan error, 2)
	OpenAsync(nil, "db", nil, func(_ *DB, err error) { failed <- err })
	OpenReaderAsync(nil, "db", nil, func(_ *Reader, err error) { failed <- err })
	for _, err := range []error{open, reader, admin, <-failed, <-failed} {
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, "the object store is nil: make one with NewObjectStore")
	}
}

func TestS3PrefixIsKept(t *testing.T) {
	server := s3test.Start(t, "bucket")
	for _, prefix := range []string{"", "some/prefix"} {
		db := openDB(t, openStore(t, server.Store("bucket", prefix)), "/shards/db/", nil)
		put(t, db, "k", "v")
		require.NoError(t, db.Close(t.Context(), nil))
		bucket, err := server.Store("bucket", "").Open(t.Context())
		require.NoError(t, err)
		found := 0
		objects, err := bucket.List(t.Context(), filepath.Join(prefix, "shards/db")+"/")
		require.NoError(t, err)
		found += len(objects)
		require.Positive(t, found, "objects under %q", prefix)
		db = openDB(t, openStore(t, server.Store("bucket", prefix)), "shards/db", nil)
		require.Equal(t, "v", get(t, db, "k"))
		require.NoError(t, db.Close(t.Context(), nil))
	}
}

func TestCacheIsShared(t *testing.T) {
	cache, err := NewCache(1 << 20)
	require.NoError(t, err)
	objects := openStore(t, store.Memory())
	for id := range uint64(3) {
		path := string(rune('a' + id))
		db := openDB(t, objects, path, &Options{Cache: cache, CacheID: id})
		put(t, db, "k", path)
		require.NoError(t, db.Flush(t.Context(), Memtable))
	}
	for id := range uint64(3) {
		path := string(rune('a' + id))
		db := openDB(t, objects, path, &Options{Cache: cache, CacheID: id})
		require.Equal(t, path, get(t, db, "k"))
	}
	cache.Close()
	cache.Close()
	_, err = Open(t.Context(), objects, "d", &Options{Cache: cache})
	require.ErrorIs(t, err, ErrClosed)
	openDB(t, objects, "e", &Options{NoCache: true})
	_, err = Open(t.Context(), objects, "f", &Options{Cache: cache, NoCache: true})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = NewCache(0)
	require.ErrorIs(t, err, ErrInvalid)
}

func TestUnwritableDirectoryIsSaid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := NewObjectStore(within(t, patience), store.Dir(filepath.Join(file, "dir")))
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrAbandoned)
}
