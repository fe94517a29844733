package leasemem

import (
	"slices"

	"github.com/slap-go/slap/internal/injection"
)

// Rule says which calls meet a fault. The first rule that matches a call and is not used
// up applies, and no other.
type Rule struct {
	By     string   // name of the node that calls. Default: any
	Ops    Op       // kinds of calls. Default: any
	Shards []int    // whose leases. Default: all, and calls that are not about one lease
	Nodes  []string // whose heartbeats. Default: all, and calls that are not about one
	Skip   int      // how many matching calls pass unharmed first
	Times  int      // how many calls meet the fault then. Default: all
	Fault  Fault    // what happens to them; the zero one is none
}

// Injection is a rule at work. Fired is how many calls met the fault so far. Remove ends
// the rule for calls that come later; it is idempotent.
type Injection = injection.Injection[Call, Fault]

// Inject adds a rule, after those that are there, for the calls of all views.
func (s *Store) Inject(r Rule) *Injection { return s.inject(nil, r) }

// Inject adds a rule, after those that are there, for the calls of this view.
func (n *Node) Inject(r Rule) *Injection { return n.store.inject(n, r) }

func (s *Store) inject(view *Node, r Rule) *Injection {
	match := func(c Call) bool { return (view == nil || view == c.view) && r.matches(c) }
	return s.rules.Inject(injection.Rule[Call, Fault]{Match: match, Skip: r.Skip, Times: r.Times, Fault: r.Fault})
}

// Clear removes all rules.
func (s *Store) Clear() { s.rules.Clear() }

func (r Rule) matches(c Call) bool {
	switch {
	case r.Ops != 0 && r.Ops&c.Op == 0, r.By != "" && r.By != c.By:
		return false
	case len(r.Shards) > 0 && (c.Op&aboutLease == 0 || !slices.Contains(r.Shards, c.Shard)):
		return false
	case len(r.Nodes) > 0 && (c.Op&aboutHeartbeat == 0 || !slices.Contains(r.Nodes, c.Node)):
		return false
	}
	return true
}
