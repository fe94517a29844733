package slatedb

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/slap-go/slap/store"
)

// looks is how many objects a new database reads until its writer has looked at the
// manifest for the first time after its open: the last two.
const looks = 6

// unaware makes a writer that was fenced and has not noticed, with one durable and
// one lost write. A writer looks at the manifest when it begins, and then not for a
// long time.
func unaware(t *testing.T) (first, second *DB, durable, lost uint64) {
	t.Helper()
	metrics, collect := newMetrics(t)
	objects := openStore(t, store.Memory())
	o := manual(map[string]any{
		"manifest_poll_interval": "10m", "compactor_options": nil, "garbage_collector_options": nil,
	})
	o.Metrics = metrics
	first = openDB(t, objects, "db", o)
	durable = put(t, first, "durable", "v")
	require.NoError(t, first.Flush(t.Context(), WAL))
	eventually(t, "a first look at the manifest", func() bool {
		return collect().sum(t, "slatedb.object_store.request_count", attribute.String("api", "get")) == looks
	})
	second = openDB(t, objects, "db", nil)
	lost = put(t, first, "lost", "v")
	require.Equal(t, "v", get(t, first, "lost")) // from memory
	return first, second, durable, lost
}

func TestFactAnIdleWriterNoticesItsFence(t *testing.T) {
	objects := openStore(t, store.Memory())
	first := openDB(t, objects, "db", &Options{Settings: map[string]any{"manifest_poll_interval": "20ms"}})
	openDB(t, objects, "db", nil)
	eventually(t, "fenced", func() bool { return first.Status().CloseReason == ReasonFenced })
	_, err := first.Put(t.Context(), []byte("k"), nil, nil)
	require.ErrorIs(t, err, ErrFenced)
	require.ErrorIs(t, err, ErrClosed)
	_, _, err = first.Get(t.Context(), []byte("k"), nil)
	require.ErrorIs(t, err, ErrFenced)

	// The engine's shutdown says nothing; ours says that it was fenced.
	_, err = await(t.Context(), (*op).nothing, func(c *op) bool { return first.shutdown(c, nil) })
	require.NoError(t, err)
	require.ErrorIs(t, first.Close(t.Context(), nil), ErrFenced)
	_, err = first.Put(t.Context(), []byte("k"), nil, nil)
	require.ErrorIs(t, err, ErrFenced)
}

func TestFactAFencedWriterIsClosedWithoutAFlush(t *testing.T) {
	first, second, durable, lost := unaware(t)
	require.NoError(t, first.Close(t.Context(), &CloseOptions{SkipFlush: true}))
	require.NoError(t, first.Close(t.Context(), nil))
	require.GreaterOrEqual(t, first.Status().DurableSeq, durable)
	require.Less(t, first.Status().DurableSeq, lost)
	require.Equal(t, []string{"durable"}, allKeys(t, second))
}

func TestFactAnUnawareFencedCloseLiesInItsStatus(t *testing.T) {
	first, second, durable, lost := unaware(t)
	_, err := await(t.Context(), (*op).nothing, func(c *op) bool { return first.shutdown(c, nil) })
	require.ErrorIs(t, err, ErrFenced)
	require.Equal(t, ReasonClean, readStatus(dbStatus, first.handle.id).CloseReason)
	require.GreaterOrEqual(t, first.Status().DurableSeq, durable)
	require.Less(t, first.Status().DurableSeq, lost)
	require.Equal(t, []string{"durable"}, allKeys(t, second))
}

func TestAnUnawareFencedCloseIsFenced(t *testing.T) {
	first, _, durable, lost := unaware(t)
	require.ErrorIs(t, first.Close(t.Context(), nil), ErrFenced)
	require.Equal(t, ReasonFenced, first.Status().CloseReason)
	require.GreaterOrEqual(t, first.Status().DurableSeq, durable)
	require.Less(t, first.Status().DurableSeq, lost)
}

