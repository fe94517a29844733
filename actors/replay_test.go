package actors

import (
	"testing"
	"time"
)

func TestTheTablesAreFlushedOnceTheLogIsLong(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(1000, 0).Add(time.Duration(n) * 100 * time.Millisecond) }
	r := replay{found: firstLog}
	var flushes []int
	for n := range 1000 {
		if r.flushing(at(n)) {
			flushes = append(flushes, n)
			r.flushed()
		}
	}
	for i, n := range flushes {
		if want := longLog - firstLog - 1 + i*longLog; n != want {
			t.Errorf("flush %d of the tables came with flush %d of the log, want %d", i, n, want)
		}
	}
	if len(flushes) != 8 {
		t.Errorf("%d flushes of the tables", len(flushes))
	}
}

func TestTheTablesAreFlushedAtAPaceAndOneAtATime(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(1000, 0).Add(time.Duration(n) * time.Millisecond) }
	r := replay{found: firstLog}
	first := -1
	for n := range 10_000 {
		switch {
		case !r.flushing(at(n)):
		case first >= 0 && n < 5000:
			t.Fatalf("a flush of the tables at %d beside the one of %d", n, first)
		default:
			if first >= 0 && time.Duration(n-first)*time.Millisecond < tablesPause {
				t.Fatalf("flushes at %d and %d", first, n)
			}
			first = n
		}
		if n == 5000 {
			r.flushed()
		}
	}
	if first < 5000 {
		t.Errorf("no flush after the first has ended: %d", first)
	}
}

func TestAnEndFlushesTablesOnlyForMuchLog(t *testing.T) {
	now := time.Unix(1000, 0)
	r := replay{found: firstLog}
	r.began = now // too soon for another
	for range shortLog - 1 {
		r.flushing(now)
	}
	if r.ending(now) {
		t.Error("for little")
	}
	r.flushing(now)
	if !r.ending(now) || r.ending(now) {
		t.Error("not once for much")
	}
}
