package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// Each node opens its own shards and sees the others' as remote.
func TestStaticNodesShareTheShards(t *testing.T) {
	p := directory(t)
	more := []string{
		"--shards", "5", "--strategy", "static", "--peers", "b=127.0.0.1:7002,a=127.0.0.1:7001",
		"--config", configFile(t, "retries: 0"),
	}
	nodes := map[string]browser{}
	for _, name := range []string{"a", "b"} {
		nodes[name] = browser{t, startNode(t, p.options(append(more, "--name", name)...))}
	}
	for name, b := range nodes {
		var m shardmap.Map
		require.NoError(t, json.Unmarshal([]byte(b.expect(200, "GET", "/shards", "").body), &m))
		require.Len(t, m.Shards, 5)
		for n, s := range m.Shards {
			want := shardmap.Shard{Shard: n, Owner: []string{"b", "a"}[n%2], State: "remote"}
			if want.Owner == name {
				want.State = "running"
			}
			require.Equal(t, want, s, "as %s sees it", name)
		}
		b.expect(200, "GET", "/readyz", "")
	}
	for n := range 20 {
		served(t, nodes, fmt.Sprint("key-", n))
	}
	for _, b := range nodes {
		stopNode(t, b.node)
	}
}

// served expects that one node answers for the key, and that the other did not try.
func served(t *testing.T, nodes map[string]browser, key string) {
	t.Helper()
	var by []string
	for name, b := range nodes {
		got := b.do("POST", "/counters/"+key, "")
		if got.status == http.StatusOK {
			by = append(by, name)
			continue
		}
		require.Equal(t, http.StatusServiceUnavailable, got.status, got.body)
		require.Contains(t, got.body, `"code":"no_connection","executed":"no"`)
		require.NotEmpty(t, got.header.Get("Retry-After"))
	}
	require.Len(t, by, 1, key)
}

// A node can be told everything by a file. What the command line says comes first.
func TestANodeThatIsConfiguredByAFile(t *testing.T) {
	http := mustAddress(t)
	path := configFile(t, fmt.Sprintf(`
name: from-file
cluster: shop
listen: %s
http: %s
store: %s
shards: 3
settings: {flush_interval: 5ms}
lease_ttl: 3s
call_timeout: 10s
`, mustAddress(t), http, directory(t).url))
	node, err := process.StartAt(process.Options{Executable: binary, Arguments: []string{"--config", path, "--name", "a"}}, mustAddress(t), http)
	require.NoError(t, err)
	t.Cleanup(node.Kill)
	awaitReady(t, node)
	require.Contains(t, node.Output(), "ready name=a ")
	body := browser{t, node}.expect(200, "GET", "/shards", "").body
	require.Contains(t, body, `"cluster":"shop","node":"a"`)
	require.Contains(t, body, `"shard":2`)
	require.NotContains(t, body, `"shard":3`)
	stopNode(t, node)
}
