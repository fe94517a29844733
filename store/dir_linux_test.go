package store

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mount mounts a file system for the test, or skips it where that is not allowed.
func mount(t *testing.T, source, kind string, flags uintptr, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount(source, dir, kind, flags, options); err != nil {
		t.Skipf("mounting is not allowed here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

func mustSay(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, want := range words {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func TestDirReadOnlyMount(t *testing.T) {
	dir := mount(t, "tmpfs", "tmpfs", syscall.MS_RDONLY, "")
	_, err := newDirBucket(dir, rand.Reader)
	mustSay(t, err, dir, "read-only")
	if !errors.Is(err, syscall.EROFS) {
		t.Errorf("the system's error is not in %v", err)
	}
}

func TestDirDiskFull(t *testing.T) {
	dir := mount(t, "tmpfs", "tmpfs", 0, "size=64k")
	b := mustOpenDir(t, dir)
	v := putDir(t, b, "key", "data", IfAbsent())
	filler := make([]byte, 4096)
	var err error
	for err == nil {
		_, err = b.Put(t.Context(), "filler/"+rand.Text(), filler, IfAbsent())
	}
	mustSay(t, err, dir, "disk is full")
	_, err = b.Put(t.Context(), "key", filler, IfMatch(v))
	mustSay(t, err, dir, "disk is full")
	if o, err := b.Get(t.Context(), "key"); err != nil || string(o.Data) != "data" || o.Version != v {
		t.Errorf("Get on a full disk = %q %s, %v", o.Data, o.Version, err)
	}
	entries, err := b.List(t.Context(), "filler/")
	if err != nil || len(entries) == 0 {
		t.Fatalf("List on a full disk: %v, %v", entries, err)
	}
	if err := os.RemoveAll(keyDir(b, entries[0].Key)); err != nil {
		t.Fatal(err)
	}
	putDir(t, b, "key", "space again", IfMatch(v))
	_, err = newDirBucket(mount(t, "tmpfs", "tmpfs", 0, "nr_inodes=2"), rand.Reader)
	mustSay(t, err, "disk is full")
}

// A process of a user that may not write there; root ignores modes.
func TestDirNotPermitted(t *testing.T) {
	if os.Getuid() != 0 {
		dir := filepath.Join(t.TempDir(), "store")
		if err := os.Mkdir(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		_, err := newDirBucket(dir, rand.Reader)
		mustSay(t, err, dir, "may not read and write")
		return
	}
	dir := t.TempDir()
	for parent := dir; parent != "/"; parent = filepath.Dir(parent) {
		if info, err := os.Stat(parent); err == nil && parent != os.TempDir() {
			_ = os.Chmod(parent, info.Mode().Perm()|0o055)
		}
	}
	var said []event
	_, ended := startChild(t, "unprivileged", dir, 0, func(e event) { said = append(said, e) })
	<-ended
	if len(said) != 1 || said[0].word != "error" {
		t.Fatalf("a process of user nobody reported %v", said)
	}
	mustSay(t, errors.New(said[0].text), dir, "may not read and write")
}
