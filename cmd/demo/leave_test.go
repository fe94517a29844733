package main

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/internal/s3test"
)

func TestANodeThatLeavesUnderLoadAnswersEveryRequest(t *testing.T) {
	p := directory(t)
	node := startNode(t, p.options())
	l := load.New(load.Options{Addresses: []string{node.HTTP}, Clients: 32})
	defer l.Close()
	end := keepLoading(l)
	awaitAcknowledged(t, l, 500)
	stopNode(t, node)
	end()
	require.Contains(t, node.Output(), `msg="leaving: SIGTERM"`)
	require.Regexp(t, `msg=left$`, node.Output())
	require.Zero(t, l.Tally().Unknown, l.Tally())

	node, err := process.StartAt(p.options(), mustAddress(t), node.HTTP)
	require.NoError(t, err)
	t.Cleanup(node.Kill)
	awaitReady(t, node)
	verify(t, l, node)
}

// keepLoading runs a load and returns what ends it and waits for its last answers.
func keepLoading(l *load.Load) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { l.Run(ctx) })
	return func() {
		stop()
		running.Wait()
	}
}

func mustAddress(t *testing.T) string {
	t.Helper()
	address, err := process.FreeAddress()
	require.NoError(t, err)
	return address
}

func awaitAcknowledged(t *testing.T, l *load.Load, writes int64) {
	t.Helper()
	require.Eventually(t, func() bool { return l.Tally().Acknowledged >= writes }, patience, 10*time.Millisecond)
}

func TestASignalAtAnyMomentEndsANodeWithStatus0(t *testing.T) {
	p := directory(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	rounds := 5
	if stress {
		rounds = 50
	}
	for range rounds {
		node, err := process.Start(p.options())
		require.NoError(t, err)
		t.Cleanup(node.Kill)
		require.Eventually(t, func() bool { return handlesSignals(node) }, patience, time.Millisecond)
		time.Sleep(time.Duration(random.Int64N(int64(300 * time.Millisecond)))) // the random moment
		stopNode(t, node)
		require.NotContains(t, node.Output(), "panic")
	}
}

func handlesSignals(node *process.Node) bool {
	c := client.New(node.HTTP, 1)
	defer c.Close()
	_, err := c.Shards(context.Background())
	return err == nil
}

// A node cannot close its shards while the store hangs. A second signal does not
// wait for that.
func TestASecondSignalEndsANodeAtOnce(t *testing.T) {
	server := s3test.Start(t, "demo")
	p := place{url: server.URL("demo", "second"), env: server.Env()}
	node := startNode(t, p.options())
	c := client.New(node.HTTP, 1)
	defer c.Close()
	require.NoError(t, server.Pause())
	defer func() { _ = server.Continue() }()
	addUntilUnknown(t, c)

	require.NoError(t, node.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { return strings.Contains(node.Output(), "leaving") }, patience, time.Millisecond)
	require.False(t, node.Ended())
	began := time.Now()
	stopped, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	status, err := node.Stop(stopped)
	require.NoError(t, err)
	require.Equal(t, statusFailed, status)
	require.Less(t, time.Since(began), 10*time.Second)
	require.Contains(t, node.Output(), "second signal")
}
