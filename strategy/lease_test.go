package strategy

import (
	"sync"
	"testing"
	"time"
)

func TestALeaseLastsUntilItsDeadline(t *testing.T) {
	l := NewLease(7, 100)
	if l.Generation() != 7 || !l.validAt(99) || l.validAt(100) {
		t.Errorf("generation %d, before the deadline %v", l.Generation(), l.validAt(99))
	}
}

func TestALeaseThatWasSeenExpiredStaysSo(t *testing.T) {
	l := NewLease(1, 100)
	if l.validAt(100) {
		t.Fatal("valid at its deadline")
	}
	if l.validAt(50) || l.renewAt(50, 200) || l.validAt(50) {
		t.Error("it came back")
	}
}

func TestALeaseIsRenewedInTimeAndNeverBack(t *testing.T) {
	l := NewLease(1, 100)
	if !l.renewAt(99, 200) || !l.validAt(199) {
		t.Error("not renewed")
	}
	if !l.renewAt(150, 160) || !l.validAt(199) {
		t.Error("the deadline moved back")
	}
	if l.renewAt(200, 300) || l.validAt(201) {
		t.Error("renewed at its deadline")
	}
}

func TestALeaseFromThePastIsNeverValid(t *testing.T) {
	for _, deadline := range []Instant{-1, 0, 1} {
		if l := NewLease(1, deadline); l.Valid() || l.Renew(Now().Add(time.Hour)) {
			t.Errorf("deadline %d: valid", deadline)
		}
	}
}

func TestTheNilLeaseLastsForEver(t *testing.T) {
	var l *Lease
	if !l.Valid() || !l.Renew(1) || l.Generation() != 0 || !l.Valid() {
		t.Error("the nil lease ended")
	}
}

func TestOfConcurrentRenewalsTheLatestHoldsAndNoneFollowsTheEnd(t *testing.T) {
	l := NewLease(1, 10)
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() { l.renewAt(5, Instant(10+i)) })
	}
	all.Wait()
	if !l.validAt(1008) || l.validAt(1009) {
		t.Errorf("deadline %d, want 1009", l.deadline.Load())
	}
	for i := range 1000 {
		all.Go(func() {
			if l.renewAt(5, Instant(2000+i)) {
				t.Error("renewed after its end")
			}
		})
	}
	all.Wait()
	if l.validAt(5) {
		t.Error("valid after its end")
	}
}
