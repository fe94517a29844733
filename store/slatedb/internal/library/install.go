package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Options says what to install, from where and to where. The zero value installs
// for this machine into the user's cache folder.
type Options struct {
	Platform Platform // zero: this process's
	Dir      string   // empty: the platform's folder in the user's cache
	Wheel    string   // a wheel at hand; empty: fetch it with pip or uv
	Force    bool     // install even what is there already

	// Say is told each step in one line. Nil: nobody is.
	Say func(line string)
}

// Install puts the verified library and its companions into a folder and returns
// the library's path. It does nothing when they are there already.
//
// Files appear in the folder whole or not at all, the library last. Any number of
// processes may install into one folder at once, and one that ends half-way
// leaves at most a hidden work folder, which a later one removes.
func Install(ctx context.Context, o Options) (string, error) {
	if o.Platform == (Platform{}) {
		o.Platform = Host()
	}
	b, err := pinned(o.Platform)
	if err != nil {
		return "", err
	}
	if o.Dir == "" {
		if o.Dir, err = o.Platform.CacheDir(); err != nil {
			return "", fmt.Errorf("%w, or name a folder with -dir", err)
		}
	}
	return install(ctx, o, b)
}

func install(ctx context.Context, o Options, b build) (string, error) {
	target := filepath.Join(o.Dir, b.files[len(b.files)-1].name)
	if !o.Force && b.installed(o.Dir) {
		o.say("SlateDB %s for %s is there: %s", Version, o.Platform, target)
		return target, nil
	}
	work, err := workFolder(o.Dir)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a later installation removes it
	wheel := o.Wheel
	if wheel == "" {
		if wheel, err = fetch(ctx, b, work, o.say); err != nil {
			return "", err
		}
	}
	if err := verifyWheel(wheel, o.Platform, b); err != nil {
		return "", err
	}
	o.say("unpacking %s", filepath.Base(wheel))
	if err := unpack(ctx, wheel, b, work, o.Dir); err != nil {
		return "", err
	}
	o.say("SlateDB %s for %s is installed: %s", Version, o.Platform, target)
	return target, nil
}

func (o Options) say(format string, args ...any) {
	if o.Say != nil {
		o.Say(fmt.Sprintf(format, args...))
	}
}

// installed tells whether a folder holds all files of the build, unchanged.
func (b build) installed(dir string) bool {
	for _, f := range b.files {
		sum, err := sumOf(filepath.Join(dir, f.name))
		if err != nil || sum != f.sha256 {
			return false
		}
	}
	return true
}

// abandonedAfter is the age at which a work folder has no owner any more.
const abandonedAfter = time.Hour

// workFolder makes a folder inside dir, so that a file can be renamed from one
// to the other, and removes those that interrupted installations left.
func workFolder(dir string) (string, error) {
	const hidden = ".install-*"
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // holds public files
		return "", cannotWrite(dir, err)
	}
	work, err := os.MkdirTemp(dir, hidden)
	if err != nil {
		return "", cannotWrite(dir, err)
	}
	now, err := os.Stat(work)
	if err != nil {
		return "", cannotWrite(dir, err)
	}
	others, _ := filepath.Glob(filepath.Join(dir, hidden)) // the pattern is well-formed
	for _, other := range others {
		info, err := os.Stat(other)
		if err == nil && now.ModTime().Sub(info.ModTime()) > abandonedAfter {
			_ = os.RemoveAll(other) // the next installation tries again
		}
	}
	return work, nil
}

func cannotWrite(dir string, err error) error {
	return fmt.Errorf("cannot write to the folder %s (%w): name another one with -dir", dir, err)
}

// sumOf is the SHA-256 of a file, in hexadecimal.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read from
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
