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
