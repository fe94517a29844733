package faults

import (
	"slices"
	"strings"
)

// Rule says which requests meet a fault. The first rule that matches a request
// and is not used up applies, and no other.
type Rule struct {
	// Ops are the kinds of requests. Default: any.
	Ops Op

	// Key is a pattern for the key, or the prefix of a List, in which "*" stands
	// for any characters, slashes included. Default: every key.
	Key string

	// Skip is how many matching requests pass unharmed first.
	Skip int

	// Times is how many requests meet the fault then. Default: all.
	Times int

	// Fault is what happens to them. It is required.
	Fault Fault
}

// Injection is a rule at work.
type Injection struct {
	bucket *Bucket
	rule   Rule
	seen   int // guarded by bucket.mu
	fired  int // guarded by bucket.mu
}

// Inject adds a rule after those that are there.
func (b *Bucket) Inject(r Rule) *Injection {
	if r.Ops == 0 {
		r.Ops = Any
	}
	if r.Key == "" {
		r.Key = "*"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := &Injection{bucket: b, rule: r}
	b.rules = append(b.rules, i)
	return i
}

// Fired is how many requests met the fault so far.
func (i *Injection) Fired() int {
	i.bucket.mu.Lock()
	defer i.bucket.mu.Unlock()
	return i.fired
}

// Remove ends the rule for requests that come later. It is idempotent.
func (i *Injection) Remove() {
	i.bucket.mu.Lock()
	defer i.bucket.mu.Unlock()
	i.bucket.rules = slices.DeleteFunc(i.bucket.rules, func(other *Injection) bool { return other == i })
}

// Clear removes all rules.
func (b *Bucket) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = nil
}

// meets tells whether the request meets the fault, and counts it.
func (i *Injection) meets(r Request) bool {
	if i.rule.Ops&r.Op == 0 || !matches(i.rule.Key, r.Key) || i.rule.Times > 0 && i.fired == i.rule.Times {
		return false
	}
	i.seen++
	if i.seen <= i.rule.Skip {
		return false
	}
	i.fired++
	return true
}

// matches tells whether the pattern describes the whole text.
func matches(pattern, text string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, first)
	for from := 0; ok && from <= len(text); from++ {
		if matches(rest, text[from:]) {
			return true
		}
	}
	return false
}
