//go:build unix

package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// keyDir is where the versions of the key are.
func keyDir(b *dirBucket, key string) string {
	return filepath.Join(b.path, dirBase, dirKeys, folderName(key))
}

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func putDir(t *testing.T, b *dirBucket, key, data string, c Condition) Version {
	t.Helper()
	v, err := b.Put(t.Context(), key, []byte(data), c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestP12_1_Layout(t *testing.T) {
	b := mustOpenDir(t, t.TempDir())
	var v Version
	for i := range 200 {
		v = putDir(t, b, "a/key", strconv.Itoa(i), Overwrite())
	}
	var want []string
	for n := 200 - keptVersions + 1; n <= 200; n++ {
		want = append(want, strconv.Itoa(n))
	}
	if got := fileNames(t, keyDir(b, "a/key")); !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
	if !strings.HasPrefix(string(v), "200-") {
		t.Errorf("the version is %q, want number and nonce", v)
	}
	if err := b.Delete(t.Context(), "a/key"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dirKeys, dirNew} {
		if got := fileNames(t, filepath.Join(b.path, dirBase, dir)); len(got) != 0 {
			t.Errorf("%s holds %q after the deletion", dir, got)
		}
	}
}

// The states that a kill can leave, made by hand.
func TestP12_1_UnfinishedWork(t *testing.T) {
	live := record{key: "key", nonce: "aa", data: []byte("data")}.encode()
	dead := record{key: "key", nonce: "bb", dead: true}.encode()
	tests := []struct {
		name  string
		files map[string][]byte
		data  string // empty: no object
	}{
		{"empty folder", nil, ""},
		{"folder with an unfinished file", map[string][]byte{"new-1": nil}, ""},
		{"unfinished file beside a version", map[string][]byte{"1": live, "new-1": live[:5]}, "data"},
		{"linked file that kept its first name", map[string][]byte{"1": live, "new-aa": live}, "data"},
		{"versions above the kept ones not removed", map[string][]byte{"1": dead, "2": dead, "90": live}, "data"},
		{"tombstone alone", map[string][]byte{"7": dead}, ""},
		{"tombstone not swept", map[string][]byte{"6": live, "7": dead, "new-1": live}, ""},
		{"files of others", map[string][]byte{".DS_Store": live, "07": live, "0": live, "7": dead}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := mustOpenDir(t, t.TempDir())
			makeFolder(t, b, test.files)
			o, err := b.Get(t.Context(), "key")
			if test.data == "" != errors.Is(err, ErrNotFound) || string(o.Data) != test.data {
				t.Fatalf("Get = %q, %v", o.Data, err)
			}
			entries, err := b.List(t.Context(), "")
			if err != nil || len(entries) != min(1, len(test.data)) {
				t.Fatalf("List = %v, %v", entries, err)
			}
			if _, err := b.Put(t.Context(), "key", nil, IfAbsent()); (err == nil) != (test.data == "") {
				t.Fatalf("Put if absent: %v", err)
			}
			putDir(t, b, "key", "next", Overwrite())
			if err := b.Delete(t.Context(), "key"); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(keyDir(b, "key")); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("the folder is still there: %v", err)
			}
			makeFolder(t, b, test.files)
			if err := b.Delete(t.Context(), "key"); err != nil {
				t.Fatal(err)
			}
			putDir(t, b, "key", "anew", IfAbsent())
		})
	}
}

