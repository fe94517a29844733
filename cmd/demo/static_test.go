package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// Each node opens its own shards, sees the others' as remote, and reaches them.
func TestSTA4_StaticNodesShareTheShards(t *testing.T) {
	p := directory(t)
	remotes := map[string]string{"a": mustAddress(t), "b": mustAddress(t)}
	more := []string{
		"--shards", "5", "--strategy", "static", "--peers", fmt.Sprintf("b=%s,a=%s", remotes["b"], remotes["a"]),
		"--config", configFile(t, "retries: 0"),
	}
	nodes := map[string]browser{}
	start := func(name string) {
		node, err := process.StartAt(p.options(append(more, "--name", name)...), remotes[name], mustAddress(t))
		require.NoError(t, err)
		t.Cleanup(node.Kill)
		awaitReady(t, node)
		require.Contains(t, node.Output(), "ready name="+name+" remote="+remotes[name])
		nodes[name] = browser{t, node}
	}
	start("a")
	start("b")
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
		counted(t, nodes, fmt.Sprint("key-", n), 1)
	}
	nodes["b"].expect(http.StatusOK, "PUT", "/kv/k", "from b")
	require.Equal(t, "from b", nodes["a"].expect(http.StatusOK, "GET", "/kv/k", "").body)
	stopNode(t, nodes["a"].node)
	alone(t, nodes["b"])
	start("a")
	require.Eventually(t, func() bool {
		return nodes["b"].do("GET", "/kv/k", "").status == http.StatusOK &&
			nodes["b"].do("GET", "/counters/key-0", "").status == http.StatusOK
	}, time.Minute, 50*time.Millisecond, "b reaches a again")
	for n := range 20 {
		counted(t, nodes, fmt.Sprint("other-", n), 1)
		nodes["b"].expect(http.StatusOK, "GET", fmt.Sprint("/counters/key-", n), "")
	}
	require.Equal(t, "from b", nodes["b"].expect(http.StatusOK, "GET", "/kv/k", "").body)
	stopNode(t, nodes["a"].node)
	stopNode(t, nodes["b"].node)
}

// counted expects that both nodes count for the key, whoever owns it, from the value on.
func counted(t *testing.T, nodes map[string]browser, key string, value uint64) {
	t.Helper()
	for i, name := range []string{"a", "b"} {
		var answer struct{ Value uint64 }
		body := nodes[name].expect(http.StatusOK, "POST", "/counters/"+key, "").body
		require.NoError(t, json.Unmarshal([]byte(body), &answer))
		require.Equal(t, value+uint64(i), answer.Value, key)
	}
}

// alone expects that the node serves its own shards, and says of the others that it did
// not reach them.
func alone(t *testing.T, b browser) {
	t.Helper()
	own, others := 0, 0
	for n := range 20 {
		got := b.do("POST", fmt.Sprint("/counters/key-", n), "")
		if got.status == http.StatusOK {
			own++
			continue
		}
		others++
		require.Equal(t, http.StatusServiceUnavailable, got.status, got.body)
		require.Contains(t, got.body, `"code":"no_connection","executed":"no"`)
		require.NotEmpty(t, got.header.Get("Retry-After"))
	}
	require.NotZero(t, own)
	require.NotZero(t, others)
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
