package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errNoLinks is why a file system cannot hold a directory store.
var errNoLinks = errors.New("its file system has no hard links, which conditional writes need: choose a directory on a local disk")

// dirError makes one sentence of a file system's error: the directory, what is
// wrong and what helps. Errors of other origin stay as they are.
func dirError(path string, err error) error {
	switch {
	case errors.Is(err, os.ErrClosed):
		return ErrClosed
	case !ofFileSystem(err):
		return err
	case errors.Is(err, errNoLinks):
		return fmt.Errorf("directory store %s: %w", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("directory store %s: the directory was removed: restore it and start again: %w", path, err)
	}
	return fmt.Errorf("directory store %s: %s: %w", path, remedy(err), err)
}

func ofFileSystem(err error) bool {
	var pathError *fs.PathError
	var linkError *os.LinkError
	var callError *os.SyscallError
	return errors.As(err, &pathError) || errors.As(err, &linkError) || errors.As(err, &callError)
}
