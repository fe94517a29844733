//go:build !unix

package store

import (
	"errors"
	"io/fs"
)

// remedy says what is wrong and what helps.
func remedy(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "this user may not read and write there: change the owner or the mode of the directory"
	}
	return "the file system failed"
}
