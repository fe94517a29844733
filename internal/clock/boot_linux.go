package clock

import "golang.org/x/sys/unix"

// Boot is the time since the machine was booted, suspended or not.
func Boot() Instant {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err) // Linux has had it since 2.6.39
	}
	return Instant(t.Nano())
}
