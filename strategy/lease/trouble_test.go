package lease

import (
	"errors"
	"testing"
	"time"

	"github.com/slap-go/slap/messages"
)

// unreachable lets no request of a node through.
func unreachable(cut *simNode) func(*world, *simNode, action) fault {
	return func(w *world, n *simNode, _ action) fault {
		if n != cut {
			return none
		}
		return []fault{refused, hangs}[w.random.IntN(2)]
	}
}

func everybody(w *world, _ *simNode, a action) fault {
	if _, ok := a.(doGreet); ok {
		return none
	}
	return []fault{refused, hangs, lostReply, lateApply}[w.random.IntN(4)]
}

func TestP2_3_NodesWithOtherTTLsRespectEachOther(t *testing.T) {
	for seed := range seeds(20) {
		w := newWorld(t, seed, 8, Options{TTL: 3 * time.Second})
		for i, ttl := range []time.Duration{2 * time.Second, 9 * time.Second, 4 * time.Second} {
			o, err := Options{TTL: ttl}.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			w.startWith(abc[i], o)
		}
		w.run(20 * time.Second)
		w.balanced()
		long := w.nodes[1]
		w.faults = unreachable(long) // the shorter ones wait for its TTL
		w.run(30 * time.Second)
		w.faults = nil
		w.run(30 * time.Second)
		w.balanced()
		long.kill()
		w.run(9*time.Second + 2*3*time.Second + time.Second)
		w.balanced()
	}
}

func TestP2_4_WallClocksThatJumpMoveNothing(t *testing.T) {
	for seed := range seeds(10) {
		w := cluster(t, seed, 8)
		for range 40 {
			n := w.nodes[w.random.IntN(3)]
			n.wall = time.Duration(w.random.Int64N(int64(16*time.Hour))) - 8*time.Hour
			w.run(time.Duration(w.random.Int64N(int64(3 * time.Second))))
		}
		w.balanced()
		if w.moves > 0 || w.fences > 0 {
			t.Fatalf("seed %d: %d moves, %d fenced", seed, w.moves, w.fences)
		}
	}
}

// drifting cuts one node with a slow clock off from the store again and again.
func drifting(t *testing.T, seed uint64, rate float64, tolerant bool) *world {
	t.Helper()
	w := newWorld(t, seed, 4, Options{TTL: 3 * time.Second})
	w.tolerant, w.opening, w.latency = tolerant, time.Millisecond, time.Millisecond
	for _, name := range abc {
		w.start(name)
	}
	slow := w.nodes[0]
	slow.rate = 1 / rate
	for range 5 {
		w.run(8 * time.Second)
		w.faults = unreachable(slow)
		for range 500 {
			w.run(10 * time.Millisecond)
			w.check()
		}
		w.faults = nil
	}
	w.run(15 * time.Second)
	return w
}

func TestP2_4_ClocksThatRunAtOtherRatesWithinTheMargin(t *testing.T) {
	for seed := range seeds(10) {
		drifting(t, seed, 1.16, false).balanced()
	}
	overlaps := 0
	for seed := range uint64(10) {
		overlaps += drifting(t, seed, 1.5, true).overlaps
	}
	if overlaps == 0 {
		t.Error("clocks beyond the margin do no harm: the test sees nothing")
	}
}

func TestP2_6_ListingsThatLagAndOmitMoveNothing(t *testing.T) {
	for seed := range seeds(15) {
		w := cluster(t, seed, 8)
		w.oldLists = true
		w.run(2 * time.Minute)
		w.balanced()
		if w.fences > 0 || w.moves > 0 {
			t.Fatalf("seed %d: %d fenced, %d moves", seed, w.fences, w.moves)
		}
		w.nodes[w.random.IntN(3)].kill()
		w.run(30 * time.Second)
		w.balanced()
	}
}

// outage is how many shards are fenced in an outage of the store, of which at most so many
// requests a second come.
func outage(t *testing.T, seed uint64, lasts time.Duration) (fenced, busiest int) {
	t.Helper()
	w := cluster(t, seed, 12)
	w.faults = everybody
	w.run(lasts)
	w.faults = nil
	w.seconds = map[int]int{}
	w.run(12 * time.Second)
	w.balanced()
	for _, requests := range w.seconds {
		busiest = max(busiest, requests)
	}
	return w.fences, busiest
}

func TestP2_7_AnOutageOfAQuarterOfATTLLosesNothing(t *testing.T) {
	for seed := range seeds(60) {
		if fenced, _ := outage(t, seed, 3*time.Second/4); fenced > 0 {
			t.Fatalf("seed %d: %d shards fenced", seed, fenced)
		}
	}
}

