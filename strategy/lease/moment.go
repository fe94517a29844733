package lease

import (
	"time"

	"github.com/slap-go/slap/strategy"
)

// moment is when something happens: on the clock that nobody sets, and on the wall.
type moment struct {
	at   strategy.Instant
	wall time.Time
}

// never is an instant that does not come.
const never strategy.Instant = 1<<63 - 1

// sooner is the earlier one of two instants, of which 0 is none.
func sooner(a, b strategy.Instant) strategy.Instant {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// elapsed is an instant as people read it.
func elapsed(i strategy.Instant) time.Duration { return time.Duration(i) }