// The flush itself ends as closed when the engine's tasks are told of the fence
// before it is.
func TestFactAnUnawareWriterNoticesAtItsNextFlush(t *testing.T) {
	first, _, _, _ := unaware(t)
	require.ErrorIs(t, first.Flush(t.Context(), WAL), ErrClosed)
	eventually(t, "fenced", func() bool { return first.Status().CloseReason == ReasonFenced })
}

// acknowledged are writes to keys of their own, by key.
type acknowledged struct {
	sync.Mutex
	seqs map[string]uint64
}

// load writes from many goroutines until writes fail, and returns their errors.
func (a *acknowledged) load(t *testing.T, db *DB, writers int) []error {
	ends := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%02d-%d", w, i)
				seq, err := db.Put(t.Context(), []byte(key), []byte("v"), nil)
				if err != nil {
					ends[w] = err
					return
				}
				a.Lock()
				a.seqs[key] = seq
				a.Unlock()
			}
		})
	}
	all.Wait()
	return ends
}

func (a *acknowledged) count() int {
	a.Lock()
	defer a.Unlock()
	return len(a.seqs)
}

func (a *acknowledged) highest() uint64 {
	a.Lock()
	defer a.Unlock()
	return slices.Max(slices.Collect(maps.Values(a.seqs)))
}

// check compares what is stored with what was durable at the end.
func (a *acknowledged) check(t *testing.T, db *DB, durable uint64) (lost int) {
	stored := map[string]bool{}
	for _, key := range allKeys(t, db) {
		stored[key] = true
	}
	for key, seq := range a.seqs {
		if stored[key] != (seq <= durable) {
			t.Fatalf("write %d of %s: stored %v, durable up to %d", seq, key, stored[key], durable)
		}
		if !stored[key] {
			lost++
		}
	}
	return lost
}

func TestFactAFenceUnderLoadLosesOnlyWhatWasNotDurable(t *testing.T) {
	rounds := 2
	if stress() {
		rounds = 12
	}
	for range rounds {
		objects := openStore(t, store.Memory())
		first := openDB(t, objects, "db", &Options{Settings: map[string]any{"flush_interval": "5ms"}})
		var (
			a      = acknowledged{seqs: map[string]uint64{}}
			second *DB
			opened = make(chan error, 1)
		)
		go func() {
			for a.count() < 1000 && first.Status().CloseReason == ReasonNone {
				_ = first.Status()
			}
			var err error
			second, err = Open(t.Context(), objects, "db", nil)
			opened <- err
		}()
		ends := a.load(t, first, 64)
		require.NoError(t, <-opened)
		for _, err := range ends {
			require.ErrorIs(t, err, ErrFenced)
		}
		require.ErrorIs(t, first.Close(t.Context(), nil), ErrFenced)
		lost := a.check(t, second, first.Status().DurableSeq)
		t.Logf("%d of %d acknowledged writes were not durable", lost, a.count())
		require.NoError(t, second.Close(t.Context(), nil))
	}
}

// What is written while the database closes may be lost, although the close is clean; the
// durable sequence number says so.
func TestFactACleanCloseUnderLoadLosesNothingFromBeforeIt(t *testing.T) {
	objects := openStore(t, store.Memory())
	first := openDB(t, objects, "db", &Options{Settings: map[string]any{"flush_interval": "5ms"}})
	a := acknowledged{seqs: map[string]uint64{}}
	var before uint64 // the highest number that was acknowledged
	closed := make(chan error, 1)
	go func() {
		for a.count() < 1000 {
			_ = first.Status()
		}
		before = a.highest()
		closed <- first.Close(t.Context(), nil)
	}()
	for _, err := range a.load(t, first, 64) {
		require.ErrorIs(t, err, ErrClosed)
		require.NotErrorIs(t, err, ErrFenced)
	}
	require.NoError(t, <-closed)
	require.Equal(t, ReasonClean, first.Status().CloseReason)
	require.GreaterOrEqual(t, first.Status().DurableSeq, before)
	second := openDB(t, objects, "db", nil)
	t.Logf("%d writes of the time of the close are lost", a.check(t, second, first.Status().DurableSeq))
}

