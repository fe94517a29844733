// Command docs checks that the documentation is in step with the code: the Go
// programs in README.md compile and keep to their length, local links lead
// somewhere, and every make target that a text names exists.
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// maxProgram is the promised length of the README's first program, in lines.
const maxProgram = 40

var (
	goBlock    = regexp.MustCompile("(?s)```go\n(package main.*?)```")
	code       = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	localLink  = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	makeTarget = regexp.MustCompile("`make ([a-z0-9-]+)")
	ruleName   = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

func main() {
	problems, err := check(".")
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
	fmt.Println("docs: in step with the code")
}

func check(root string) ([]string, error) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return nil, err
	}
	targets := map[string]bool{}
	for _, m := range ruleName.FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	var problems []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // our own tree
		if err != nil {
			return err
		}
		problems = append(problems, checkPage(path, string(text), targets)...)
		return nil
	})
	return problems, err
}

func checkPage(path, text string, targets map[string]bool) []string {
	var problems []string
	for _, m := range localLink.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
			problems = append(problems, fmt.Sprintf("%s: the link to %s leads nowhere", path, m[1]))
		}
	}
	for _, m := range makeTarget.FindAllStringSubmatch(text, -1) {
		if !targets[m[1]] {
			problems = append(problems, fmt.Sprintf("%s: there is no make target %s", path, m[1]))
		}
	}
	for _, m := range goBlock.FindAllStringSubmatch(text, -1) {
		if lines := strings.Count(strings.TrimSpace(m[1]), "\n") + 1; lines > maxProgram {
			problems = append(problems, fmt.Sprintf("%s: a program of %d lines; at most %d are promised", path, lines, maxProgram))
		}
		if err := compile(m[1]); err != nil {
			problems = append(problems, fmt.Sprintf("%s: a program does not compile: %v", path, err))
		}
	}
	return problems
}

// compile vets the program inside this module, so that it sees the code as it is.
func compile(program string) error {
	dir, err := os.MkdirTemp(".", ".docs-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
		return err
	}
	out, err := exec.CommandContext(context.Background(), "go", "vet", "./"+filepath.ToSlash(dir)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