func TestP2_7_AfterAnOutageAllComeBackWithoutAStampede(t *testing.T) {
	most, lost, runs := 0, 0, 0
	for seed := range seeds(20) {
		fenced, _ := outage(t, seed, 3*time.Second/2)
		lost, runs = lost+fenced, runs+12
		fenced, busiest := outage(t, seed, 9*time.Second)
		if fenced != 12 {
			t.Errorf("seed %d: %d of 12 shards fenced in an outage of three TTLs", seed, fenced)
		}
		most = max(most, busiest)
	}
	t.Logf("half a TTL: %d of %d shards fenced; after three: at most %d requests a second", lost, runs, most)
	if most > 120 { // two for each shard and node, and the heartbeats
		t.Errorf("%d requests in a second", most)
	}
}

func TestP6_3_ANodeLeavesUnderTrouble(t *testing.T) {
	for seed := range seeds(40) {
		w := cluster(t, seed, 8)
		w.faults = func(w *world, n *simNode, a action) fault {
			if w.random.IntN(3) > 0 {
				return none
			}
			return everybody(w, n, a)
		}
		n := w.nodes[w.random.IntN(3)]
		n.handle(leave{})
		w.run(10 * time.Second)
		w.faults = nil
		w.run(10 * time.Second)
		if !n.left {
			t.Fatalf("seed %d: %s has not left", seed, n.name)
		}
		if held := w.shares()[n.name]; held > 0 {
			t.Fatalf("seed %d: %d shards are left on %s", seed, held, n.name)
		}
		w.balanced()
	}
}

func TestP6_3_ANodeThatDrainsReachesZeroAndStaysThere(t *testing.T) {
	for seed := range seeds(5) {
		w := cluster(t, seed, 8)
		n := w.nodes[1]
		n.handle(leave{})
		w.run(time.Second)
		for range 30 {
			if len(n.leases) > 0 || !n.left {
				t.Fatalf("seed %d: %d leases, left %v", seed, len(n.leases), n.left)
			}
			w.run(time.Second)
		}
		w.balanced()
	}
}

func TestOL3_ARestartUnderTheSameNameServesAtOnce(t *testing.T) {
	for seed := range seeds(30) {
		w := cluster(t, seed, 8)
		i := w.random.IntN(3)
		old := w.nodes[i]
		old.kill()
		w.run(time.Duration(w.random.Int64N(int64(time.Second))))
		w.start(old.name)
		w.run(2 * time.Second)
		w.balanced()
		if w.moves > 0 {
			t.Errorf("seed %d: %d moves", seed, w.moves)
		}
	}
}

// Two processes with one name, in each state of the older: only one of them lives, and
// they never take the name from each other twice.
func TestP6_1_TwoProcessesWithOneName(t *testing.T) {
	for state, test := range map[string]struct {
		older func(w *world, n *simNode)
		newer bool // it is the one that lives
	}{
		"alive":           {func(*world, *simNode) {}, false},
		"silent":          {func(w *world, n *simNode) { w.silent = n.core.node.Address }, false},
		"paused":          {func(_ *world, n *simNode) { n.pause() }, true},
		"killed":          {func(_ *world, n *simNode) { n.kill() }, true},
		"wakes meanwhile": {func(w *world, n *simNode) { n.pause(); w.after(time.Second, n.resume) }, false},
		"wakes at once":   {func(w *world, n *simNode) { n.pause(); w.after(100*time.Millisecond, n.resume) }, false},
		"wakes too late":  {func(w *world, n *simNode) { n.pause(); w.after(8*time.Second, n.resume) }, true},
		"cut off":         {func(w *world, n *simNode) { w.silent = n.core.node.Address; w.faults = unreachable(n) }, true},
	} {
		t.Run(state, func(t *testing.T) {
			for seed := range seeds(5) {
				w := cluster(t, seed, 6)
				older := w.nodes[0]
				test.older(w, older)
				newer := w.start(older.name)
				w.run(10 * time.Second)
				w.faults = nil
				older.resume()
				w.run(10 * time.Second)
				lives, ends, err := older, newer, messages.ErrNameInUse
				if test.newer {
					lives, ends, err = newer, older, messages.ErrSuperseded
				}
				if lives.dead || !ends.dead || state != "killed" && !errors.Is(ends.ended, err) {
					t.Fatalf("seed %d: older dead %v: %v, newer dead %v: %v", seed, older.dead, older.ended, newer.dead, newer.ended)
				}
				w.balanced()
			}
		})
	}
}

