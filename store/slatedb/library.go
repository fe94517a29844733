package slatedb

import pinned "github.com/slap-go/slap/store/slatedb/internal/library"

// ErrLibraryMissing says that the engine's shared library was not found. The
// error's text says where it was looked for and what to run to install it. The
// environment variable SLATEDB_LIBRARY names a library in another place.
var ErrLibraryMissing = pinned.ErrMissing
