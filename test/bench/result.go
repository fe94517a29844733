package main

import (
	"fmt"
	"strings"
)

// A result is what a benchmark has measured.
type result struct {
	name   string
	goal   goal
	unit   string // of ours and peer; empty if figure has no peer
	figure float64
	rounds []float64 // the figures whose median is figure

	ours, peer float64 // medians
	note       string  // more of both, if there is any
}

// String is the line of the result.
func (r result) String() string {
	return fmt.Sprintf("bench: %s ratio=%.2f %v", r.name, r.figure, r.goal)
}

// details is the line that shows where the figure comes from.
func (r result) details() string {
	var b strings.Builder
	fmt.Fprintf(&b, "info: %s", r.name)
	if r.unit != "" {
		fmt.Fprintf(&b, " ours=%s peer=%s (%s)", short(r.ours), short(r.peer), r.unit)
	}
	if r.note != "" {
		b.WriteString(" " + r.note)
	}
	b.WriteString(" rounds:")
	for _, figure := range r.rounds {
		fmt.Fprintf(&b, " %.2f", figure)
	}
	return b.String()
}

// short is a figure with three digits: 2.47, 13.1, 187k, 4.51M.
func short(figure float64) string {
	switch {
	case figure >= 1e6:
		return fmt.Sprintf("%.3gM", figure/1e6)
	case figure >= 1e3:
		return fmt.Sprintf("%.3gk", figure/1e3)
	default:
		return fmt.Sprintf("%.3g", figure)
	}
}

// summary is the last line of a run.
func summary(results []result) string {
	var missed []string
	for _, r := range results {
		if !r.goal.met(r.figure) {
			missed = append(missed, fmt.Sprintf("%s (%.2f, %v)", r.name, r.figure, r.goal))
		}
	}
	text := fmt.Sprintf("summary: %d of %d targets met", len(results)-len(missed), len(results))
	if len(missed) > 0 {
		text += "; missed: " + strings.Join(missed, ", ")
	}
	return text
}