func makeFolder(t *testing.T, b *dirBucket, files map[string][]byte) {
	t.Helper()
	if err := os.Mkdir(keyDir(b, "key"), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(keyDir(b, "key"), name), content, 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

// When a life is over, unfinished files go before any version: a version that
// cannot be removed shows how far the sweep came.
func TestP12_1_SweepOrder(t *testing.T) {
	b := mustOpenDir(t, t.TempDir())
	makeFolder(t, b, map[string][]byte{"9": record{key: "key", nonce: "bb", dead: true}.encode(), "new-1": nil})
	if err := os.MkdirAll(filepath.Join(keyDir(b, "key"), "5", "stuck"), 0o750); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Put(t.Context(), "key", nil, IfAbsent()); err == nil {
		t.Fatalf("Put = %s over a version that cannot be removed", v)
	}
	if got := fileNames(t, keyDir(b, "key")); !slices.Equal(got, []string{"5", "9"}) {
		t.Fatalf("the sweep left %q, want the version and those above it", got)
	}
}

// A deleter that slept through 200 versions neither deletes nor is told that it did.
func TestP12_1_SleptDeletion(t *testing.T) {
	h := newHerd(t)
	asleep, wake := make(chan struct{}), make(chan struct{})
	sleeper, err := openDirBucket(h.dir, rand.Reader, sleepingLink(asleep, wake))
	if err != nil {
		t.Fatal(err)
	}
	defer sleeper.Close()
	result := make(chan error)
	go func() { result <- sleeper.Delete(t.Context(), "counter") }()
	<-asleep
	for range 200 {
		mustIncrement(t, h.bucket)
	}
	close(wake)
	if err := <-result; !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("the sleeper got %v, want ErrUnknownOutcome", err)
	}
	if value := h.value(); value != 200 {
		t.Errorf("the counter is %d after 200 updates", value)
	}
}

// A file that a power loss left shorter than it was written can be replaced.
func TestDirDamagedVersion(t *testing.T) {
	long := strings.Repeat("long/", 60) + "key"
	for _, key := range []string{"key", long} {
		for _, size := range []int64{0, 3, 40} {
			b := mustOpenDir(t, t.TempDir())
			putDir(t, b, key, strings.Repeat("data", 500), Overwrite())
			v := putDir(t, b, key, strings.Repeat("data", 500), Overwrite())
			file := filepath.Join(keyDir(b, key), "2")
			if err := os.Truncate(file, size); err != nil {
				t.Fatal(err)
			}
			o, err := b.Get(t.Context(), key)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), file) || o.Version == "" || o.Version == v {
				t.Errorf("Get of a damaged object: version %q, %v, want ErrDamaged with the file's name and a version of its own", o.Version, err)
			}
			if _, err := b.Put(t.Context(), key, nil, IfMatch(v)); !errors.Is(err, ErrConflict) {
				t.Errorf("Put on the version before the damage: %v", err)
			}
			if key != long {
				entries, err := b.List(t.Context(), "")
				if err != nil || len(entries) != 1 {
					t.Fatalf("List = %v, %v", entries, err)
				}
				putDir(t, b, key, "whole again", IfMatch(entries[0].Version))
			}
			putDir(t, b, key, "again", Overwrite())
			if err := b.Delete(t.Context(), key); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestDirLeftovers(t *testing.T) {
	dir := t.TempDir()
	b := mustOpenDir(t, dir)
	putDir(t, b, "key", "1", IfAbsent())
	old := time.Now().Add(-2 * leftoverAge)
	inKey := func(name string) string { return filepath.Join(keyDir(b, "key"), name) }
	inNew := func(name string) string { return filepath.Join(dir, dirBase, dirNew, name) }
	for _, name := range []string{inKey("new-old"), inKey("new-young"), inKey("foreign-old")} {
		mustWrite(t, name, strings.HasSuffix(name, "old"), old)
	}
	for _, name := range []string{inNew("old"), inNew("old2" + goneSuffix), inNew("young")} {
		if err := os.Mkdir(name, 0o750); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, filepath.Join(name, "1"), false, old)
		if !strings.HasSuffix(name, "young") {
			if err := os.Chtimes(name, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	putDir(t, b, "key", "2", Overwrite())
	if got, want := fileNames(t, keyDir(b, "key")), []string{"1", "2", "foreign-old", "new-young"}; !slices.Equal(got, want) {
		t.Errorf("after a write the folder holds %q, want %q", got, want)
	}
	mustOpenDir(t, dir)
	if got, want := fileNames(t, inNew("")), []string{"young"}; !slices.Equal(got, want) {
		t.Errorf("after an open there are %q, want %q", got, want)
	}
}

func mustWrite(t *testing.T, name string, aged bool, at time.Time) {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if aged {
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// The engine's folders and ours lie side by side.
func TestDirBesideTheEngine(t *testing.T) {
	b := mustOpenDir(t, t.TempDir())
	engine := filepath.Join(b.path, "shard-007", "manifest")
	if err := os.MkdirAll(engine, 0o750); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, filepath.Join(engine, "1"), false, time.Time{})
	key := "shard-007/manifest/1"
	if _, err := b.Get(t.Context(), key); !errors.Is(err, ErrNotFound) {
		t.Errorf("the engine's file is an object: %v", err)
	}
	putDir(t, b, key, "ours", IfAbsent())
	if err := b.Delete(t.Context(), key); err != nil {
		t.Error(err)
	}
	if got := fileNames(t, b.path); !slices.Equal(got, []string{dirBase, "shard-007"}) {
		t.Errorf("the directory holds %q", got)
	}
	if got := fileNames(t, engine); !slices.Equal(got, []string{"1"}) {
		t.Errorf("the engine's folder holds %q", got)
	}
	if entries, err := b.List(t.Context(), ""); err != nil || len(entries) != 0 {
		t.Errorf("List = %v, %v", entries, err)
	}
}

func TestDirListIsFast(t *testing.T) {
	b := mustOpenDir(t, t.TempDir())
	for i := range 1_000 {
		putDir(t, b, fmt.Sprintf("leases/%04d", i), "lease", Overwrite())
	}
	best := time.Hour // of several listings: the disk may be busy with something else
	for range 5 {
		start := time.Now()
		entries, err := b.List(t.Context(), "leases/")
		best = min(best, time.Since(start))
		if err != nil || len(entries) != 1_000 {
			t.Fatalf("List: %d entries, %v", len(entries), err)
		}
	}
	t.Logf("1,000 keys listed in %v", best)
	if best > 2*time.Second {
		t.Errorf("listing 1,000 keys took %v", best)
	}
}

// Goroutines that create, replace, delete and read the same few keys: every
// answer must be one that the contract knows.
func TestDirChurn(t *testing.T) {
	rounds := 300
	if stress {
		rounds = 20_000
	}
	dir := t.TempDir()
	var group sync.WaitGroup
	for w := range 8 {
		b := mustOpenDir(t, dir)
		group.Go(func() {
			for i := range rounds {
				if err := churn(t, b, fmt.Sprint("key", i%3), (w+i)%5); err != nil {
					t.Errorf("operation %d: %v", (w+i)%5, err)
					return
				}
			}
		})
	}
	group.Wait()
	if left := fileNames(t, filepath.Join(dir, dirBase, dirNew)); len(left) != 0 {
		t.Errorf("unfinished work is left: %q", left)
	}
}

func churn(t *testing.T, b *dirBucket, key string, operation int) (err error) {
	ctx := t.Context()
	switch operation {
	case 0:
		_, err = b.Put(ctx, key, []byte("created"), IfAbsent())
	case 1:
		_, err = b.Put(ctx, key, []byte("replaced"), Overwrite())
	case 2:
		err = b.Delete(ctx, key)
	case 3:
		_, err = b.List(ctx, "key")
	default:
		var o Object
		if o, err = b.Get(ctx, key); err == nil {
			_, err = b.Put(ctx, key, append(o.Data, '.'), IfMatch(o.Version))
		}
	}
	for _, known := range []error{ErrNotFound, ErrConflict, ErrUnknownOutcome} {
		if errors.Is(err, known) {
			return nil
		}
	}
	return err
}
