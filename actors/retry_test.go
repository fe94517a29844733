package actors

import (
	"testing"
	"time"
)

func TestCALL5_ThePauseGrowsWithEachTryAndByAtMostAHalf(t *testing.T) {
	const ms = time.Millisecond
	least := func(int64) int64 { return 0 }
	most := func(n int64) int64 { return n - 1 }
	for _, c := range []struct {
		delay          time.Duration
		try            int
		shortest, last time.Duration // last is the first that is too long
	}{
		{100 * ms, 1, 100 * ms, 150 * ms},
		{100 * ms, 2, 200 * ms, 300 * ms},
		{100 * ms, 3, 300 * ms, 450 * ms},
		{10 * ms, 3, 30 * ms, 45 * ms},
		{0, 3, 0, 1},
		{1, 1, 1, 2},
	} {
		r := Retry{Delay: c.delay}
		if got := r.pause(c.try, least); got != c.shortest {
			t.Errorf("%v, try %d: at least %v, want %v", c.delay, c.try, got, c.shortest)
		}
		if got := r.pause(c.try, most); got != c.last-1 {
			t.Errorf("%v, try %d: at most %v, want below %v", c.delay, c.try, got, c.last)
		}
	}
}
