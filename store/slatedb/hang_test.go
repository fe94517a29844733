package slatedb

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/internal/s3test"
)

// briefly is a wait that is given up.
const briefly = 50 * time.Millisecond

// impatient is a context for what is given up: its deadline comes so long after the
// operation has begun and waits.
func impatient(t testing.TB, d time.Duration) context.Context {
	ctx, expire := context.WithCancelCause(t.Context())
	t.Cleanup(func() { expire(nil) })
	return &deadlineOfWaits{ctx, sync.OnceFunc(func() {
		time.AfterFunc(d, func() { expire(context.DeadlineExceeded) })
	})}
}

// deadlineOfWaits is a context that begins to expire when somebody waits for its end.
type deadlineOfWaits struct {
	context.Context

	begin func()
}

func (c *deadlineOfWaits) Done() <-chan struct{} {
	c.begin()
	return c.Context.Done()
}

// faulty is a store that can be made to hang or to fail.
type faulty struct {
	server  *s3test.Server
	proxy   *s3test.Proxy
	objects *ObjectStore
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	server := s3test.Start(t, "bucket")
	proxy := s3test.NewProxy(t, server)
	f := &faulty{server, proxy, openStore(t, proxy.Store("bucket", ""))}
	t.Cleanup(proxy.Clear) // before the object store is closed
	return f
}

// hang holds requests until they are released.
func (f *faulty) hang(match s3test.Match) *s3test.Injection {
	return f.proxy.Inject(s3test.Rule{Match: match, Fault: s3test.HoldRequest})
}

func requireAbandoned(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, ErrAbandoned)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestFactAHangingStoreBlocksFlushesOnly(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	db := openDB(t, f.objects, "db", manual())
	f.hang(nil)
	seq := put(t, db, "k", "v")
	requireAbandoned(t, db.Flush(impatient(t, briefly), WAL))
	require.Equal(t, 1, f.objects.Abandoned())
	flushed := make(chan error, 1)
	db.FlushAsync(WAL, func(err error) { flushed <- err })
	put(t, db, "k", "w")
	require.Equal(t, "w", get(t, db, "k"))
	require.Equal(t, ReasonNone, db.Status().CloseReason)
	require.Less(t, db.Status().DurableSeq, seq)

	f.proxy.Clear()
	require.NoError(t, <-flushed)
	require.GreaterOrEqual(t, db.Status().DurableSeq, seq)
	eventually(t, "ended", func() bool { return f.objects.Abandoned() == 0 })
}

func TestFactAnAbandonedOpenIsClosedWhenItSucceeds(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	held := f.hang(nil)
	_, err := Open(impatient(t, briefly), f.objects, "db", nil)
	requireAbandoned(t, err)
	held.Await(t, 1)
	require.Equal(t, 1, f.objects.Abandoned())
	requireAbandoned(t, f.objects.Close(impatient(t, briefly)))

	f.proxy.Clear()
	require.NoError(t, f.objects.Close(t.Context()))
	require.Zero(t, f.objects.Abandoned())

	// What was opened late runs no more: nobody looks at the bucket.
	db := openDB(t, openStore(t, f.server.Store("bucket", "")), "db", nil)
	put(t, db, "k", "v")
	require.NoError(t, db.Close(t.Context(), nil))
}

func TestFactWrongCredentialsMakeOpenWaitForever(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	denied := f.proxy.Inject(s3test.Rule{Fault: s3test.Status(http.StatusForbidden, "AccessDenied")})
	_, err := Open(impatient(t, briefly), f.objects, "db", nil)
	requireAbandoned(t, err)
	denied.Await(t, 2)
	require.Equal(t, 1, f.objects.Abandoned())
	f.proxy.Clear()
	require.NoError(t, f.objects.Close(t.Context()))
}

func TestFactAnAbandonedCloseRunsOn(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	db := openDB(t, f.objects, "db", manual())
	seq := put(t, db, "k", "v")
	f.hang(s3test.On(http.MethodPut, ""))
	requireAbandoned(t, db.Close(impatient(t, briefly), nil))
	requireAbandoned(t, db.Close(impatient(t, briefly), nil))
	require.Equal(t, 1, f.objects.Abandoned())
	require.Less(t, db.Status().DurableSeq, seq)

	f.proxy.Clear()
	require.NoError(t, db.Close(t.Context(), nil))
	require.GreaterOrEqual(t, db.Status().DurableSeq, seq)
	require.Equal(t, ReasonClean, db.Status().CloseReason)
	require.Zero(t, f.objects.Abandoned())
}

func TestFactAnAbandonedCloseIsEndedByTheNextOpen(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	first := openDB(t, f.objects, "db", manual())
	durable := put(t, first, "durable", "v")
	require.NoError(t, first.Flush(t.Context(), WAL))
	lost := put(t, first, "lost", "v")
	f.proxy.Refuse()
	requireAbandoned(t, first.Close(impatient(t, briefly), nil))
	second := openDB(t, openStore(t, f.server.Store("bucket", "")), "db", nil)
	require.NoError(t, f.proxy.Accept())
	require.ErrorIs(t, first.Close(t.Context(), nil), ErrFenced)
	require.GreaterOrEqual(t, first.Status().DurableSeq, durable)
	require.Less(t, first.Status().DurableSeq, lost)
	require.Equal(t, []string{"durable"}, allKeys(t, second))
	require.NoError(t, second.Close(t.Context(), nil))
}

