package faults

import (
	"strings"

	"github.com/slap-go/slap/internal/injection"
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

// Injection is a rule at work. Fired is how many requests met the fault so far. Remove
// ends the rule for requests that come later; it is idempotent.
type Injection = injection.Injection[Request, Fault]

// Inject adds a rule after those that are there.
func (b *Bucket) Inject(r Rule) *Injection {
	if r.Ops == 0 {
		r.Ops = Any
	}
	if r.Key == "" {
		r.Key = "*"
	}
	match := func(q Request) bool { return r.Ops&q.Op != 0 && matches(r.Key, q.Key) }
	return b.rules.Inject(injection.Rule[Request, Fault]{Match: match, Skip: r.Skip, Times: r.Times, Fault: r.Fault})
}

// Clear removes all rules.
func (b *Bucket) Clear() { b.rules.Clear() }

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
