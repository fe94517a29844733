package main

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/internal/s3test"
)

// kills is how often a node is killed in one test.
func kills() int {
	if stress {
		return 50
	}
	return 3
}

func TestAcknowledgedWritesSurviveKill9OnADirectory(t *testing.T) {
	t.Parallel()
	survive(t, directory(t))
}

func TestAcknowledgedWritesSurviveKill9OnS3(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, "demo")
	survive(t, place{url: server.URL("demo", "kill"), env: server.Env()})
}

// survive kills a node again and again at a random moment under load. After each
// restart nothing acknowledged may be missing.
func survive(t *testing.T, p place) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	remote, err := process.FreeAddress()
	require.NoError(t, err)
	http, err := process.FreeAddress()
	require.NoError(t, err)
	l := load.New(load.Options{Addresses: []string{http}, Clients: 32})
	defer l.Close()
	for range kills() {
		node, err := process.StartAt(p.options("--shards", "4", "--flush-interval", "20ms"), remote, http)
		require.NoError(t, err)
		t.Cleanup(node.Kill)
		awaitReady(t, node)
		verify(t, l, node)
		killUnder(l, node, time.Duration(random.Int64N(int64(600*time.Millisecond))))
	}
	node, err := process.StartAt(p.options("--shards", "4", "--flush-interval", "20ms"), remote, http)
	require.NoError(t, err)
	t.Cleanup(node.Kill)
	awaitReady(t, node)
	verify(t, l, node)
	stopNode(t, node)
	require.Positive(t, l.Tally().Acknowledged)
	t.Logf("%s", l.Tally())
}

// killUnder kills the node after a while under load.
func killUnder(l *load.Load, node *process.Node, after time.Duration) {
	end := keepLoading(l)
	time.Sleep(after) // the random moment
	node.Kill()
	end()
}

func verify(t *testing.T, l *load.Load, node *process.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	verdict, err := l.Verify(ctx)
	require.NoError(t, err, node.Output())
	require.True(t, verdict.OK(), verdict)
}
