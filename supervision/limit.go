package supervision

import "time"

// A limit counts restarts over a sliding period.
type limit struct {
	intensity int
	period    time.Duration
	restarts  []time.Time // at most intensity, oldest first
}

// allow counts a restart at now and tells whether it is within the limit. A restart exactly one period
// ago still counts.
func (l *limit) allow(now time.Time) bool {
	for len(l.restarts) > 0 && now.Sub(l.restarts[0]) > l.period {
		l.restarts = l.restarts[1:]
	}
	if len(l.restarts) >= l.intensity {
		return false
	}
	l.restarts = append(l.restarts, now)
	return true
}
