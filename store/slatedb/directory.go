package slatedb

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// plainPath matches paths that a URL holds as they are. The engine writes some
// other characters as escapes and never reads those back.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9/._~-]+$`)

// newDirStore opens a directory, which is made if it is missing. One with an odd
// path is named by a link, which the engine follows once and for all.
func newDirStore(dir string) (*ObjectStore, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("slatedb: the store's directory: %w", err)
	}
	if plainPath.MatchString(dir) {
		return newObjectStore("file://"+dir, "", nil)
	}
	temporary, err := os.MkdirTemp("", "slatedb-")
	if err != nil {
		return nil, fmt.Errorf("slatedb: a link to the store's directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	link := filepath.Join(temporary, "store")
	if err := os.Symlink(dir, link); err != nil {
		return nil, fmt.Errorf("slatedb: a link to the store's directory: %w", err)
	}
	return newObjectStore("file://"+link, "", nil)
}
