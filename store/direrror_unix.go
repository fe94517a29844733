//go:build unix

package store

import (
	"errors"
	"io/fs"
	"syscall"
)

// remedy says what is wrong and what helps.
func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full: free space there"
	case errors.Is(err, syscall.EDQUOT):
		return "the user's disk quota is used up: free space there"
	case errors.Is(err, syscall.EROFS):
		return "it is on a file system that is mounted read-only: mount it writable or choose another directory"
	case errors.Is(err, syscall.ENOTDIR):
		return "it is not a directory or is below something that is none: choose another path"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many files are open: raise the limit (ulimit -n)"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not read and write there: change the owner or the mode of the directory"
	default:
		return "the file system failed"
	}
}
