package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// dirBucket is a [Bucket] in a local directory that several processes share. It
// takes no lock, since a lock could be held by a process that is stopped.
//
// Its files are below a folder whose name no engine path can have, because the
// engine's paths encode "#":
//
//	#bucket/keys/KEY/1, 2, …   a key's versions; the highest number is current
//	#bucket/keys/KEY/new-…     a version that is being written
//	#bucket/new/…              first versions of keys that are being created
type dirBucket struct {
	path   string
	base   *os.Root // of the "#bucket" folder
	random io.Reader
	link   linker
	closed atomic.Bool
}

// linker makes a hard link that must not exist yet. It is (*os.Root).Link.
type linker func(root *os.Root, from, to string) error

const (
	dirBase = "#bucket"
	dirKeys = "keys"
	dirNew  = "new"
)

var _ Bucket = (*dirBucket)(nil)

func (b *dirBucket) Get(ctx context.Context, key string) (Object, error) {
	if err := b.check(ctx, key); err != nil {
		return Object{}, err
	}
	f, err := b.open(folderName(key))
	if err != nil {
		return Object{}, b.missing(err)
	}
	defer f.close()
	h, _, err := f.current(ctx, false)
	switch {
	case err != nil:
		return Object{}, dirError(b.path, err)
	case !h.live():
		return Object{}, ErrNotFound
	case h.damaged:
		return Object{Version: h.version()}, fmt.Errorf("%w: version %d of %q: overwrite or delete the object, or remove the file %s",
			ErrDamaged, h.number, key, filepath.Join(b.path, dirBase, dirKeys, folderName(key), versionName(h.number)))
	}
	return Object{Data: h.data, Version: h.version()}, nil
}

func (b *dirBucket) Put(ctx context.Context, key string, data []byte, c Condition) (Version, error) {
	return b.write(ctx, record{key: key, data: data}, c)
}

func (b *dirBucket) Delete(ctx context.Context, key string) error {
	_, err := b.write(ctx, record{key: key, dead: true}, Overwrite())
	return err
}

func (b *dirBucket) List(ctx context.Context, prefix string) ([]Entry, error) {
	if err := b.usable(ctx); err != nil {
		return nil, err
	}
	names, err := readNames(b.base, dirKeys)
	if err != nil {
		return nil, dirError(b.path, err)
	}
	var entries []Entry
	for _, name := range names {
		if key, ok := keyOfName(name); !cutName(name) && (!ok || !strings.HasPrefix(key, prefix)) {
			continue
		}
		e, live, err := b.entry(ctx, name)
		if err != nil {
			return nil, dirError(b.path, err)
		}
		if live && strings.HasPrefix(e.Key, prefix) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, byKey)
	return entries, nil
}

// entry is the line of a listing for the key folder of that name.
func (b *dirBucket) entry(ctx context.Context, name string) (e Entry, live bool, err error) {
	f, err := b.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, err
	}
	defer f.close()
	h, _, err := f.current(ctx, true)
	key := h.key
	if whole, ok := keyOfName(name); ok {
		key = whole // also when the record is damaged
	}
	return Entry{Key: key, Version: h.version(), Modified: h.modified}, err == nil && h.live() && key != "", err
}

// Close ends the use of the directory. Nothing runs in the background.
func (b *dirBucket) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.base.Close()
}

func (b *dirBucket) open(name string) (folder, error) {
	root, err := b.base.OpenRoot(dirKeys + "/" + name)
	return folder{root: root}, err
}

// missing turns the error of opening a key's folder into the caller's. A folder
// that is not there means that the key has no object, unless all are gone.
func (b *dirBucket) missing(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return dirError(b.path, err)
	}
	if gone := b.gone(); gone != nil {
		return dirError(b.path, gone)
	}
	return ErrNotFound
}

// gone is the error of a store whose files were removed.
func (b *dirBucket) gone() error {
	for _, dir := range []string{dirKeys, dirNew} {
		if _, err := b.base.Lstat(dir); err != nil {
			return err
		}
	}
	return nil
}

func (b *dirBucket) nonce() (string, error) {
	n := make([]byte, 12)
	if err := readRandom(b.random, n); err != nil {
		return "", err
	}
	return hex.EncodeToString(n), nil
}

func (b *dirBucket) check(ctx context.Context, key string) error {
	if err := b.usable(ctx); err != nil {
		return err
	}
	return CheckKey(key)
}

func (b *dirBucket) usable(ctx context.Context) error {
	if b.closed.Load() {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
