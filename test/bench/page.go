package main

import (
	"fmt"
	"os"
	"strings"
)

// renew replaces what stands between the marks of a section in a Markdown file.
func renew(path, section, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	renewed, err := replaceSection(string(page), section, text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(renewed), 0o644) //nolint:gosec // documentation is public
}

func replaceSection(page, section, text string) (string, error) {
	first, last := "<!-- "+section+" -->\n", "<!-- end of "+section+" -->\n"
	head, rest, begins := strings.Cut(page, first)
	_, tail, ends := strings.Cut(rest, last)
	if !begins || !ends {
		return "", fmt.Errorf("there are no lines %q and %q", strings.TrimSpace(first), strings.TrimSpace(last))
	}
	return head + first + text + last + tail, nil
}

// table is the results of a machine as Markdown.
func table(machine string, results []result, info []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n", machine)
	b.WriteString("| line | ours | peer | ratio | target | |\n|---|---|---|---|---|---|\n")
	for _, r := range results {
		verdict := "met"
		if !r.goal.met(r.figure) {
			verdict = "**missed**"
		}
		ours, peer := "", ""
		if r.unit != "" {
			ours, peer = short(r.ours)+" "+r.unit, short(r.peer)+" "+r.unit
		}
		bound := strings.TrimPrefix(r.goal.String(), "target")
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f | %s | %s |\n", r.name, ours, peer, r.figure, bound, verdict)
	}
	for i, line := range info {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s\n", strings.TrimPrefix(line, "info: "))
	}
	return b.String()
}
