package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slap-go/slap/internal/clock"
)

// newDirBucket opens the directory, which it creates if it is missing, and checks
// that it can be written and has hard links. Nonces are read from random, or from
// the system if that is nil.
func newDirBucket(path string, random io.Reader) (*dirBucket, error) {
	return openDirBucket(path, random, (*os.Root).Link)
}

func openDirBucket(path string, random io.Reader, link linker) (*dirBucket, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("directory store %s: %w", path, err)
	}
	b := &dirBucket{path: abs, random: random, link: link}
	if b.base, err = openBase(abs); err != nil {
		return nil, dirError(abs, err)
	}
	if err := b.tryLink(); err != nil {
		_ = b.base.Close()
		return nil, dirError(abs, err)
	}
	b.removeLeftovers()
	return b, nil
}

func openBase(path string) (*os.Root, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	for _, dir := range []string{dirKeys, dirNew} {
		if err := root.MkdirAll(dirBase+"/"+dir, 0o750); err != nil {
			return nil, err
		}
	}
	return root.OpenRoot(dirBase)
}

// tryLink writes a file and links it, as every write will.
func (b *dirBucket) tryLink() error {
	nonce, err := b.nonce()
	if err != nil {
		return err
	}
	dir := dirNew + "/" + nonce
	defer func() { _ = b.base.RemoveAll(dir) }()
	if err := b.stage(dir, record{nonce: nonce}); err != nil {
		return err
	}
	err = b.link(b.base, dir+"/"+versionName(1), dir+"/"+versionName(2))
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", errNoLinks, err)
	}
	return err
}

// goneSuffix marks what is being removed, so that nobody can rename it to a key any more.
const goneSuffix = ".gone"

// removeLeftovers removes the first versions that killed processes left unfinished.
func (b *dirBucket) removeLeftovers() {
	names, _ := readNames(b.base, dirNew)
	for _, name := range names {
		path := dirNew + "/" + name
		info, err := b.base.Lstat(path)
		if err != nil || clock.Since(info.ModTime()) < leftoverAge {
			continue
		}
		if !strings.HasSuffix(name, goneSuffix) && b.base.Rename(path, path+goneSuffix) == nil {
			path += goneSuffix
		}
		if strings.HasSuffix(path, goneSuffix) {
			_ = b.base.RemoveAll(path)
		}
	}
}
