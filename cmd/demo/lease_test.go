package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// owners are how many shards each node owns, as the browser's node sees it.
func (b browser) owners() map[string]int {
	var m shardmap.Map
	require.NoError(b.t, json.Unmarshal([]byte(b.expect(http.StatusOK, "GET", "/shards", "").body), &m))
	count := map[string]int{}
	for _, s := range m.Shards {
		count[s.Owner]++
	}
	return count
}

// Nodes under leases share the shards, answer for all of them, and take over those of one
// that leaves.
func TestObjectLeaseNodesShareTheShards(t *testing.T) {
	p := directory(t)
	nodes := map[string]browser{}
	for _, name := range []string{"a", "b"} {
		nodes[name] = browser{t, startNode(t, p.options("--shards", "4", "--strategy", "object-lease", "--lease-ttl", "3s",
			"--trust-leases", "--name", name))}
	}
	for name, b := range nodes {
		require.Eventually(t, func() bool { o := b.owners(); return o["a"] == 2 && o["b"] == 2 }, time.Minute, 50*time.Millisecond, "as %s sees it", name)
	}
	for n := range 20 {
		counted(t, nodes, fmt.Sprint("key-", n), 1)
	}
	stopNode(t, nodes["a"].node)
	require.Eventually(t, func() bool { return nodes["b"].owners()["b"] == 4 }, time.Minute, 50*time.Millisecond)
	for n := range 20 {
		require.Contains(t, nodes["b"].expect(http.StatusOK, "GET", fmt.Sprint("/counters/key-", n), "").body, `"value":2`)
	}
	stopNode(t, nodes["b"].node)
}

func TestANameInUse(t *testing.T) {
	p := directory(t)
	options := []string{"--shards", "2", "--strategy", "object-lease", "--lease-ttl", "3s", "--trust-leases"}
	node := startNode(t, p.options(append(options, "--name", "a")...))
	refused(t, unfit{arguments: nodeOn(t, p.url, options...), says: []string{"--name a", "another node runs under this name"}})
	stopNode(t, node)
	stopNode(t, startNode(t, p.options(append(options, "--name", "a")...)))
}