func TestFactAHangingReadOutlivesTheClose(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	o := manual()
	o.NoCache = true
	db := openDB(t, f.objects, "db", o)
	put(t, db, "k", "v")
	require.NoError(t, db.Flush(t.Context(), Memtable))
	require.NoError(t, db.Close(t.Context(), nil))
	db = openDB(t, f.objects, "db", o)
	held := f.hang(func(r s3test.Request) bool {
		return r.Method == http.MethodGet && strings.HasPrefix(r.Key, "db/compacted/") // no listing
	})
	_, _, err := db.Get(impatient(t, briefly), []byte("k"), nil)
	requireAbandoned(t, err)
	held.Await(t, 1)
	require.Equal(t, 1, f.objects.Abandoned())
	require.NoError(t, db.Close(t.Context(), &CloseOptions{SkipFlush: true}))
	require.Equal(t, 1, f.objects.Abandoned())
	f.proxy.Clear()
	eventually(t, "ended", func() bool { return f.objects.Abandoned() == 0 })
}

func TestFactBoundedRetriesEndTheDatabase(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	db := openDB(t, f.objects, "db", manual(map[string]any{"object_store_max_retries": 0}))
	durable := put(t, db, "durable", "v")
	require.NoError(t, db.Flush(t.Context(), WAL))
	lost := put(t, db, "lost", "v")
	f.proxy.Inject(s3test.Rule{Fault: s3test.Status(http.StatusForbidden, "AccessDenied")}) // any request may be the last
	require.Error(t, db.Flush(t.Context(), WAL))
	eventually(t, "dead", func() bool { return db.Status().CloseReason == ReasonPanic })
	_, err := db.Put(t.Context(), []byte("k"), nil, nil)
	require.Error(t, err)
	f.proxy.Clear()

	_, err = await(t.Context(), (*op).nothing, func(c *op) bool { return db.shutdown(c, nil) })
	require.NoError(t, err) // the engine's shutdown proves nothing
	require.ErrorIs(t, db.Close(t.Context(), nil), ErrClosed)
	require.Equal(t, ReasonPanic, db.Status().CloseReason)
	require.GreaterOrEqual(t, db.Status().DurableSeq, durable)
	require.Less(t, db.Status().DurableSeq, lost)
	db = openDB(t, f.objects, "db", nil)
	require.Equal(t, []string{"durable"}, allKeys(t, db))
	require.NoError(t, db.Close(t.Context(), nil))
}

func TestAsyncFormsNeverWait(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	db := openDB(t, f.objects, "db", manual())
	f.hang(nil)
	var all sync.WaitGroup
	begun := make(chan struct{})
	all.Add(210)
	go func() {
		defer close(begun)
		for i := range 100 {
			db.PutAsync([]byte("k"), []byte("v"), nil, func(uint64, error) { all.Done() })
			db.FlushAsync(WAL, func(error) { all.Done() })
			if i%10 == 0 {
				openAndCloseAsync(t, f.objects, fmt.Sprint("other", i), all.Done)
			}
		}
	}()
	select {
	case <-begun:
	case <-time.After(patience):
		t.Error("an asynchronous form waits for the store")
	}
	f.proxy.Clear()
	all.Wait()
}

func openAndCloseAsync(t *testing.T, s *ObjectStore, path string, done func()) {
	OpenAsync(s, path, nil, func(db *DB, err error) {
		if err != nil {
			t.Error(err)
			done()
			return
		}
		db.CloseAsync(&CloseOptions{SkipFlush: true}, func(error) { done() })
	})
}

func TestManyAbandonedOperationsEnd(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	db := openDB(t, f.objects, "db", manual())
	f.hang(nil)
	put(t, db, "k", "v")
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if err := db.Flush(impatient(t, briefly), WAL); err == nil {
				t.Error("a flush without a store")
			}
		})
	}
	all.Wait()
	require.Equal(t, 200, f.objects.Abandoned())
	f.proxy.Clear()
	eventually(t, "ended", func() bool { return f.objects.Abandoned() == 0 })
}

// The engine holds writes back while too much waits for the store. Writes that
// were given up then are applied before those that the same caller began later.
func TestAbandonedWritesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	db := openDB(t, f.objects, "db", manual(map[string]any{
		"l0_sst_size_bytes": 64 << 10, "max_unflushed_bytes": 128 << 10,
	}))
	f.hang(s3test.On(http.MethodPut, ""))
	const blocked = 20 // writes in a row that were given up
	value := func(i int) []byte { return fmt.Appendf(nil, "%010000d", i) }
	i := 0
	for gaveUp := 0; gaveUp < blocked; i++ {
		_, err := db.Put(impatient(t, briefly), []byte("k"), value(i), nil)
		if err != nil {
			requireAbandoned(t, err)
			gaveUp++
		}
		require.Less(t, i, 1000, "nothing holds the writes back")
	}
	done := make(chan error, 1)
	db.PutAsync([]byte("k"), value(i), nil, func(_ uint64, err error) { done <- err })

	f.proxy.Clear()
	require.NoError(t, <-done)
	require.Equal(t, string(value(i)), get(t, db, "k"))
	eventually(t, "ended", func() bool { return f.objects.Abandoned() == 0 })
	require.Equal(t, string(value(i)), get(t, db, "k"))
}
