package slatedb

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/store"
)

func TestWritesAreReadBack(t *testing.T) {
	db := memoryDB(t, nil)
	first := put(t, db, "k", "v")
	require.Equal(t, "v", get(t, db, "k"))
	second, err := db.Delete(t.Context(), []byte("k"))
	require.NoError(t, err)
	require.Greater(t, second, first)
	require.Equal(t, "-", get(t, db, "k"))

	put(t, db, "empty", "")
	value, ok, err := db.Get(t.Context(), []byte("empty"), nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.NotNil(t, value)
	require.Empty(t, value)
}

func TestLargeValuesAndArbitraryKeys(t *testing.T) {
	db := memoryDB(t, nil)
	large := bytes.Repeat([]byte{0, 255, 7}, 3<<20)
	_, err := db.Put(t.Context(), []byte{0}, large, nil)
	require.NoError(t, err)
	value, ok, err := db.Get(t.Context(), []byte{0}, nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, bytes.Equal(large, value))

	long := bytes.Repeat([]byte("k"), 100_000)
	_, err = db.Put(t.Context(), long, []byte("long"), nil)
	require.NoError(t, err)
	require.Equal(t, "long", get(t, db, string(long)))
}

func TestBatchIsOneWrite(t *testing.T) {
	db := memoryDB(t, nil)
	put(t, db, "a", "old")
	var b Batch
	b.Put([]byte("b"), []byte("1"), nil)
	b.Put([]byte("b"), []byte("2"), nil)
	b.Delete([]byte("a"))
	b.Put([]byte("c"), nil, &WriteOptions{TTL: ExpireAfter(time.Hour)})
	require.Equal(t, 4, b.Len())
	for range 2 { // a batch may be written again
		seq, err := db.Write(t.Context(), &b)
		require.NoError(t, err)
		for _, key := range []string{"b", "c"} {
			row, err := db.GetRow(t.Context(), []byte(key), nil)
			require.NoError(t, err)
			require.Equal(t, seq, row.Seq)
		}
	}
	require.Equal(t, "2", get(t, db, "b"))
	require.Equal(t, []string{"b", "c"}, allKeys(t, db))

	b.Reset()
	_, err := db.Write(t.Context(), &b)
	require.ErrorIs(t, err, ErrInvalid)
	b.Put(nil, []byte("v"), nil)
	b.Put([]byte("k"), []byte("v"), nil)
	_, err = db.Write(t.Context(), &b)
	require.ErrorContains(t, err, "the key is empty")
	require.Equal(t, "-", get(t, db, "k"))
}

func TestTTLIsKeptWithTheRow(t *testing.T) {
	db := memoryDB(t, &Options{Settings: map[string]any{"default_ttl_millis": 3_600_000}})
	at := time.Now().Add(time.Minute).Truncate(time.Millisecond)
	for _, c := range []struct {
		key string
		ttl TTL
		in  time.Duration // 0: never
	}{
		{"default", TTL{}, time.Hour},
		{"never", NoExpiry(), 0},
		{"after", ExpireAfter(time.Minute), time.Minute},
	} {
		_, err := db.Put(t.Context(), []byte(c.key), nil, &WriteOptions{TTL: c.ttl})
		require.NoError(t, err)
		row, err := db.GetRow(t.Context(), []byte(c.key), nil)
		require.NoError(t, err)
		if c.in == 0 {
			require.True(t, row.ExpiresAt.IsZero(), c.key)
			continue
		}
		require.Equal(t, c.in, row.ExpiresAt.Sub(row.CreatedAt), c.key)
	}
	_, err := db.Put(t.Context(), []byte("at"), nil, &WriteOptions{TTL: ExpireAt(at)})
	require.NoError(t, err)
	row, err := db.GetRow(t.Context(), []byte("at"), nil)
	require.NoError(t, err)
	require.True(t, at.Equal(row.ExpiresAt))
}

// The engine drops expired rows when it writes tables, not when it reads.
func TestFactExpiredValuesAreReadUntilFlushed(t *testing.T) {
	db := memoryDB(t, nil)
	_, err := db.Put(t.Context(), []byte("k"), []byte("v"), &WriteOptions{TTL: ExpireAt(time.Now().Add(-time.Hour))})
	require.NoError(t, err)
	require.Equal(t, "v", get(t, db, "k"))
	require.NoError(t, db.Flush(t.Context(), Memtable))
	require.Equal(t, "-", get(t, db, "k"))
}

func TestFactWritesAreDurableOnceFlushed(t *testing.T) {
	db := memoryDB(t, manual())
	seq := put(t, db, "k", "v")
	require.Equal(t, "v", get(t, db, "k"))
	require.Less(t, db.Status().DurableSeq, seq)
	_, ok, err := db.Get(t.Context(), []byte("k"), &ReadOptions{Durability: Remote})
	require.NoError(t, err)
	require.False(t, ok)

	require.NoError(t, db.Flush(t.Context(), WAL))
	require.GreaterOrEqual(t, db.Status().DurableSeq, seq)
	_, ok, err = db.Get(t.Context(), []byte("k"), &ReadOptions{Durability: Remote})
	require.NoError(t, err)
	require.True(t, ok)
}

func TestFactTheEnginesTimerFlushes(t *testing.T) {
	db := memoryDB(t, &Options{Settings: map[string]any{"flush_interval": "5ms"}})
	seq := put(t, db, "k", "v")
	eventually(t, "durable", func() bool { return db.Status().DurableSeq >= seq })
}

func TestFactSequenceNumbersGoOnAfterReopen(t *testing.T) {
	for name, s := range map[string]store.Store{"memory": store.Memory(), "dir": store.Dir(t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			objects := openStore(t, s)
			var last uint64
			for range 3 {
				db := openDB(t, objects, "db", nil)
				seq := put(t, db, "k", "v")
				require.Greater(t, seq, last)
				last = seq
				require.NoError(t, db.Close(t.Context(), nil))
			}
		})
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	db := memoryDB(t, nil)
	ctx := t.Context()
	for name, f := range map[string]func() error{
		"put":    func() error { _, err := db.Put(ctx, nil, nil, nil); return err },
		"merge":  func() error { _, err := db.Merge(ctx, nil, nil, nil); return err },
		"delete": func() error { _, err := db.Delete(ctx, nil); return err },
		"get":    func() error { _, _, err := db.Get(ctx, nil, nil); return err },
		"row":    func() error { _, err := db.GetRow(ctx, nil, nil); return err },
		"scan": func() error {
			_, err := db.Scan(ctx, Range{Start: []byte("b"), End: []byte("a")}, nil)
			return err
		},
	} {
		require.ErrorIs(t, f(), ErrInvalid, name)
	}
	require.Equal(t, ReasonNone, db.Status().CloseReason)
}

// Writes that a goroutine begins without waiting are applied in that order, also
// while the engine makes writers wait for memory.
func TestAsyncWritesKeepTheirOrder(t *testing.T) {
	settings := map[string]any{
		"l0_sst_size_bytes": 64 << 10, "max_unflushed_bytes": 128 << 10, "flush_interval": "1ms",
		"l0_max_ssts": 1000, "l0_max_ssts_per_key": 1000,
	}
	for name, o := range map[string]*Options{"free": nil, "back-pressure": {Settings: settings}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 3000
			db := memoryDB(t, o)
			seqs := make([]uint64, n)
			var all sync.WaitGroup
			for i := range n {
				all.Add(1)
				value := fmt.Appendf(make([]byte, 0, 1024), "%1000d", i)
				done := func(seq uint64, err error) {
					defer all.Done()
					if err != nil {
						t.Error(err)
					}
					seqs[i] = seq
				}
				if i%3 == 2 {
					var b Batch
					b.Put([]byte("k"), value, nil)
					db.WriteAsync(&b, done)
					continue
				}
				db.PutAsync([]byte("k"), value, nil, done)
			}
			seq := put(t, db, "k", "last") // the blocking form keeps the order too
			all.Wait()
			require.Equal(t, "last", get(t, db, "k"))
			for i := 1; i < n; i++ {
				require.LessOrEqual(t, seqs[i-1], seqs[i])
			}
			require.LessOrEqual(t, seqs[n-1], seq)
		})
	}
}

func TestEachWriteOfAGroupHasItsOwnResult(t *testing.T) {
	db := memoryDB(t, nil) // no merge operator: merges fail
	var all sync.WaitGroup
	for i := range 300 {
		all.Add(1)
		key := fmt.Append(nil, "k", i)
		if i%10 == 5 {
			db.MergeAsync(key, []byte("x"), nil, func(_ uint64, err error) {
				defer all.Done()
				if err == nil {
					t.Error("a merge without an operator")
				}
			})
			continue
		}
		db.PutAsync(key, key, nil, func(_ uint64, err error) {
			defer all.Done()
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Len(t, allKeys(t, db), 270)
}
