package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
	"github.com/slap-go/slap/internal/s3test"
)

func TestHelp(t *testing.T) {
	for _, arguments := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		stdout, stderr, status := demo(t, nil, arguments...)
		require.Equal(t, statusOK, status)
		require.Empty(t, stderr)
		for _, c := range commands() {
			require.Contains(t, stdout, c.name)
			help, _, status := demo(t, nil, c.name, "--help")
			require.Equal(t, statusOK, status)
			require.Contains(t, help, "-")
		}
	}
}

func TestShardsAndLoadAndDiagnose(t *testing.T) {
	p := directory(t)
	node := startNode(t, p.options("--shards", "3"))

	stdout, _, status := demo(t, nil, "shards", "--http", node.HTTP)
	require.Equal(t, statusOK, status)
	require.Equal(t, 5, strings.Count(stdout, "\n"))
	require.Equal(t, 3, strings.Count(stdout, "running"))
	stdout, _, status = demo(t, nil, "shards", "--http", node.HTTP, "--json")
	require.Equal(t, statusOK, status)
	require.JSONEq(t, browser{t, node}.expect(200, "GET", "/shards", "").body, stdout)

	stdout, stderr, status := demo(t, nil, "load", "--http", node.HTTP, "--clients", "4", "--duration", "1200ms")
	require.Equal(t, statusOK, status, stderr)
	for _, words := range []string{"1 s", "acknowledged", "p50", "p99", "/s", "0 acknowledged writes lost, 0 acknowledged twice"} {
		require.Contains(t, stdout, words)
	}

	stdout, stderr, status = demo(t, nil, "diagnose", "--store", p.url)
	require.Equal(t, statusOK, status, stderr)
	for _, words := range []string{"create", "stale_if_match", "ok", "fit: the store honours conditional writes"} {
		require.Contains(t, stdout, words)
	}
}

func TestDiagnoseTellsThatItCreatedTheDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "typo")
	for _, created := range []bool{true, false} {
		stdout, stderr, status := demo(t, nil, "diagnose", "--store", "file://"+dir)
		require.Equal(t, statusOK, status, stderr)
		require.Equal(t, created, strings.Contains(stdout, "created the directory "+dir), stdout)
	}
}

func TestShardsWatchesUntilASignal(t *testing.T) {
	node := startNode(t, directory(t).options("--shards", "1"))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "shards", "--http", node.HTTP, "--watch")
	var out process.Transcript
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "SHARD") }, patience, 10*time.Millisecond)
	node.Kill()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "no node answers at "+node.HTTP) }, patience, 10*time.Millisecond)
	require.Equal(t, 1, strings.Count(out.String(), "SHARD"), out.String())
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Wait())
}

// Every third answer of the node is another one.
func TestAWatcherWritesChangesOnly(t *testing.T) {
	ctx, enough := context.WithCancel(t.Context())
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		if n == 9 {
			enough()
			<-r.Context().Done() // the watcher has gone
			return
		}
		_, _ = fmt.Fprintf(w, `{"cluster":"demo","node":"a","shards":[{"shard":0,"owner":"a","state":"running","generation":%d}]}`, n/3)
	}))
	defer server.Close()
	node := client.New(strings.TrimPrefix(server.URL, "http://"), 1)
	defer node.Close()
	var out strings.Builder
	w := &watcher{node: node, out: &out, every: time.Millisecond, show: printMap}
	require.NoError(t, w.keepOn(ctx))
	require.Equal(t, 3, strings.Count(out.String(), "SHARD"), out.String())
	require.Equal(t, 3, strings.Count(out.String(), "running"), out.String())
}

// On a terminal each picture takes the place of the one before.
func TestAWatcherDrawsOnATerminal(t *testing.T) {
	var out strings.Builder
	m := shardmap.Map{Cluster: "shop", Node: "a", Shards: []shardmap.Shard{{Shard: 0, Owner: "a", State: "running"}}}
	require.NoError(t, draw(&out, m))
	require.True(t, strings.HasPrefix(out.String(), clearScreen+"cluster shop as node a sees it\n"), out.String())
	require.Contains(t, out.String(), "0 ● a")
}

func TestLoadFailsWhenNobodyAnswers(t *testing.T) {
	_, stderr, status := demo(t, nil, "load", "--http", "127.0.0.1:1", "--duration", "50ms")
	require.Equal(t, statusFailed, status)
	require.Contains(t, stderr, "no write was acknowledged: no node answers at 127.0.0.1:1: start one, or correct --http")
}

// An interrupted tour leaves no process and no file behind.
func TestAnInterruptedTourCleansUp(t *testing.T) {
	tmp := t.TempDir()
	cmd := exec.Command(binary, "tour")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	var out process.Transcript
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	require.Eventually(t, func() bool { return strings.Contains(out.String(), " acknowledged, ") }, patience, 10*time.Millisecond, out.String())
	require.Len(t, nodesOn(t, tmp), 3)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the tour goes on")
	}
	require.Equal(t, statusFailed, cmd.ProcessState.ExitCode())
	require.Contains(t, out.String(), "SIGINT")
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, nodesOn(t, tmp))
}

// tourTime is how long a tour may take where nothing else runs.
const tourTime = time.Minute

func TestDEMO_TheTour(t *testing.T) {
	t.Parallel()
	takeTour(t, os.Environ())
}

func TestDEMO_TheTourOnS3(t *testing.T) {
	if !stress && !failover {
		t.Skip("it is the same tour; with SLAP_STRESS=1, or make demo-s3")
	}
	server := s3test.Start(t, "demo")
	takeTour(t, append(os.Environ(), server.Env()...), "--store", server.URL("demo", "tour"))
}

func takeTour(t *testing.T, env []string, more ...string) {
	t.Helper()
	began := time.Now()
	stdout, stderr, status := demoWithin(t, 3*tourTime, env, append([]string{"tour"}, more...)...)
	t.Log(stdout)
	require.Equal(t, statusOK, status, stderr)
	if stress || failover {
		require.Less(t, time.Since(began), tourTime)
	}
	for _, words := range []string{
		"1 start: ", "settled: a has ", "2 load: ", "3 kill -9: ", "b was killed", "taken over: ", "4 return: ", "5 restart: ",
		"served again: ", "6 clean stop: ", "a left with status 0", "handed over: ", "7 fence: ", "was fenced", "opened it again",
		"STEP", "none was lost",
	} {
		require.Contains(t, stdout, words)
	}
	const steps = 7
	require.Equal(t, steps, strings.Count(stdout, "read back by way of all nodes: 0 acknowledged writes lost, 0 acknowledged twice"))
	require.Len(t, regexp.MustCompile(`(?m)^[a-z].* \d+\.\d\d s +\d+ +0$`).FindAllString(stdout, -1), steps-1, "rows with an outage")
}

// nodesOn are the processes whose command line names the directory.
func nodesOn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("this machine has no /proc")
	}
	var found []string
	for _, file := range files {
		if line, _ := os.ReadFile(file); strings.Contains(string(line), dir) {
			found = append(found, string(line))
		}
	}
	return found
}
