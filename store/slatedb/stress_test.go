package slatedb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/store"
)

// A crowd is many goroutines that do everything to one database, which is closed,
// fenced and opened again under them.
type crowd struct {
	t       *testing.T
	objects *ObjectStore
	db      atomic.Pointer[DB]
	async   sync.WaitGroup
	done    atomic.Int64
}

const crowdKeys = 200

func (c *crowd) key(r *rand.Rand) []byte { return fmt.Appendf(nil, "key-%03d", r.IntN(crowdKeys)) }

// value is a value that belongs to its key.
func crowdValue(key []byte, r *rand.Rand) []byte {
	return append(append(key[:len(key):len(key)], '='), strings.Repeat("v", r.IntN(300))...)
}

// check fails on an error that nothing explains.
func (c *crowd) check(what string, err error) {
	c.done.Add(1)
	for _, expected := range []error{nil, ErrClosed, ErrConflict, ErrAbandoned, context.DeadlineExceeded} {
		if errors.Is(err, expected) {
			return
		}
	}
	c.t.Errorf("%s: %v", what, err)
}

func (c *crowd) checkRow(what string, key, value []byte) {
	if value != nil && !strings.HasPrefix(string(value), string(key)+"=") {
		c.t.Errorf("%s: %q has the value %q", what, key, value)
	}
}

// ctx sometimes ends before the operation does.
func (c *crowd) ctx(r *rand.Rand) (context.Context, context.CancelFunc) {
	if r.IntN(10) == 0 {
		return context.WithTimeout(c.t.Context(), time.Duration(r.IntN(200))*time.Microsecond)
	}
	return context.WithCancel(c.t.Context())
}

var crowdOperations = []func(*crowd, context.Context, *DB, *rand.Rand){
	(*crowd).put, (*crowd).put, (*crowd).get, (*crowd).get, (*crowd).get, (*crowd).delete, (*crowd).write,
	(*crowd).merge, (*crowd).scan, (*crowd).snapshot, (*crowd).transact, (*crowd).flush, (*crowd).putAsync,
	(*crowd).getAsync, (*crowd).scanAsync, (*crowd).read, (*crowd).administer,
}

func (c *crowd) put(ctx context.Context, db *DB, r *rand.Rand) {
	key := c.key(r)
	_, err := db.Put(ctx, key, crowdValue(key, r), &WriteOptions{TTL: ExpireAfter(time.Hour)})
	c.check("put", err)
}

func (c *crowd) get(ctx context.Context, db *DB, r *rand.Rand) {
	key := c.key(r)
	value, _, err := db.Get(ctx, key, nil)
	c.check("get", err)
	c.checkRow("get", key, value)
	row, err := db.GetRow(ctx, key, &ReadOptions{Durability: Remote})
	c.check("get row", err)
	if row != nil {
		c.checkRow("get row", key, row.Value)
	}
}

func (c *crowd) delete(ctx context.Context, db *DB, r *rand.Rand) {
	_, err := db.Delete(ctx, c.key(r))
	c.check("delete", err)
}

func (c *crowd) write(ctx context.Context, db *DB, r *rand.Rand) {
	var b Batch
	for range r.IntN(20) + 1 {
		key := c.key(r)
		b.Put(key, crowdValue(key, r), nil)
	}
	b.Delete(c.key(r))
	_, err := db.Write(ctx, &b)
	c.check("write", err)
}

func (c *crowd) merge(ctx context.Context, db *DB, r *rand.Rand) {
	key := c.key(r)
	_, err := db.Merge(ctx, key, crowdValue(key, r), nil)
	c.check("merge", err)
}

func (c *crowd) scan(ctx context.Context, db *DB, r *rand.Rand) {
	it, err := db.Scan(ctx, Range{Start: c.key(r)}, &ScanOptions{Order: Order(r.IntN(2))})
	c.check("scan", err)
	if err == nil {
		c.walk(ctx, it, r)
	}
}

func (c *crowd) walk(ctx context.Context, it *Iterator, r *rand.Rand) {
	defer it.Close()
	for n := r.IntN(50); n > 0 && it.Next(ctx); n-- {
		c.checkRow("scan", it.Row().Key, it.Row().Value)
	}
	c.check("next", it.Err())
	if it.order == Ascending && it.Err() == nil {
		if err := it.Seek(ctx, []byte("key-150")); !errors.Is(err, ErrInvalid) {
			c.check("seek", err)
		}
	}
}

func (c *crowd) snapshot(ctx context.Context, db *DB, r *rand.Rand) {
	s, err := db.Snapshot(ctx)
	c.check("snapshot", err)
	if err != nil {
		return
	}
	defer s.Close()
	key := c.key(r)
	first, _, err := s.Get(ctx, key, nil)
	c.check("get from snapshot", err)
	if err != nil {
		return
	}
	second, _, err := s.Get(ctx, key, nil)
	c.check("get from snapshot", err)
	if err == nil && string(first) != string(second) {
		c.t.Errorf("a snapshot changed: %q, %q", first, second)
	}
}

