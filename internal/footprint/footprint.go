// Package footprint says what this process holds, for tests of leaks.
package footprint

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// Usage is what a process holds.
type Usage struct {
	Goroutines, Descriptors int
	Memory                  uint64 // resident, in bytes
}

// Measure collects garbage and looks. It needs /proc and fails with
// [os.ErrNotExist] without it.
func Measure() (Usage, error) {
	debug.FreeOSMemory()
	u := Usage{Goroutines: runtime.NumGoroutine()}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return u, err
	}
	u.Descriptors = len(files)
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return u, err
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(status), &size, &resident); err != nil {
		return u, fmt.Errorf("read /proc/self/statm: %w", err)
	}
	u.Memory = resident * uint64(os.Getpagesize())
	return u, nil
}