func TestCloseWithoutFlushDropsWhatIsNotDurable(t *testing.T) {
	objects := openStore(t, store.Memory())
	db := openDB(t, objects, "db", manual())
	seq := put(t, db, "k", "v")
	require.NoError(t, db.Close(t.Context(), &CloseOptions{SkipFlush: true}))
	require.Less(t, db.Status().DurableSeq, seq)
	require.Equal(t, ReasonClean, db.Status().CloseReason)
	require.Equal(t, "-", get(t, openDB(t, objects, "db", nil), "k"))
}

func TestCloseIsOneForAll(t *testing.T) {
	db := memoryDB(t, manual())
	seq := put(t, db, "k", "v")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := db.Close(t.Context(), nil); err != nil {
				t.Error(err)
			}
			if s := db.Status(); s.DurableSeq < seq || s.CloseReason != ReasonClean {
				t.Error(s)
			}
		})
		all.Add(1)
		db.CloseAsync(nil, func(err error) {
			defer all.Done()
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	all.Add(1)
	db.CloseAsync(nil, func(err error) {
		defer all.Done()
		if err != nil {
			t.Error(err)
		}
	})
	all.Wait()
}

func TestUseAfterClose(t *testing.T) {
	db := filled(t)
	it, err := db.Scan(t.Context(), Range{}, nil)
	require.NoError(t, err)
	snapshot, err := db.Snapshot(t.Context())
	require.NoError(t, err)
	defer snapshot.Close()
	tx := beginTx(t, db, SnapshotIsolation)
	require.NoError(t, tx.Put(t.Context(), []byte("x"), nil, nil))
	require.NoError(t, db.Close(t.Context(), nil))

	require.Len(t, keysFrom(t, it, nil), 6) // an open iterator goes on
	_, _, err = snapshot.Get(t.Context(), []byte("a"), nil)
	require.ErrorIs(t, err, ErrClosed)
	_, err = tx.Commit(t.Context())
	require.ErrorIs(t, err, ErrClosed)
	var b Batch
	b.Put([]byte("k"), nil, nil)
	for name, f := range map[string]func() error{
		"put":      func() error { _, err := db.Put(t.Context(), []byte("k"), nil, nil); return err },
		"write":    func() error { _, err := db.Write(t.Context(), &b); return err },
		"get":      func() error { _, _, err := db.Get(t.Context(), []byte("k"), nil); return err },
		"scan":     func() error { _, err := db.Scan(t.Context(), Range{}, nil); return err },
		"flush":    func() error { return db.Flush(t.Context(), WAL) },
		"snapshot": func() error { _, err := db.Snapshot(t.Context()); return err },
		"begin":    func() error { _, err := db.Begin(t.Context(), Serializable); return err },
		"async": func() error {
			failed := make(chan error, 1)
			db.PutAsync([]byte("k"), nil, nil, func(_ uint64, err error) { failed <- err })
			return <-failed
		},
	} {
		var e *Error
		require.ErrorAs(t, f(), &e, name)
		require.Equal(t, KindClosed, e.Kind, name)
		require.Equal(t, ReasonClean, e.Reason, name)
	}
}

func TestObjectStoreCloses(t *testing.T) {
	objects, err := NewObjectStore(t.Context(), store.Memory())
	require.NoError(t, err)
	db, err := Open(t.Context(), objects, "db", nil)
	require.NoError(t, err)
	err = objects.Close(within(t, 1))
	require.ErrorIs(t, err, ErrAbandoned) // something is open
	_, err = Open(t.Context(), objects, "other", nil)
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, db.Close(t.Context(), nil))
	require.NoError(t, objects.Close(t.Context()))
	require.NoError(t, objects.Close(t.Context()))
	failed := make(chan error, 1)
	OpenAsync(objects, "db", nil, func(_ *DB, err error) { failed <- err })
	require.ErrorIs(t, <-failed, ErrClosed)
}
