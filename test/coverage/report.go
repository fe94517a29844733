package main

import (
	"fmt"
	"slices"
	"strings"
)

// list is where the rules are.
const list = own + "/rules.txt"

// problems are what is wrong between the rules and the tests.
func problems(rules []rule, proofs map[string][]proof) []string {
	var all []string
	known := map[string]bool{}
	for _, r := range rules {
		known[r.id] = true
		switch tests := proofs[r.id]; {
		case r.why != "" && len(tests) > 0:
			all = append(all, fmt.Sprintf("%s is n/a (%s), but %s tests it: take the reason out of %s", r.id, r.why, tests[0].name, list))
		case r.why == "" && len(tests) == 0 && r.binding():
			all = append(all, fmt.Sprintf("%s has no test: name one after it (%s), or give a reason in %s", r.id, r.about, list))
		}
	}
	var unknown []string
	for id, tests := range proofs {
		if !known[id] {
			unknown = append(unknown, fmt.Sprintf("%s in %s is named after %s, which is no rule in %s", tests[0].name, tests[0].file, id, list))
		}
	}
	slices.Sort(unknown)
	return append(all, unknown...)
}

const head = `# Rules and their tests

Made by ` + "`make coverage`" + `; do not edit. Each rule of the protocols (P) and of the original's inventory
that a test there asserts (T) or its code shows (C) has a test named after it, or a reason why there is none.
What its documentation claims (D) and what is derived (I) is listed with the tests that there are.

| id | mark | about | tests |
|---|---|---|---|
`

// page is docs/coverage.md.
func page(rules []rule, proofs map[string][]proof) string {
	var b strings.Builder
	b.WriteString(head)
	for _, r := range rules {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.id, r.mark, r.about, cell(r, proofs[r.id]))
	}
	return b.String()
}

func cell(r rule, tests []proof) string {
	if r.why != "" {
		return "n/a: " + r.why
	}
	links := make([]string, 0, len(tests))
	for _, p := range tests {
		links = append(links, fmt.Sprintf("[%s](../%s)", strings.NewReplacer("|", "/", "[", "(", "]", ")").Replace(p.name), p.file))
	}
	return strings.Join(links, "<br>")
}