func (c *crowd) transact(ctx context.Context, db *DB, r *rand.Rand) {
	tx, err := db.Begin(ctx, Isolation(r.IntN(2)))
	c.check("begin", err)
	if err != nil {
		return
	}
	defer func() { c.check("rollback", tx.Rollback(c.t.Context())) }()
	key := c.key(r)
	value, _, err := tx.Get(ctx, key, nil)
	c.check("get in transaction", err)
	c.checkRow("get in transaction", key, value)
	c.check("put in transaction", tx.Put(ctx, key, crowdValue(key, r), nil))
	if r.IntN(3) > 0 {
		_, err = tx.Commit(ctx)
		c.check("commit", err)
	}
}

func (c *crowd) flush(ctx context.Context, db *DB, r *rand.Rand) {
	if r.IntN(20) > 0 {
		return
	}
	kind := WAL
	if r.IntN(20) == 0 {
		kind = Memtable
	}
	c.check("flush", db.Flush(ctx, kind))
	_ = db.Status()
}

func (c *crowd) putAsync(_ context.Context, db *DB, r *rand.Rand) {
	for range 16 {
		key := c.key(r)
		c.async.Add(1)
		db.PutAsync(key, crowdValue(key, r), nil, func(_ uint64, err error) {
			c.check("put async", err)
			c.async.Done()
		})
	}
}

func (c *crowd) getAsync(_ context.Context, db *DB, r *rand.Rand) {
	for range 16 {
		key := c.key(r)
		c.async.Add(1)
		db.GetAsync(key, nil, func(value []byte, _ bool, err error) {
			c.check("get async", err)
			c.checkRow("get async", key, value)
			c.async.Done()
		})
	}
}

func (c *crowd) scanAsync(_ context.Context, db *DB, _ *rand.Rand) {
	c.async.Add(1)
	db.ScanPrefixAsync([]byte("key-1"), nil, func(it *Iterator, err error) {
		c.check("scan async", err)
		if err != nil {
			c.async.Done()
			return
		}
		it.NextBatchAsync(10, func(rows []Row, err error) {
			defer c.async.Done()
			defer it.Close()
			c.check("next async", err)
			for _, row := range rows {
				c.checkRow("scan async", row.Key, row.Value)
			}
		})
	})
}

func (c *crowd) read(ctx context.Context, _ *DB, r *rand.Rand) {
	if r.IntN(50) > 0 {
		return
	}
	reader, err := OpenReader(ctx, c.objects, "db", &ReaderOptions{MergeOperator: crowdMerge})
	c.check("open reader", err)
	if err != nil {
		return
	}
	defer func() { c.check("close reader", reader.Close(c.t.Context())) }()
	it, err := reader.Scan(ctx, Range{}, nil)
	c.check("scan of reader", err)
	if err == nil {
		c.walk(ctx, it, r)
	}
}

func (c *crowd) administer(ctx context.Context, _ *DB, r *rand.Rand) {
	if r.IntN(50) > 0 {
		return
	}
	admin, err := OpenAdmin(c.objects, "db")
	c.check("open admin", err)
	if err != nil {
		return
	}
	defer admin.Close()
	_, err = admin.Manifest(ctx, 0)
	c.check("manifest", err)
	_, err = admin.Checkpoints(ctx, "")
	c.check("checkpoints", err)
}

// crowdMerge keeps the last operand.
func crowdMerge(_, _, operand []byte) ([]byte, error) { return append([]byte(nil), operand...), nil }

// open opens the database again, at times while it is still open.
func (c *crowd) open() {
	db, err := Open(c.t.Context(), c.objects, "db", &Options{
		Settings:      map[string]any{"flush_interval": "5ms", "manifest_poll_interval": "50ms"},
		MergeOperator: crowdMerge,
	})
	if err != nil {
		c.t.Error("open", err)
		return
	}
	if old := c.db.Swap(db); old != nil {
		c.check("close", old.Close(c.t.Context(), nil))
	}
}

// reopen ends the database in one of three ways.
func (c *crowd) reopen(r *rand.Rand) {
	if db := c.db.Load(); r.IntN(3) > 0 {
		c.check("close", db.Close(c.t.Context(), &CloseOptions{SkipFlush: r.IntN(2) == 0}))
	}
	c.open()
}

func TestManyGoroutinesDoEverything(t *testing.T) {
	span := 2 * time.Second
	if stress() {
		span = time.Minute
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := &crowd{t: t, objects: openStore(t, store.Memory())}
	c.open()
	end := time.Now().Add(span)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for time.Now().Before(end) && !t.Failed() {
				ctx, cancel := c.ctx(r)
				crowdOperations[r.IntN(len(crowdOperations))](c, ctx, c.db.Load(), r)
				cancel()
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, 1000))
	for time.Now().Before(end) && !t.Failed() {
		time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
		c.reopen(r)
	}
	all.Wait()
	c.async.Wait()
	require.NoError(t, c.db.Load().Close(t.Context(), nil))
	t.Logf("%d operations", c.done.Load())
}
