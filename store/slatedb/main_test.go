package slatedb

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slap-go/slap/store"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(taskVariable); task != "" {
		os.Exit(tasks[task]())
	}
	if err := load(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// patience bounds what should take a moment, on a machine under load.
const patience = 60 * time.Second

// stress tells whether to run for long.
func stress() bool { return os.Getenv("SLAP_STRESS") == "1" }

func openStore(t testing.TB, s store.Store) *ObjectStore {
	t.Helper()
	o, err := NewObjectStore(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, o.Close(ctx))
		require.Zero(t, o.Abandoned())
	})
	return o
}

func openDB(t testing.TB, s *ObjectStore, path string, o *Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), s, path, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close(context.Background(), nil) })
	return db
}

func memoryDB(t testing.TB, o *Options) *DB {
	t.Helper()
	return openDB(t, openStore(t, store.Memory()), "db", o)
}

func manual(more ...map[string]any) *Options {
	settings := map[string]any{"flush_interval": nil}
	for _, m := range more {
		for k, v := range m {
			settings[k] = v
		}
	}
	return &Options{Settings: settings}
}

func put(t testing.TB, db *DB, key, value string) uint64 {
	t.Helper()
	seq, err := db.Put(t.Context(), []byte(key), []byte(value), nil)
	require.NoError(t, err)
	return seq
}

// A source is what can be read from.
type source interface {
	Get(ctx context.Context, key []byte, o *ReadOptions) ([]byte, bool, error)
	Scan(ctx context.Context, keys Range, o *ScanOptions) (*Iterator, error)
	ScanPrefix(ctx context.Context, prefix []byte, o *ScanOptions) (*Iterator, error)
}

// get is a key's value, or "-" for none.
func get(t testing.TB, s source, key string) string {
	t.Helper()
	value, ok, err := s.Get(t.Context(), []byte(key), nil)
	require.NoError(t, err)
	if !ok {
		return "-"
	}
	return string(value)
}

// keysFrom are the keys that an iterator gives.
func keysFrom(t testing.TB, it *Iterator, err error) []string {
	t.Helper()
	require.NoError(t, err)
	keys := []string{}
	for row, err := range it.All(t.Context()) {
		require.NoError(t, err)
		keys = append(keys, string(row.Key))
	}
	return keys
}

func allKeys(t testing.TB, s source) []string {
	t.Helper()
	it, err := s.Scan(t.Context(), Range{}, nil)
	return keysFrom(t, it, err)
}

// eventually polls until a condition holds.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("after %v: not %s", patience, what)
		}
		time.Sleep(time.Millisecond)
	}
}

// within is a context that ends soon.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// Some tests need a process of their own: this program again, with a task.
const taskVariable = "SLATEDB_TEST_TASK"

var tasks = map[string]func() int{
	"load": func() int {
		if err := load(); err != nil {
			fmt.Println(err)
			return 0
		}
		return 1
	},
}
