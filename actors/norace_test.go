//go:build !race

package actors

// raced says that the race detector is on.
const raced = false
