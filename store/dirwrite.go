package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Outcomes of one try to write that lead to another try.
var (
	errOvertaken = errors.New("another writer was faster")  // nothing was written
	errNoLife    = errors.New("the key has no object here") // the folder is over or was never filled
)

// write puts the record as the key's next version if the condition holds. A
// record that is dead deletes the key.
func (b *dirBucket) write(ctx context.Context, r record, c Condition) (Version, error) {
	if err := b.check(ctx, r.key); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, DefaultRequestTimeout)
	defer cancel()
	var err error
	if r.nonce, err = b.nonce(); err != nil {
		return "", err
	}
	for {
		v, err := b.try(ctx, r, c)
		if !errors.Is(err, errOvertaken) {
			return v, dirError(b.path, err)
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
	}
}

func (b *dirBucket) try(ctx context.Context, r record, c Condition) (Version, error) {
	name := folderName(r.key)
	f, err := b.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return b.create(name, r, c)
	}
	if err != nil {
		return "", err
	}
	defer f.close()
	v, err := b.append(ctx, f, r, c)
	if errors.Is(err, errNoLife) {
		if err := b.bury(f, name); err != nil {
			return "", err
		}
		return b.create(name, r, c)
	}
	if err == nil && r.dead {
		_ = b.bury(f, name) // the tombstone already says it; the next writer tries again
	}
	return v, err
}

// append links the record to the number after the current version.
//
// The file is made before the current version is read, so that it is among those
// that end with the life it is written for. Success is told only if the version
// that was read is still there afterwards: versions are removed from the lowest
// up, so the number after it was then never taken before.
func (b *dirBucket) append(ctx context.Context, f folder, r record, c Condition) (Version, error) {
	temp := tempPrefix + r.nonce
	if err := f.root.WriteFile(temp, r.encode(), 0o640); err != nil {
		return "", overtakenIf(err, fs.ErrNotExist)
	}
	defer func() { _ = f.remove(temp) }()
	h, seen, err := f.current(ctx, true)
	switch {
	case err != nil:
		return "", err
	case !h.live():
		return "", errNoLife
	case !c.Holds(true, h.version()):
		return "", ErrConflict
	}
	if err := b.link(f.root, temp, versionName(h.number+1)); err != nil {
		return "", overtakenIf(err, fs.ErrExist, fs.ErrNotExist)
	}
	if !f.still(h) {
		return "", fmt.Errorf("%w: others moved on from the version of %q that it replaces", ErrUnknownOutcome, r.key)
	}
	f.trim(seen, h.number+1)
	return versionOf(h.number+1, r.nonce), nil
}

// create makes the first version of a key without an object: a folder that holds
// it is made elsewhere and then renamed, which a folder with anything in it
// refuses. So a folder of that name is never empty while the key has an object.
func (b *dirBucket) create(name string, r record, c Condition) (Version, error) {
	if r.dead {
		return "", nil
	}
	if !c.Holds(false, "") {
		return "", ErrConflict
	}
	staged := dirNew + "/" + r.nonce
	err := b.stage(staged, r)
	if err == nil {
		err = b.base.Rename(staged, dirKeys+"/"+name)
	}
	if err == nil {
		return versionOf(1, r.nonce), nil
	}
	_ = b.base.RemoveAll(staged)
	if gone := b.gone(); gone != nil {
		return "", gone
	}
	return "", overtakenIf(err, fs.ErrExist, fs.ErrNotExist)
}

func (b *dirBucket) stage(dir string, r record) error {
	err := b.base.Mkdir(dir, 0o750)
	if err == nil {
		err = b.base.WriteFile(dir+"/"+versionName(1), r.encode(), 0o640)
	}
	return err
}

// bury removes a folder whose life is over. The last step refuses a folder that
// is not empty, so a later life under the same name is safe from it.
func (b *dirBucket) bury(f folder, name string) error {
	if err := f.sweep(); err != nil {
		return err
	}
	err := b.base.Remove(dirKeys + "/" + name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func overtakenIf(err error, kinds ...error) error {
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return errOvertaken
		}
	}
	return err
}
