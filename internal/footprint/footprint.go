// Package footprint says what this process holds, for tests of leaks.
package footprint

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
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

// Of measures for a test, which is skipped where there is no /proc.
func Of(tb testing.TB) Usage {
	tb.Helper()
	u, err := Measure()
	if errors.Is(err, os.ErrNotExist) {
		tb.Skip("what a process holds is read from /proc")
	}
	if err != nil {
		tb.Fatal(err)
	}
	return u
}
