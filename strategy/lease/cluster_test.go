package lease

import (
	"os"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy"
)

var errNobody = strategy.ErrNobody

// seeds is how many seeds are tried: less for the race detector, since a simulation is one
// goroutine.
func seeds(normal uint64) uint64 {
	switch {
	case os.Getenv("SLAP_STRESS") == "1":
		return 10 * normal
	case raced:
		return max(normal/4, 1)
	}
	return normal
}

var abc = []string{"a", "b", "c"}

// cluster is a world of three nodes that have come to rest.
func cluster(t *testing.T, seed uint64, shards int) *world {
	t.Helper()
	w := newWorld(t, seed, shards, Options{TTL: 3 * time.Second})
	for _, name := range abc {
		w.start(name)
	}
	w.run(10*time.Second + time.Duration(w.random.Int64N(int64(time.Second))))
	w.balanced()
	w.moves, w.fences = 0, 0
	return w
}

func TestLL4_OneNodeTakesEverything(t *testing.T) {
	w := newWorld(t, 1, 8, Options{TTL: 3 * time.Second})
	n := w.start("a")
	w.run(time.Second)
	if !n.ready {
		t.Error("not ready")
	}
	w.balanced()
}

func TestP3_3_NodesThatJoinGetTheirShare(t *testing.T) {
	for seed := range seeds(2) {
		w := newWorld(t, seed, 256, Options{TTL: 3 * time.Second})
		for i := range 9 {
			w.moves = 0
			w.start(string(rune('a' + i)))
			w.run(10 * time.Second)
			w.balanced()
			if limit := (256 + i) / (i + 1); w.moves > limit && i > 0 {
				t.Fatalf("seed %d: %d moves when node %d joined, want at most %d", seed, w.moves, i+1, limit)
			}
		}
		w.moves = 0
		w.run(20 * time.Second)
		if w.moves > 0 {
			t.Fatalf("seed %d: %d moves in a quiet cluster", seed, w.moves)
		}
	}
}

func TestP3_3_NodesThatStartAtOnce(t *testing.T) {
	for seed := range seeds(2) {
		w := newWorld(t, seed, 256, Options{TTL: 3 * time.Second})
		for i := range 9 {
			w.start(string(rune('a' + i)))
		}
		w.run(20 * time.Second)
		w.balanced()
		if w.moves > 512 {
			t.Errorf("seed %d: %d moves", seed, w.moves)
		}
		w.moves = 0
		w.run(20 * time.Second)
		if w.moves > 0 {
			t.Fatalf("seed %d: %d moves in a quiet cluster", seed, w.moves)
		}
	}
}

func TestFO2_ShardsOfAKilledNodeAreServedAgain(t *testing.T) {
	for seed := range seeds(30) {
		w := newWorld(t, seed, 8, Options{TTL: 3 * time.Second})
		var nodes []*simNode
		for _, name := range []string{"a", "b", "c"} {
			nodes = append(nodes, w.start(name))
		}
		w.run(10*time.Second + time.Duration(w.random.Int64N(int64(time.Second))))
		w.balanced()
		nodes[w.random.IntN(3)].kill()
		w.run(5*time.Second + 2*w.opening + 200*time.Millisecond) // TTL, two intervals, the open
		w.balanced()
	}
}

// trio is a cluster of three nodes that has come to rest, and one of them.
func trio(t *testing.T, seed uint64) (*world, *simNode) {
	t.Helper()
	w := newWorld(t, seed, 8, Options{TTL: 3 * time.Second})
	for _, name := range []string{"a", "b", "c"} {
		w.start(name)
	}
	w.run(10 * time.Second)
	return w, w.nodes[w.random.IntN(3)]
}

func TestP6_3_ANodeThatLeavesHandsOverAtOnce(t *testing.T) {
	for seed := range seeds(30) {
		w, n := trio(t, seed)
		n.handle(leave{})
		w.run(500 * time.Millisecond)
		if !n.left {
			t.Fatalf("seed %d: %s has not left", seed, n.name)
		}
		w.balanced()
	}
}

func TestFO3_APausedNodeServesNothingWhenItWakes(t *testing.T) {
	for seed := range seeds(30) {
		w, n := trio(t, seed)
		n.pause()
		w.run(time.Duration(w.random.Int64N(int64(15 * time.Second))))
		n.resume()
		w.check()
		w.run(15 * time.Second)
		w.balanced()
	}
}

// Under faults of any kind no two gates are open, and afterwards all is well.
func TestP2_2_RandomFaultsNeverOpenTwoGates(t *testing.T) {
	for seed := range seeds(60) {
		w := newWorld(t, seed, 6, Options{TTL: 3 * time.Second})
		storm := true
		w.faults = func(w *world, _ *simNode, _ action) fault {
			if !storm || w.random.IntN(4) > 0 {
				return none
			}
			return fault(w.random.IntN(5))
		}
		live := func() *simNode { return w.nodes[w.random.IntN(len(w.nodes))] }
		for _, name := range []string{"a", "b", "c"} {
			w.start(name)
		}
		for range 30 {
			w.run(time.Duration(w.random.Int64N(int64(3 * time.Second))))
			switch n := live(); w.random.IntN(6) {
			case 0:
				n.pause()
			case 1, 2:
				if n.paused {
					n.resume()
				}
			case 3:
				if !n.dead {
					n.kill()
				}
			case 4:
				if n.dead {
					w.start(n.name)
				}
			case 5:
				n.wall = time.Duration(w.random.Int64N(int64(2*time.Hour))) - time.Hour
			}
		}
		storm = false
		for _, n := range w.nodes {
			if n.paused {
				n.resume()
			}
		}
		w.run(5 * time.Second)
		for _, name := range []string{"a", "b", "c"} {
			alive := false
			for _, n := range w.nodes {
				alive = alive || n.name == name && !n.dead
			}
			if !alive {
				w.start(name)
			}
		}
		w.run(40 * time.Second)
		w.balanced()
		w.moves = 0
		w.run(20 * time.Second)
		if w.moves > 0 {
			t.Fatalf("seed %d: %d moves in a quiet cluster", seed, w.moves)
		}
	}
}
