package leasemem

import "slices"

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

// Injection is a rule at work.
type Injection struct {
	store *Store
	rule  Rule
	view  *Node // nil for the calls of any view
	seen  int   // guarded by store.mu
	fired int   // guarded by store.mu
}

// Inject adds a rule, after those that are there, for the calls of all views.
func (s *Store) Inject(r Rule) *Injection { return s.inject(nil, r) }

// Inject adds a rule, after those that are there, for the calls of this view.
func (n *Node) Inject(r Rule) *Injection { return n.store.inject(n, r) }

func (s *Store) inject(view *Node, r Rule) *Injection {
	if r.Ops == 0 {
		r.Ops = Any
	}
	i := &Injection{store: s, rule: r, view: view}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, i)
	return i
}

// Fired is how many calls met the fault so far.
func (i *Injection) Fired() int {
	i.store.mu.Lock()
	defer i.store.mu.Unlock()
	return i.fired
}

// Remove ends the rule for calls that come later. It is idempotent.
func (i *Injection) Remove() {
	i.store.mu.Lock()
	defer i.store.mu.Unlock()
	i.store.rules = slices.DeleteFunc(i.store.rules, func(other *Injection) bool { return other == i })
}

// Clear removes all rules.
func (s *Store) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// meets tells whether the call meets the fault, and counts it.
func (i *Injection) meets(c Call) bool {
	if !i.matches(c) || i.rule.Times > 0 && i.fired == i.rule.Times {
		return false
	}
	i.seen++
	if i.seen <= i.rule.Skip {
		return false
	}
	i.fired++
	return true
}

func (i *Injection) matches(c Call) bool {
	r := i.rule
	switch {
	case r.Ops&c.Op == 0, i.view != nil && i.view != c.view, r.By != "" && r.By != c.By:
		return false
	case len(r.Shards) > 0 && (c.Op&aboutLease == 0 || !slices.Contains(r.Shards, c.Shard)):
		return false
	case len(r.Nodes) > 0 && (c.Op&aboutHeartbeat == 0 || !slices.Contains(r.Nodes, c.Node)):
		return false
	}
	return true
}
