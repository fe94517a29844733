// Package injection keeps the rules by which a test double injects faults into the calls
// of those who use it.
package injection

import (
	"slices"
	"sync"
)

// Rule says which calls of type C meet a fault of type F.
type Rule[C, F any] struct {
	Match func(C) bool // nil is all; it must not use the rules
	Skip  int          // how many matching calls pass unharmed first
	Times int          // how many calls meet the fault then. Default: all
	Fault F
}

// Rules are those of one double, in the order in which they were added. The zero value
// has none. They are safe for concurrent use.
type Rules[C, F any] struct {
	mu  sync.Mutex
	all []*Injection[C, F]
}

// Injection is a rule at work.
type Injection[C, F any] struct {
	rule  Rule[C, F]
	rules *Rules[C, F]
	seen  int // guarded by rules.mu
	fired int // guarded by rules.mu
}

// Inject adds a rule after those that are there.
func (r *Rules[C, F]) Inject(rule Rule[C, F]) *Injection[C, F] {
	i := &Injection[C, F]{rule: rule, rules: r}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, i)
	return i
}

// Meet counts the call and returns the fault of the first rule that matches it and is
// not used up, or the zero value.
func (r *Rules[C, F]) Meet(call C) (fault F) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.all {
		if i.meets(call) {
			return i.rule.Fault
		}
	}
	return fault
}

// Clear removes all rules and returns their faults.
func (r *Rules[C, F]) Clear() (faults []F) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.all {
		faults = append(faults, i.rule.Fault)
	}
	r.all = nil
	return faults
}

// Fired is how many calls met the fault so far.
func (i *Injection[C, F]) Fired() int {
	i.rules.mu.Lock()
	defer i.rules.mu.Unlock()
	return i.fired
}

// Remove ends the rule for calls that come later. It is idempotent.
func (i *Injection[C, F]) Remove() {
	i.rules.mu.Lock()
	defer i.rules.mu.Unlock()
	i.rules.all = slices.DeleteFunc(i.rules.all, func(other *Injection[C, F]) bool { return other == i })
}

func (i *Injection[C, F]) meets(call C) bool {
	if i.rule.Match != nil && !i.rule.Match(call) || i.rule.Times > 0 && i.fired == i.rule.Times {
		return false
	}
	i.seen++
	if i.seen <= i.rule.Skip {
		return false
	}
	i.fired++
	return true
}
