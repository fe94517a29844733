package lease_test

import (
	"sync/atomic"
	"testing"
	"time"
)

// However often others ask to look, the loop has its mailbox for what counts.
func TestP3_2_AFloodOfHintsIsOneLook(t *testing.T) {
	s := newStage(t)
	var looks atomic.Int64 // at the clock, one for each message
	held, release := make(chan struct{}), make(chan struct{})
	var hold atomic.Bool
	s.strategy.SetWall(func() time.Time {
		looks.Add(1)
		if hold.CompareAndSwap(true, false) {
			close(held)
			<-release
		}
		return time.Now()
	})
	s.start()
	s.await("all are open", s.allOpen)
	hold.Store(true)
	s.strategy.LookNow()
	<-held
	looks.Store(0)
	const flood = 100_000
	for range flood {
		s.strategy.LookNow()
	}
	close(release)
	s.strategy.Refresh(t.Context(), 0) // stands behind all of them
	if n := looks.Load(); n > 100 {
		t.Errorf("%d messages in the loop's mailbox for %d hints", n, flood)
	}
	looks.Store(0)
	s.strategy.LookNow()
	s.await("the next hint is heard", func() bool { return looks.Load() > 0 })
}
