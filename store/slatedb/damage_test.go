package slatedb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/store"
)

// damagedRows is how many rows each part of the damaged database has.
const damagedRows = 20

// stored makes a database with rows in a sorted table and then in the log, one
// object for each, and returns its directory.
func stored(t *testing.T) string {
	dir := t.TempDir()
	objects := openStore(t, store.Dir(dir))
	db := openDB(t, objects, "db", manual(map[string]any{"compactor_options": nil, "garbage_collector_options": nil}))
	for i := range damagedRows {
		put(t, db, fmt.Sprintf("table-%02d", i), "some value")
	}
	require.NoError(t, db.Flush(t.Context(), Memtable))
	for i := range damagedRows {
		put(t, db, fmt.Sprintf("log-%02d", i), "some value")
		require.NoError(t, db.Flush(t.Context(), WAL))
	}
	require.NoError(t, db.Close(t.Context(), &CloseOptions{SkipFlush: true}))
	return dir
}

// objectsOf are the files of one kind, in order.
func objectsOf(t *testing.T, dir, kind string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "db", kind, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	slices.Sort(files)
	return files
}

// The ways to damage a file.

func garbage(b []byte) []byte { return slices.Repeat([]byte("junk"), len(b)/4+1) }
func half(b []byte) []byte    { return b[:len(b)/2] }
func empty([]byte) []byte     { return nil }

func flipped(b []byte) []byte {
	b[8] ^= 0x40
	return b
}

func damage(t *testing.T, file string, how func([]byte) []byte) {
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	if how == nil {
		require.NoError(t, os.Remove(file))
		return
	}
	require.NoError(t, os.WriteFile(file, how(content), 0o600))
}

func last(files []string) []string   { return files[len(files)-1:] }
func middle(files []string) []string { return files[len(files)-damagedRows/2:][:1] }
func every(files []string) []string  { return files }

// classes are the kinds of an error, in words.
func classes(err error) string {
	if err == nil {
		return "nothing"
	}
	for _, c := range []struct {
		class error
		name  string
	}{
		{ErrFenced, "fenced"},
		{ErrClosed, "closed"},
		{ErrUnavailable, "unavailable"},
		{ErrInvalid, "invalid"},
		{ErrData, "data"},
		{ErrInternal, "internal"},
		{ErrAbandoned, "abandoned"},
	} {
		if errors.Is(err, c.class) {
			return c.name
		}
	}
	return err.Error()
}

func TestFactWhatDamageDoesToAnOpen(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		which      func([]string) []string
		how        func([]byte) []byte
		want       string // of the open
		rows       int    // that a scan finds; -1: it fails
	}{
		{"manifest garbage", "manifest", last, garbage, "data", 0},
		{"manifest half", "manifest", last, half, "internal", 0},
		{"manifests gone, log whole", "manifest", every, nil, "nothing", 2 * damagedRows}, // all read from the log
		{"log garbage", "wal", middle, garbage, "data", 0},
		{"log half", "wal", middle, half, "data", 0},
		{"log flipped", "wal", middle, flipped, "data", 0},
		{"log object gone", "wal", middle, nil, "data", 0},
		{"log object empty", "wal", middle, empty, "nothing", 2*damagedRows - 1}, // a row is lost without a word
		{"table flipped", "compacted", last, flipped, "nothing", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := stored(t)
			for _, file := range c.which(objectsOf(t, dir, c.kind)) {
				damage(t, file, c.how)
			}
			db, err := Open(t.Context(), openStore(t, store.Dir(dir)), "db", nil)
			require.Equal(t, c.want, classes(err), "%v", err)
			if err != nil {
				return
			}
			defer db.Close(t.Context(), &CloseOptions{SkipFlush: true})
			it, err := db.Scan(t.Context(), Range{}, nil)
			rows := 0
			if err == nil {
				defer it.Close()
				for ; it.Next(t.Context()); rows++ {
				}
				err = it.Err()
			}
			if c.rows < 0 {
				require.ErrorIs(t, err, ErrData)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.rows, rows)
		})
	}
}

// With unbounded retries a read of a table that was cut waits for the rest.
func TestFactAReadOfACutTableHangs(t *testing.T) {
	t.Parallel()
	dir := stored(t)
	file := last(objectsOf(t, dir, "compacted"))[0]
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	db := openDB(t, openStore(t, store.Dir(dir)), "db", nil)
	damage(t, file, half)
	_, _, err = db.Get(impatient(t, 10*briefly), []byte("table-01"), nil)
	requireAbandoned(t, err)
	require.NoError(t, os.WriteFile(file, whole, 0o600))
	require.Equal(t, "some value", get(t, db, "table-01"))
}
