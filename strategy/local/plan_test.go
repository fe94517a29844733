package local

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy"
)

var epoch = time.Unix(1_700_000_000, 0)

func at(d time.Duration) time.Time { return epoch.Add(d) }

func noJitter(int64) int64 { return 0 }

func fullJitter(n int64) int64 { return n - 1 }

func count(n int) (shards []int) {
	for i := range n {
		shards = append(shards, i)
	}
	return shards
}

func newTestPlan(shards, limit int) *plan {
	return newPlan(count(shards), time.Second, time.Minute, limit, noJitter)
}

func TestLOC1_AtMostMaxConcurrencyOpenAtATimeAndAllAreAttempted(t *testing.T) {
	p := newTestPlan(40, 16)
	seen := map[int]bool{}
	opening, _ := p.next(at(0))
	if len(opening) != 16 {
		t.Fatalf("%d open at first, want 16", len(opening))
	}
	for len(opening) > 0 {
		if p.attemptedAll() {
			t.Fatal("all attempted while some are opening")
		}
		n := opening[0]
		if seen[n] {
			t.Fatalf("shard %d opened twice", n)
		}
		seen[n] = true
		p.attempted(n, n%7 != 0, at(0)) // one in seven fails, and keeps nobody from being attempted
		more, _ := p.next(at(0))
		opening = append(opening[1:], more...)
		if len(opening) > 16 {
			t.Fatalf("%d open at a time", len(opening))
		}
	}
	if len(seen) != 40 || !p.attemptedAll() {
		t.Fatalf("%d of 40 attempted, all: %v", len(seen), p.attemptedAll())
	}
}

func TestLOC2_TheRetryDelayDoublesUpToItsMaximumPlusAQuarter(t *testing.T) {
	for _, c := range []struct {
		jitter func(int64) int64
		want   string
	}{
		{noJitter, "[1s 2s 4s 8s 16s 32s 1m0s 1m0s]"},
		{fullJitter, "[1.249999999s 2.499999999s 4.999999999s 9.999999999s 19.999999999s 39.999999999s 1m14.999999999s 1m14.999999999s]"},
	} {
		p := newPlan([]int{0}, time.Second, time.Minute, 16, c.jitter)
		now := at(0)
		var delays []time.Duration
		for range 8 {
			open, _ := p.next(now)
			if !slices.Equal(open, []int{0}) {
				t.Fatalf("not opened at %v", now.Sub(epoch))
			}
			p.attempted(0, false, now)
			open, wake := p.next(now)
			if len(open) > 0 {
				t.Fatal("opened without waiting")
			}
			delays = append(delays, wake)
			now = now.Add(wake)
		}
		if fmt.Sprint(delays) != c.want {
			t.Errorf("delays %v, want %s", delays, c.want)
		}
	}
}

func TestLOC2_AnEndlessRowOfFailuresDoesNotOverflow(t *testing.T) {
	p := newTestPlan(1, 1)
	now := at(0)
	for range 200 {
		p.next(now)
		p.attempted(0, false, now)
		_, wake := p.next(now)
		if wake < time.Second || wake > time.Minute {
			t.Fatalf("delay %v", wake)
		}
		now = now.Add(wake)
	}
}

func TestLOC3_AShardThatWasUpForTheMaximumBeginsAnew(t *testing.T) {
	for up, want := range map[time.Duration]time.Duration{59 * time.Second: 4 * time.Second, time.Minute: time.Second} {
		p := newTestPlan(1, 1)
		now := at(0)
		for range 2 {
			p.next(now)
			p.attempted(0, false, now)
			now = now.Add(time.Minute)
		}
		p.next(now)
		p.attempted(0, true, now)
		p.down(0, false, now.Add(up))
		if _, wake := p.next(now.Add(up)); wake != want {
			t.Errorf("up for %v: reopened after %v, want %v", up, wake, want)
		}
	}
}

func TestLOC6_AShardStoppedByHandStaysStopped(t *testing.T) {
	p := newTestPlan(1, 1)
	p.next(at(0))
	p.attempted(0, true, at(0))
	p.down(0, true, at(time.Second))
	if open, wake := p.next(at(time.Hour)); len(open) > 0 || wake > 0 {
		t.Errorf("opened %v, wake %v", open, wake)
	}
}

func TestLOC6_AShardStoppedByHandWhileItOpensStaysStoppedAndIsAttempted(t *testing.T) {
	p := newTestPlan(2, 1)
	p.next(at(0))
	p.stopped(0)
	if open, _ := p.next(at(time.Hour)); !slices.Equal(open, []int{1}) {
		t.Errorf("opened %v, want the next one", open)
	}
	p.attempted(1, true, at(time.Hour))
	if open, wake := p.next(at(2 * time.Hour)); len(open) > 0 || wake > 0 || !p.attemptedAll() {
		t.Errorf("opened %v, wake %v, attempted all %v", open, wake, p.attemptedAll())
	}
}

func TestLOC8_BadShardsAreNamedBeforeTheStart(t *testing.T) {
	for _, shards := range [][]int{{-1}, {4}, {0, 1, 0}} {
		l, err := New(Options{Shards: shards})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Validate(strategy.Cluster{Shards: 4}); err == nil || !strings.Contains(err.Error(), "Shards") {
			t.Errorf("%v: %v", shards, err)
		}
	}
}

func TestLOC7_OneShardsBackoffDelaysNoOther(t *testing.T) {
	p := newTestPlan(2, 2)
	p.next(at(0))
	p.attempted(0, false, at(0))
	p.attempted(1, true, at(0))
	p.down(1, false, at(10*time.Millisecond))
	if _, wake := p.next(at(20 * time.Millisecond)); wake != 980*time.Millisecond {
		t.Errorf("next after %v, want shard 0's 980ms", wake)
	}
	if open, _ := p.next(at(time.Second)); !slices.Equal(open, []int{0}) {
		t.Errorf("opened %v", open)
	}
}

func TestLOC8_BadOptionsAreNamed(t *testing.T) {
	for _, o := range []Options{
		{BackoffBase: -1},
		{BackoffMax: -1},
		{MaxConcurrency: -1},
		{BackoffBase: time.Hour},
		{BackoffBase: 2 * time.Second, BackoffMax: time.Second},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	l, err := New(Options{})
	if err != nil || l.options.BackoffBase != time.Second || l.options.BackoffMax != time.Minute || l.options.MaxConcurrency != 16 {
		t.Errorf("defaults %+v, %v", l, err)
	}
}
