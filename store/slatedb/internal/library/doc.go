// Package library knows the engine's shared library: which file belongs to
// which platform, where to look for it, and how to fetch and verify it.
//
// The engine publishes the library inside its Python package, one wheel per
// platform. [Install] takes it from there with pip or uv, or from a wheel at
// hand, and puts it into the user's cache folder; [Find] finds it at run time.
// No Python is needed at run time.
//
// The wheels and every file taken from them are pinned by SHA-256, so that what
// [Install] leaves behind is exactly what this version of the module was tested
// with, wherever it came from.
package library
