package actors

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var epoch = time.Unix(1_700_000_000, 0)

func at(d time.Duration) time.Time { return epoch.Add(d) }

func newDurability() *durability { return &durability{interval: 100 * time.Millisecond} }

func wantStep(t *testing.T, got, want step) {
	t.Helper()
	if got != want {
		t.Fatalf("step %+v, want %+v", got, want)
	}
}

func TestP9_1_AQuietShardIsFlushedAtOnce(t *testing.T) {
	d := newDurability()
	wantStep(t, d.wrote(at(0)), step{flush: true})
	next := d.flushed(at(2 * time.Millisecond))
	wantStep(t, next, step{})
	wantStep(t, d.wrote(at(time.Second)), step{flush: true})
}

func TestP9_1_ABusyShardIsFlushedOnceAnInterval(t *testing.T) {
	d := newDurability()
	wantStep(t, d.wrote(at(0)), step{flush: true})
	wantStep(t, d.wrote(at(time.Millisecond)), step{}) // one flush in flight
	next := d.flushed(at(5 * time.Millisecond))
	wantStep(t, next, step{wake: 95 * time.Millisecond}) // counted from the beginning of the last flush
	wantStep(t, d.woke(at(100*time.Millisecond)), step{flush: true})
}

func TestP9_1_AFlushLongerThanTheIntervalIsFollowedAtOnce(t *testing.T) {
	d := newDurability()
	d.wrote(at(0))
	d.wrote(at(time.Millisecond))
	next := d.flushed(at(250 * time.Millisecond))
	wantStep(t, next, step{flush: true})
}

func TestP9_1_AnExplicitFlushDoesNotWaitForThePace(t *testing.T) {
	d := newDurability()
	d.wrote(at(0))
	d.flushed(at(time.Millisecond))
	wantStep(t, d.wrote(at(2*time.Millisecond)), step{wake: 98 * time.Millisecond})
	wantStep(t, d.hurry(1, at(3*time.Millisecond)), step{flush: true})
}

func TestP9_1_AnExplicitFlushJoinsTheOneInFlightIfNothingWasWrittenSince(t *testing.T) {
	d := newDurability()
	d.wrote(at(0))
	wantStep(t, d.hurry(1, at(time.Millisecond)), step{})
	next := d.flushed(at(2 * time.Millisecond))
	wantStep(t, next, step{})

	d.wrote(at(200 * time.Millisecond))
	d.wrote(at(201 * time.Millisecond))
	wantStep(t, d.hurry(1, at(202*time.Millisecond)), step{})
	next = d.flushed(at(203 * time.Millisecond))
	wantStep(t, next, step{flush: true})
}

func TestP9_1_AnExplicitFlushOfWhatIsDurableIsNone(t *testing.T) {
	d := newDurability()
	d.wrote(at(0))
	d.answer(1) // as its end found
	d.flushed(at(time.Millisecond))
	wantStep(t, d.hurry(1, at(2*time.Millisecond)), step{})
	wantStep(t, d.hurry(2, at(2*time.Millisecond)), step{flush: true})
}

func TestP9_1_AnEndedShardIsNotFlushed(t *testing.T) {
	d := newDurability()
	d.end(0, errors.New("over"))
	wantStep(t, d.wrote(at(0)), step{})
	wantStep(t, d.hurry(1, at(0)), step{})
}

func TestDUR3_ReleasedLowestFirstTiesInOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	d := newDurability()
	type key struct{ seq, order int }
	var want, got []key
	for order := range 100 {
		k := key{rnd.IntN(20), order}
		want = append(want, k)
		d.wait(waiter{seq: uint64(k.seq), tell: func(bool, error) { got = append(got, k) }})
	}
	slices.SortStableFunc(want, func(a, b key) int { return a.seq - b.seq })
	tell(d.advance(9), true, nil)
	for _, k := range got {
		if k.seq > 9 {
			t.Fatalf("%v released at durable 9", k)
		}
	}
	tell(d.advance(19), true, nil)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("released in the order %v\nwant %v", got, want)
	}
}

func TestDUR5_AtTheEndTheDurableAreReleasedAndTheOthersTold(t *testing.T) {
	w := &waits{}
	reason := errors.New("over")
	told := map[uint64]bool{}
	for seq := uint64(1); seq <= 4; seq++ {
		w.on(waiter{seq: seq, tell: func(durable bool, err error) {
			told[seq] = durable
			if !durable && !errors.Is(err, reason) {
				t.Errorf("seq %d: %v", seq, err)
			}
		}})
	}
	w.end(2, reason)
	w.on(waiter{seq: 2, tell: func(durable bool, _ error) { told[12] = durable }})
	w.on(waiter{seq: 3, tell: func(durable bool, _ error) { told[13] = durable }})
	want := map[uint64]bool{1: true, 2: true, 3: false, 4: false, 12: true, 13: false}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Fatalf("told %v, want %v", told, want)
	}
}

func TestDUR4_WhoComesWhileTheEndIsToldIsToldAfterThoseBefore(t *testing.T) {
	w := &waits{}
	var told []int
	later := func(n int) func(bool, error) { return func(bool, error) { told = append(told, n) } }
	w.on(waiter{seq: 1, tell: func(bool, error) {
		w.on(waiter{seq: 1, tell: later(3)})
		told = append(told, 1)
	}})
	w.on(waiter{seq: 2, tell: later(2)})
	w.end(1, errors.New("over"))
	w.on(waiter{seq: 2, tell: later(4)})
	if fmt.Sprint(told) != "[1 2 3 4]" {
		t.Errorf("told %v", told)
	}
}

// TestDUR3_WhoMayBeToldByAnybodyDoesNotOvertakeWhoMayNot has a prompt waiter before and behind one
// that only the notifier may tell.
func TestDUR3_WhoMayBeToldByAnybodyDoesNotOvertakeWhoMayNot(t *testing.T) {
	w := &waits{}
	var told []int
	for n, prompt := range []bool{true, false, true, true} {
		w.on(waiter{seq: uint64(n + 1), prompt: prompt, tell: func(bool, error) { told = append(told, n+1) }})
	}
	want := func(what string, got, left bool, order string) {
		t.Helper()
		if got != left || fmt.Sprint(told) != order {
			t.Errorf("%s: told %v and %v are left, want %s and %v", what, told, got, order, left)
		}
	}
	want("nothing is durable", w.answer(0), false, "[]")
	want("up to 3", w.answer(3), true, "[1]")
	w.advance(3)
	want("by the notifier", w.answer(3), false, "[1 2 3]")
	want("up to 4", w.answer(4), false, "[1 2 3 4]")
}
