package main

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/internal/s3test"
)

// While the store hangs no write is acknowledged and the node says at once how it
// is. Once the store is back, so are the writes.
func TestAStoreThatHangsForAWhile(t *testing.T) {
	server := s3test.Start(t, "demo")
	node := startNode(t, place{url: server.URL("demo", "hung"), env: server.Env()}.options("--shards", "2"))
	l := load.New(load.Options{Addresses: []string{node.HTTP}, Clients: 8})
	defer l.Close()
	end := keepLoading(l)
	awaitAcknowledged(t, l, 50)

	require.NoError(t, server.Pause())
	stuck := awaitStill(t, l)
	b := browser{t, node}
	for _, path := range []string{"/healthz", "/readyz", "/shards", "/"} {
		began := time.Now()
		b.expect(http.StatusOK, "GET", path, "")
		require.Less(t, time.Since(began), 5*time.Second, path)
	}
	require.Equal(t, stuck, l.Tally().Acknowledged)

	require.NoError(t, server.Continue())
	awaitAcknowledged(t, l, stuck+50)
	end()
	require.Zero(t, l.Tally().Unknown, l.Tally())
	verify(t, l, node)
	stopNode(t, node)
}

// awaitStill waits until nothing has been acknowledged for half a second.
func awaitStill(t *testing.T, l *load.Load) int64 {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		before := l.Tally().Acknowledged
		time.Sleep(500 * time.Millisecond)
		if l.Tally().Acknowledged == before {
			return before
		}
		require.False(t, time.Now().After(deadline), "writes go on")
	}
}

// A request whose deadline passes while the store hangs has an unknown outcome; a
// node that cannot close its shards says which and ends with status 1.
func TestAStoreThatHangsToTheEnd(t *testing.T) {
	if !stress {
		t.Skip("it waits for every timeout, two minutes; only with SLAP_STRESS=1")
	}
	server := s3test.Start(t, "demo")
	node := startNode(t, place{url: server.URL("demo", "end"), env: server.Env()}.options("--shards", "2"))
	require.NoError(t, server.Pause())
	t.Cleanup(func() { _ = server.Continue() })

	answer := browser{t, node}.expect(http.StatusGatewayTimeout, "POST", "/counters/k", "")
	require.Contains(t, answer.body, `"code":"timeout"`)
	require.Contains(t, answer.body, `"executed":"unknown"`)

	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	status, err := node.Stop(ctx)
	require.NoError(t, err)
	require.Equal(t, statusFailed, status)
	require.Contains(t, node.Output(), "could not be closed")
}

// A client that goes away leaves the node and its write as they are.
func TestAClientThatGoesAway(t *testing.T) {
	server := s3test.Start(t, "demo")
	node := startNode(t, place{url: server.URL("demo", "gone"), env: server.Env()}.options("--shards", "1"))
	require.NoError(t, server.Pause())
	c := client.New(node.HTTP, 1)
	defer c.Close()
	added := addUntilUnknown(t, c)
	require.NoError(t, server.Continue())

	bounded, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	count, err := c.Counter(bounded, "k")
	require.NoError(t, err)
	require.Equal(t, added, count.Value, "the write whose client went away is done too")
	require.Regexp(t, `slap_request_duration_seconds_count\{.*slap_request_outcome="unknown"\} 1`, browser{t, node}.expect(200, "GET", "/metrics", "").body)
	stopNode(t, node)
}

// addUntilUnknown adds to a counter until the hanging store keeps an answer back,
// and returns how many additions were sent.
func addUntilUnknown(t *testing.T, c *client.Client) (added int64) {
	t.Helper()
	for {
		added++
		require.Less(t, added, int64(1000), "the store does not hang")
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		_, err := c.Add(ctx, "k", 1)
		cancel()
		if err != nil {
			require.ErrorIs(t, err, client.ErrUnknown)
			return added
		}
	}
}
