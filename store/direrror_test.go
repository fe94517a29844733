//go:build unix

package store

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDirErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	mustWrite(t, file, false, time.Time{})
	open := func(path string, link linker) error {
		b, err := openDirBucket(path, rand.Reader, link)
		if err == nil {
			_ = b.Close()
		}
		return err
	}
	failing := func(err error) linker {
		return func(_ *os.Root, from, to string) error {
			return &os.LinkError{Op: "linkat", Old: from, New: to, Err: err}
		}
	}
	dir := t.TempDir()
	tests := []struct {
		name string
		err  error
		want []string
	}{
		{"a file", open(file, (*os.Root).Link), []string{file, "not a directory"}},
		{"below a file", open(file+"/dir", (*os.Root).Link), []string{file + "/dir", "not a directory"}},
		{"no links (FAT)", open(dir, failing(syscall.EPERM)), []string{dir, "no hard links"}},
		{"no links (FUSE)", open(dir, failing(syscall.ENOSYS)), []string{dir, "no hard links"}},
		{"disk full at the link", open(dir, failing(syscall.ENOSPC)), []string{dir, "disk is full"}},
		{"too many open files", open(dir, failing(syscall.EMFILE)), []string{dir, "too many files"}},
	}
	for _, test := range tests {
		for _, want := range test.want {
			if test.err == nil || !strings.Contains(test.err.Error(), want) || strings.Contains(test.err.Error(), "\n") {
				t.Errorf("%s: error %v does not say %q", test.name, test.err, want)
			}
		}
	}
	if left := fileNames(t, filepath.Join(dir, dirBase, dirNew)); len(left) != 0 {
		t.Errorf("failed opens left %q", left)
	}
}

func TestDirRemovedWhileInUse(t *testing.T) {
	for _, below := range []string{"", dirBase, dirBase + "/" + dirKeys, dirBase + "/" + dirNew} {
		dir := filepath.Join(t.TempDir(), "store")
		b := mustOpenDir(t, dir)
		putDir(t, b, "key", "data", IfAbsent())
		if err := os.RemoveAll(filepath.Join(dir, below)); err != nil {
			t.Fatal(err)
		}
		_, getErr := b.Get(t.Context(), "other")
		_, putErr := b.Put(t.Context(), "other", nil, IfAbsent())
		for _, err := range []error{getErr, putErr} {
			if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "removed") {
				t.Errorf("without %q: %v", below, err)
			}
		}
	}
}
