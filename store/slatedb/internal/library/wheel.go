package library

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// verifyWheel checks that a file is exactly the wheel that the build names.
func verifyWheel(path string, p Platform, b build) error {
	sum, err := sumOf(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the wheel %s does not exist", path)
	case err != nil:
		return fmt.Errorf("cannot read the wheel: %w", err)
	case sum == b.sha256:
		return nil
	}
	for other, o := range builds {
		if sum == o.sha256 {
			return fmt.Errorf("%s is the wheel for %s, not for %s: name that platform with -os, -arch and -libc", path, other, p)
		}
	}
	if !startsWith(path, "PK\x03\x04") {
		return fmt.Errorf("%s is not a wheel: name the file slatedb-%s-….whl for %s", path, Version, b.tag)
	}
	return fmt.Errorf("%s is not the wheel of slatedb %s for %s: its SHA-256 is %s, not %s", path, Version, b.tag, sum, b.sha256)
}

// unpack takes the build's files out of a verified wheel. Each is written to the
// work folder, verified, and only then renamed to its place.
func unpack(ctx context.Context, wheel string, b build, work, dir string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return fmt.Errorf("cannot read the wheel %s: %w", wheel, err)
	}
	defer z.Close() //nolint:errcheck // only read from
	for _, f := range b.files {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("interrupted: %w", err)
		}
		if err := f.unpack(&z.Reader, work, dir); err != nil {
			return err
		}
	}
	return nil
}

func (f file) unpack(z *zip.Reader, work, dir string) error {
	data, err := fs.ReadFile(z, f.member)
	if err != nil {
		return fmt.Errorf("the wheel has no %s: %w", f.member, err)
	}
	if f.edit != nil {
		data = f.edit(data)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.sha256 {
		return fmt.Errorf("%s in the wheel has the SHA-256 %x, not %s", f.member, sum, f.sha256)
	}
	whole := filepath.Join(work, f.name)
	if err := writeSynced(whole, data); err != nil {
		return cannotWrite(dir, err)
	}
	if err := os.Rename(whole, filepath.Join(dir, f.name)); err != nil {
		return cannotWrite(dir, err)
	}
	return nil
}

// writeSynced writes a new file whose bytes are on the disk before it is renamed.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755) //nolint:gosec // a library is public
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
