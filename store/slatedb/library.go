//go:build cgo && (linux || darwin)

package slatedb

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
*/
import "C"

import (
	"unsafe"

	pinned "github.com/slap-go/slap/store/slatedb/internal/library"
)

// ErrLibraryMissing says that the engine's shared library was not found. The
// error's text says where it was looked for and what to run to install it. The
// environment variable SLATEDB_LIBRARY names a library in another place.
var ErrLibraryMissing = pinned.ErrMissing

// locate is the name under which dlopen finds the engine's library: the file that
// SLATEDB_LIBRARY names, else the one in the user's cache folder, beside the
// executable, or on the system's library path.
func locate() (string, error) {
	return pinned.Find(onSystemPath)
}

// onSystemPath tells whether dlopen finds a library by its bare name. It stays
// loaded: there is no way to ask without loading.
func onSystemPath(name string) bool {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.dlopen(s, C.RTLD_LAZY|C.RTLD_LOCAL) != nil
}
