package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// pips are the ways to run pip, in the order in which they are tried. uv has no
// download of its own and runs a pip that it fetches for the purpose.
var pips = [][]string{
	{"python3", "-m", "pip"},
	{"pip3"},
	{"pip"},
	{"python", "-m", "pip"},
	{"uv", "tool", "run", "pip"},
}

// fetch downloads the build's wheel into a folder and returns its path. Index,
// proxy and certificates are those that pip and uv are configured with.
func fetch(ctx context.Context, b build, dir string, say func(string, ...any)) (string, error) {
	pip, err := findPip(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: install pip or uv, or fetch the wheel of slatedb %s for %s elsewhere and name it with -wheel",
			err, Version, b.tag)
	}
	name := strings.Join(pip, " ")
	say("downloading slatedb %s for %s (10 MB) with %s", Version, b.tag, name)
	out, err := run(ctx, slices.Concat(pip, []string{
		"download", "slatedb==" + Version, "--no-deps", "--only-binary=:all:", "--platform", b.tag,
		"-d", dir, "--disable-pip-version-check", "--no-input",
	}))
	if ctx.Err() != nil {
		return "", fmt.Errorf("download interrupted: %w", context.Cause(ctx))
	}
	if err != nil {
		return "", fmt.Errorf("%q could not download slatedb %s for %s (%s): if this machine is offline, "+
			"fetch the wheel elsewhere and name it with -wheel", name, Version, b.tag, reason(out, err))
	}
	wheels, _ := filepath.Glob(filepath.Join(dir, "slatedb-*.whl")) // the pattern is well-formed
	if len(wheels) != 1 {
		return "", fmt.Errorf("%q downloaded %d wheels of slatedb %s for %s, not 1", name, len(wheels), Version, b.tag)
	}
	return wheels[0], nil
}

// findPip is the first pip that runs. A python3 without pip is common, and so is
// a pip without its python. uv's is not tried: it may have to be fetched first.
func findPip(ctx context.Context) ([]string, error) {
	for _, pip := range pips {
		if _, err := exec.LookPath(pip[0]); err != nil {
			continue
		}
		version := append(slices.Clone(pip), "--version")
		if pip[0] == "uv" {
			version = []string{"uv", "--version"}
		}
		if _, err := run(ctx, version); err == nil {
			return pip, nil
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, errors.New("neither pip nor uv runs on this machine")
}

// run is a command's standard output and error. When the context ends, the
// command is interrupted, and killed if that does not end it.
func run(ctx context.Context, command []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd.CombinedOutput()
}

// secret matches the user and password of a URL.
var secret = regexp.MustCompile(`://[^/@\s]*@`)

// reason is the line of pip's output that tells the most.
func reason(out []byte, err error) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	slices.Reverse(lines)
	for _, line := range lines {
		text := strings.TrimSpace(string(line))
		if _, told, ok := strings.Cut(text, "ERROR: "); ok {
			return secret.ReplaceAllString(told, "://")
		}
	}
	if last := string(lines[0]); last != "" {
		return secret.ReplaceAllString(last, "://")
	}
	return err.Error()
}
