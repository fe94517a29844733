//go:build !linux

package clock

import "time"

var start = time.Now()

// Boot is the time since the process started. Whether it counts the time in which
// the machine is suspended is up to the operating system.
func Boot() Instant { return Instant(time.Since(start)) + 1 }
