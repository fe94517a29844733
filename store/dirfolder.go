package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slap-go/slap/internal/clock"
)

// folder is one life of a key: from its creation with version 1 to the tombstone
// that ends it. It is reached through the open directory, not through its path,
// so that a process that slept meanwhile can never touch a later life.
type folder struct {
	root *os.Root
}

// keptVersions is how many of the newest versions stay. A writer or reader that
// is overtaken by more than that notices and starts again or gives up.
const keptVersions = 64

// tempPrefix begins the names of versions that have no number yet.
const tempPrefix = "new-"

// leftoverAge is the age from which an unfinished file is taken for one of a
// killed process. A writer that was only stopped finds it gone and starts again.
const leftoverAge = time.Hour

// contents is what a folder held at one moment.
type contents struct {
	versions []uint64 // ascending
	others   []string // unfinished files, and any that are not ours
}

func (c contents) newest() uint64 {
	if len(c.versions) == 0 {
		return 0
	}
	return c.versions[len(c.versions)-1]
}

// head is the current version of a key. Number 0 means that there is none.
type head struct {
	record
	number uint64
}

// live tells whether the key has an object.
func (h head) live() bool { return h.number > 0 && !h.dead }

func (h head) version() Version { return versionOf(h.number, h.nonce) }

func versionOf(number uint64, nonce string) Version {
	return Version(strconv.FormatUint(number, 10) + "-" + nonce)
}

// read lists the folder once. What was there before it began and is still there
// when it ends is in it. A folder that was removed is empty.
func (f folder) read() (contents, error) {
	var c contents
	names, err := readNames(f.root, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	for _, name := range names {
		if n, ok := versionNumber(name); ok {
			c.versions = append(c.versions, n)
		} else {
			c.others = append(c.others, name)
		}
	}
	slices.Sort(c.versions)
	return c, nil
}

func readNames(root *os.Root, dir string) ([]string, error) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	return d.Readdirnames(-1)
}

func versionName(n uint64) string { return strconv.FormatUint(n, 10) }

func versionNumber(name string) (uint64, bool) {
	n, err := strconv.ParseUint(name, 10, 64)
	return n, err == nil && n > 0 && versionName(n) == name
}

// current reads the highest version. Removal goes from the lowest up, so a
// version that could be opened was the highest when the listing began or is newer.
func (f folder) current(ctx context.Context, headOnly bool) (head, contents, error) {
	for {
		if ctx.Err() != nil {
			return head{}, contents{}, context.Cause(ctx)
		}
		c, err := f.read()
		if err != nil || c.newest() == 0 {
			return head{}, c, err
		}
		r, err := f.record(c.newest(), headOnly)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return head{record: r, number: c.newest()}, c, err
	}
}

func (f folder) record(n uint64, headOnly bool) (record, error) {
	file, err := f.root.Open(versionName(n))
	if err != nil {
		return record{}, err
	}
	defer func() { _ = file.Close() }()
	return readRecord(file, headOnly)
}

// still tells whether the version is there with the nonce that was read. It is
// false for a number that was removed and created again by a writer that slept.
func (f folder) still(h head) bool {
	r, err := f.record(h.number, true)
	return err == nil && r.nonce == h.nonce
}

// trim removes the versions that newest pushes out, the lowest first, and
// unfinished files of killed processes. It stops at a version that it cannot
// remove: a higher one must not go before a lower one.
func (f folder) trim(c contents, newest uint64) {
	for _, n := range c.versions {
		if n+keptVersions > newest || f.remove(versionName(n)) != nil {
			break
		}
	}
	for _, name := range c.others {
		if !strings.HasPrefix(name, tempPrefix) {
			continue
		}
		if info, err := f.root.Lstat(name); err == nil && clock.Since(info.ModTime()) > leftoverAge {
			_ = f.remove(name)
		}
	}
}

// sweep empties a folder whose life is over. Other files go first, so that a
// writer that slept since before the end has nothing left to link. Only then are
// the versions listed that go: none is added any more. The tombstone is the last,
// so that the folder never looks alive again.
func (f folder) sweep() error {
	c, err := f.read()
	if err != nil {
		return err
	}
	for _, name := range c.others {
		if err := f.remove(name); err != nil {
			return err
		}
	}
	if c, err = f.read(); err != nil {
		return err
	}
	for _, n := range c.versions {
		if err := f.remove(versionName(n)); err != nil {
			return err
		}
	}
	return nil
}

func (f folder) remove(name string) error {
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove version: %w", err)
	}
	return nil
}

func (f folder) close() { _ = f.root.Close() }
