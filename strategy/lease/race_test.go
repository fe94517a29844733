//go:build race

package lease

// raced says whether the race detector is on, with which everything takes ten times as long.
const raced = true
