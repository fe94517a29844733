package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed rules.txt
var inventory string

// rule is one line of the inventory.
type rule struct {
	id    string // as the documents write it: CFG-1, P8.1
	mark  string
	about string
	why   string // there can be no test; empty if there must be one
}

// binding says whether the rule needs a test or a reason.
func (r rule) binding() bool { return strings.ContainsAny(r.mark, "TCP") }

// parseRules reads an inventory. No id is in it twice.
func parseRules(text string) ([]rule, error) {
	var rules []rule
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, err := parseRule(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if seen[r.id] {
			return nil, fmt.Errorf("line %d: %s is there twice", i+1, r.id)
		}
		seen[r.id] = true
		rules = append(rules, r)
	}
	return rules, nil
}

func parseRule(line string) (rule, error) {
	parts := strings.Split(line, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if len(parts) < 3 || len(parts) > 4 {
		return rule{}, fmt.Errorf("%q is not id | mark | about | n/a: reason", line)
	}
	r := rule{id: parts[0], mark: parts[1], about: parts[2]}
	if id, _, ok := cutID(r.id); !ok || id != r.id {
		return rule{}, fmt.Errorf("%q is no id", r.id)
	}
	if r.mark == "" || strings.Trim(r.mark, "TCDIP") != "" || r.about == "" {
		return rule{}, fmt.Errorf("%s: the mark is made of T, C, D, I and P, and something follows it", r.id)
	}
	if len(parts) == 4 {
		why, ok := strings.CutPrefix(parts[3], "n/a: ")
		if !ok || why == "" {
			return rule{}, fmt.Errorf("%s: %q is not n/a: reason", r.id, parts[3])
		}
		r.why = why
	}
	return r, nil
}
