//go:build cgo && (linux || darwin)

package slatedb

import (
	"fmt"
	"sync"

	pinned "github.com/slap-go/slap/store/slatedb/internal/library"
)

var loading struct {
	sync.Mutex
	loaded bool
}

// load loads the engine's library and checks that it is the right version, once
// for the process. A failure is tried again by the next call.
func load() error {
	loading.Lock()
	defer loading.Unlock()
	if loading.loaded {
		return nil
	}
	path, err := locate()
	if err != nil {
		return err
	}
	if err := loadFrom(path); err != nil {
		return err
	}
	loading.loaded = true
	return nil
}

func loadFrom(path string) error {
	contract, err := openLibrary(path)
	if err != nil {
		return wrongVersion(path, err.Error())
	}
	if contract != contractVersion {
		return wrongVersion(path, fmt.Sprintf("its ABI has version %d, not %d", contract, contractVersion))
	}
	for m := range methods {
		name, want := methods[m].name, methods[m].checksum
		if got := bindMethod(method(m)); got != want {
			return wrongVersion(path, fmt.Sprintf("%s has checksum %d, not %d", name, got, want))
		}
	}
	for o := objectDB; int(o) < len(objectNames); o++ {
		if !bindObject(o) {
			return wrongVersion(path, "it has no handles of "+objectNames[o])
		}
	}
	if !bindCallbacks() {
		return wrongVersion(path, "it takes no callbacks")
	}
	return nil
}

func wrongVersion(path, why string) error {
	return fmt.Errorf("slatedb: %s is not SlateDB %s's library (%s): %s", path, Version, why, pinned.Remedy(path))
}
