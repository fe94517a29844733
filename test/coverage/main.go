// Command coverage checks that every rule that binds has a test named after it, or
// a reason why it has none, and that docs/coverage.md says so. With -write it
// writes that page.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	write := flag.Bool("write", false, "write docs/coverage.md")
	flag.Parse()
	found, err := run(".", inventory, *write)
	if err != nil {
		found = append(found, err.Error())
	}
	for _, p := range found {
		fmt.Fprintln(os.Stderr, "coverage: "+p)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
	fmt.Println("coverage: every rule has its test or its reason")
}

// run returns what is wrong below a root. The page is written also when something is.
func run(root, inventory string, write bool) ([]string, error) {
	rules, err := parseRules(inventory)
	if err != nil {
		return nil, fmt.Errorf("rules.txt: %w", err)
	}
	proofs, err := scan(root)
	if err != nil {
		return nil, err
	}
	found := problems(rules, proofs)
	file, want := filepath.Join(root, "docs", "coverage.md"), page(rules, proofs)
	if write {
		return found, os.WriteFile(file, []byte(want), 0o600)
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		found = append(found, "docs/coverage.md is stale: run `make coverage`")
	}
	return found, nil
}
