package lease

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/slap-go/slap/strategy"
)

// exploration is one scenario of the exploration.
type exploration struct {
	name   string
	ttls   []int    // of each node, in ticks
	names  []string // of each; two may have one name
	late   int      // how many of the last nodes start at any time, instead of at the beginning
	budget budget
	total  int  // of trouble in one run
	free   bool // messages come in any order, and time passes meanwhile, without trouble
	writes bool // trouble befalls writes of leases only
	warm   int  // ticks without trouble at first
	alone  bool // no node sees the others' heartbeats: safety does not need them

	// Broken on purpose: what the core is told, and what the store is.
	input func(n *explored, input any) any
	store func(s *situation, l *Lease)
	after func(n *explored)
	keeps bool // late opens
	blind bool // for opens and closes that were given up

	catches string // the violation that has to be found
}

// situation is a state of the exploration.
type situation struct {
	*exploration

	record Lease // without a version if it is missing
	beats  map[string]Beat
	serial int // of versions
	nodes  []*explored
	used   []uint64 // generations that were claimed
	spent  budget
	total  int
	wrong  string
	log    *string
}

// move is a step of a run.
type move struct {
	kind string
	node int
	wire int
	cost int
}

func (m move) String() string { return fmt.Sprintf("%s(%d,%d)", m.kind, m.node, m.wire) }

func (e *exploration) begin() *situation {
	s := &situation{exploration: e, beats: map[string]Beat{}}
	for i, name := range e.names {
		ttl := e.ttls[i]
		o := Options{TTL: ticks(ttl), Interval: 2 * tick, Margin: tick, MaxConcurrency: 1}
		s.nodes = append(s.nodes, newExplored(i, name, o))
	}
	for i := range len(e.names) - e.late {
		s.start(i)
	}
	for range e.warm {
		s.calm()
		s.tick(-1, 0)
	}
	return s
}

func (s *situation) clone(node int) *situation {
	c := *s
	c.nodes = slices.Clone(s.nodes)
	if node >= 0 {
		c.nodes[node] = s.nodes[node].clone()
	} else {
		for i, n := range s.nodes {
			c.nodes[i] = n.clone()
		}
	}
	c.beats = map[string]Beat{}
	for name, b := range s.beats {
		c.beats[name] = b
	}
	c.used = slices.Clone(s.used)
	return &c
}

func (s *situation) key(k *keyer) uint64 {
	k.out, k.names = k.out[:0], map[string]byte{}
	k.now, k.past = exploreBase, ticks(slices.Max(s.ttls)+1)
	k.value(reflect.ValueOf(s.record))
	k.value(reflect.ValueOf(s.beats))
	for _, n := range s.nodes {
		k.now = n.now
		k.value(reflect.ValueOf(*n.core))
		k.value(reflect.ValueOf(*n.queue))
		k.value(reflect.ValueOf(n.wires))
		k.value(reflect.ValueOf(n.toRunner))
		k.value(reflect.ValueOf(n.toLoop))
		for _, b := range []bool{
			n.started, n.dead, n.paused, n.left, n.held, n.old, n.stuck, n.kept, n.lease != nil, n.served != nil, n.lease == n.served,
		} {
			k.value(reflect.ValueOf(b))
		}
		k.int(int64(n.db)<<8 | int64(n.ahead))
		k.instant(n.wake)
		k.instant(n.promise)
		for _, l := range []*strategy.Lease{n.lease, n.served} {
			if l != nil {
				k.int(int64(l.Generation()))
				k.instant(l.Deadline())
			}
		}
	}
	k.value(reflect.ValueOf(s.spent))
	return k.sum()
}

func (s *situation) next() Version {
	s.serial++
	return Version(fmt.Sprintf("%cv%d", mark, s.serial))
}

func (s *situation) violate(what string) {
	if !strings.Contains(s.wrong, what) {
		s.wrong += what
	}
}

// check is what must be so in every situation: no two gates of different names are open
// (S4), nor of one name (D4), and no process opens the shard a second time while an open
// goes on that it has given up (P4.3). No generation is claimed twice (S5), and nobody who
// has a lease takes the database from somebody who has one, too (S6).
func (s *situation) check() {
	for i, n := range s.nodes {
		if n.stuck && n.db == dbOpening {
			s.violate("P4.3")
		}
		for _, o := range s.nodes[:i] {
			switch {
			case !n.gate() || !o.gate():
			case n.name != o.name:
				s.violate("S4")
			default:
				s.violate("D4")
			}
		}
	}
}
