package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slap-go/slap/cmd/demo/internal/process"
)

// binary is the demo, built once.
var binary string

// stress says that the long forms of the tests are asked for.
var stress = os.Getenv("SLAP_STRESS") != ""

// patience is for what a loaded machine takes long for.
const patience = time.Minute

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "slap-demo-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "demo")
	build := append([]string{"build", "-o", binary}, buildFlags...)
	if output, err := exec.Command("go", append(build, ".")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the demo does not build: %v\n%s", err, output)
		return 1
	}
	status := m.Run()
	if err := goleak.Find(); status == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// place is a store that outlives processes, and the environment that reaches it.
type place struct {
	url string
	env []string
}

func directory(t *testing.T) place { return place{url: "file://" + t.TempDir()} }

func (p place) options(more ...string) process.Options {
	return process.Options{
		Executable: binary,
		Arguments:  append([]string{"--name", "a", "--store", p.url, "--flush-interval", "5ms"}, more...),
		Env:        append(os.Environ(), p.env...),
	}
}

// startNode starts a node that is killed at the end of the test at the latest.
func startNode(t *testing.T, o process.Options) *process.Node {
	t.Helper()
	node, err := process.Start(o)
	require.NoError(t, err)
	t.Cleanup(node.Kill)
	awaitReady(t, node)
	return node
}

func awaitReady(t *testing.T, node *process.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, node.Ready(ctx))
}

func stopNode(t *testing.T, node *process.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	status, err := node.Stop(ctx)
	require.NoError(t, err)
	require.Equal(t, statusOK, status, node.Output())
}

// demo runs the demo to its end and returns what it wrote and its exit status.
func demo(t *testing.T, env []string, arguments ...string) (stdout, stderr string, status int) {
	t.Helper()
	return demoWithin(t, patience, env, arguments...)
}

// demoWithin is demo for what takes longer.
func demoWithin(t *testing.T, limit time.Duration, env []string, arguments ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, arguments...)
	var out, problems strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &problems
	err := cmd.Run()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return out.String(), problems.String(), cmd.ProcessState.ExitCode()
}
