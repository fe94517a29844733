//go:build !race

package main

// buildFlags let the binary be built as the tests are.
var buildFlags []string