func TestP3_3_ANodeThatFlapsMovesLittle(t *testing.T) {
	for seed := range seeds(3) {
		w := cluster(t, seed, 12)
		flaps := 250 // in ten minutes, each after 0.8 TTL
		for range flaps {
			w.nodes[len(w.nodes)-1].kill()
			w.run(1200 * time.Millisecond)
			w.start("c")
			w.run(1200 * time.Millisecond)
			w.check()
		}
		w.run(10 * time.Second)
		w.balanced()
		if w.moves > flaps/10 {
			t.Errorf("seed %d: %d moves in %d flaps", seed, w.moves, flaps)
		}
	}
}

func TestP3_3_OneShardNeverMoves(t *testing.T) {
	w := newWorld(t, 1, 1, Options{TTL: 3 * time.Second})
	for _, name := range abc {
		w.start(name)
	}
	w.run(5 * time.Second)
	owner := w.owners()[0]
	w.run(time.Hour)
	if w.moves > 0 || owner == "" || w.owners()[0] != owner {
		t.Errorf("%d moves, from %s to %s", w.moves, owner, w.owners()[0])
	}
}

// One shard opens nowhere, another on one node only: the others do not notice.
func TestP4_2_ShardsThatDoNotOpen(t *testing.T) {
	for seed := range seeds(5) {
		w := cluster(t, seed, 8)
		for _, n := range w.nodes {
			n.fails[3] = true
			if n.name != "b" {
				n.fails[5] = true
			}
			for _, shard := range []int{3, 5} {
				if n.serving[shard] {
					delete(n.serving, shard)
					n.queue.down(shard, 1)
					n.pump()
				}
			}
		}
		w.moves = 0
		w.run(2 * time.Minute)
		if owner := w.owners()[5]; owner != "b" {
			t.Fatalf("seed %d: shard 5 is on %q, want b, where it opens", seed, owner)
		}
		if len(w.owners()) != 7 {
			t.Fatalf("seed %d: %v", seed, w.owners())
		}
		tries := func() (sum int) {
			for _, n := range w.nodes {
				sum += n.opens[3]
			}
			return sum
		}
		before, moves := tries(), w.moves
		w.run(20 * time.Minute)
		if more := tries() - before; more < 15 || more > 20*10 {
			t.Fatalf("seed %d: tried %d times in 20 minutes", seed, more)
		}
		if more := w.moves - moves; more > 20*10 {
			t.Fatalf("seed %d: %d moves in 20 minutes", seed, more)
		}
		for _, n := range w.nodes {
			delete(n.fails, 3)
		}
		w.run(3 * time.Minute)
		if len(w.owners()) != 8 {
			t.Fatalf("seed %d: not served after it opens again: %v", seed, w.owners())
		}
	}
}

func TestP4_3_AnOpenThatHangsLetsOthersHaveTheShard(t *testing.T) {
	for seed := range seeds(10) {
		w := newWorld(t, seed, 6, Options{TTL: 3 * time.Second})
		a := w.start("a")
		a.hangs[2] = true
		w.run(5 * time.Second)
		w.start("b")
		w.run(15 * time.Second)
		if owner := w.owners()[2]; owner != "b" || len(w.owners()) != 6 {
			t.Fatalf("seed %d: shard 2 is on %q: %v", seed, owner, w.owners())
		}
	}
}

func TestOL16_WhatAQuietClusterCosts(t *testing.T) {
	w := newWorld(t, 1, 64, Options{TTL: 15 * time.Second})
	for _, name := range abc {
		w.start(name)
	}
	w.run(2 * time.Minute)
	w.balanced()
	clear(w.requests)
	w.run(10 * time.Minute)
	for name, n := range w.requests {
		rate := float64(n) / (10 * time.Minute).Seconds()
		t.Logf("%s: %.2f requests a second", name, rate)
		if rate >= 6 {
			t.Errorf("%s makes %.2f requests a second", name, rate)
		}
	}
}

// A store that takes heartbeats but no leases is not asked more often for that.
func TestP2_7_RefusedLeasesAreNotAskedForAgainAndAgain(t *testing.T) {
	for name, refuses := range map[string]func(action) bool{
		"writes": func(a action) bool { _, ok := a.(doWriteLease); return ok },
		"reads":  func(a action) bool { _, ok := a.(doReadLease); return ok },
	} {
		w := newWorld(t, 1, 8, Options{TTL: 3 * time.Second})
		w.faults = func(_ *world, _ *simNode, a action) fault {
			if refuses(a) {
				return refused
			}
			return none
		}
		w.start("a")
		w.run(10 * time.Second)
		w.seconds = map[int]int{}
		w.run(10 * time.Second)
		for _, n := range w.seconds {
			if n > 40 {
				t.Fatalf("%s: %d requests in a second", name, n)
			}
		}
		w.faults = nil
		w.run(3 * time.Second)
		w.balanced()
	}
}
