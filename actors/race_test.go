//go:build race

package actors

// raced says that the race detector, whose own memory grows, is on.
const raced = true
