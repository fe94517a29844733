package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// What one node of several shows and answers.
func TestDEMO_ANodeAmongOthers(t *testing.T) {
	t.Parallel()
	c := newTrio(t, directory(t), trioTTL)
	for _, part := range []struct {
		name string
		test func(*testing.T, *trio)
	}{
		{"shards", shardsOfSeveral},
		{"values", valuesOfSeveral},
		{"commands", commandsOnSeveral},
		{"restart", restartAmongSeveral},
		{"load", loadOnSeveral},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, c) })
	}
}

func (m *member) browse(t *testing.T) browser {
	t.Helper()
	return browser{t, m.node}
}

func (m *member) shards(t *testing.T) []shardmap.Shard {
	t.Helper()
	var shown shardmap.Map
	require.NoError(t, json.Unmarshal([]byte(m.browse(t).expect(http.StatusOK, "GET", "/shards", "").body), &shown))
	require.Equal(t, m.name, shown.Node)
	require.Len(t, shown.Shards, trioShards)
	return shown.Shards
}

// Every node shows who owns each shard, with the generation of the lease.
func shardsOfSeveral(t *testing.T, c *trio) {
	owned := map[int]shardmap.Shard{}
	for _, m := range c.members {
		for _, s := range m.shards(t) {
			if s.State == "running" {
				require.Equal(t, m.name, s.Owner)
				require.NotZero(t, s.Generation)
				owned[s.Shard] = s
			}
		}
	}
	require.Len(t, owned, trioShards)
	for _, m := range c.members {
		for _, s := range m.shards(t) {
			want := owned[s.Shard]
			if want.Owner != m.name {
				want.State = "remote"
			}
			require.Equal(t, want, s, "as %s sees it", m.name)
		}
		m.browse(t).expect(http.StatusOK, "GET", "/readyz", "")
		m.browse(t).expect(http.StatusOK, "GET", "/healthz", "")
		page := m.browse(t).expect(http.StatusOK, "GET", "/", "").body
		for _, other := range c.others(m) {
			require.Regexp(t, `remote<small>`+other.name+`, generation \d+</small>`, page)
		}
	}
}

// An ETag is the same from every node, and holds for a write by way of any. A value of the
// largest size, and a key, go through.
func valuesOfSeveral(t *testing.T, c *trio) {
	largest, longKey := strings.Repeat("v", 1<<20), strings.Repeat("k", 1<<10)
	for n := range 12 {
		first, second := c.members[n%3].browse(t), c.members[(n+1)%3].browse(t)
		path := fmt.Sprint("/kv/several-", n)
		etag := first.expect(http.StatusOK, "PUT", path, largest, "If-None-Match", "*").header.Get("ETag")
		second.expect(http.StatusPreconditionFailed, "PUT", path, "again", "If-None-Match", "*")
		for _, m := range c.members {
			got := m.browse(t).expect(http.StatusOK, "GET", path, "")
			require.Equal(t, etag, got.header.Get("ETag"))
			require.Len(t, got.body, len(largest))
		}
		next := second.expect(http.StatusOK, "PUT", path, "small", "If-Match", etag).header.Get("ETag")
		first.expect(http.StatusPreconditionFailed, "DELETE", path, "", "If-Match", etag)
		first.expect(http.StatusNoContent, "DELETE", path, "", "If-Match", next)
		second.expect(http.StatusNotFound, "GET", path, "")
		require.NotContains(t, []string{etag, next}, first.expect(http.StatusOK, "PUT", path, "kept").header.Get("ETag"))
	}
	for _, m := range c.members {
		m.browse(t).expect(http.StatusOK, "PUT", "/kv/"+longKey, "v")
		m.browse(t).expect(http.StatusBadRequest, "PUT", "/kv/"+longKey+"k", "v")
	}
}

func commandsOnSeveral(t *testing.T, c *trio) {
	for _, m := range c.members {
		stdout, stderr, status := demo(t, nil, "shards", "--http", m.http)
		require.Equal(t, statusOK, status, stderr)
		require.Contains(t, stdout, "cluster demo as node "+m.name+" sees it")
		for _, s := range m.shards(t) {
			require.Regexp(t, fmt.Sprintf(`(?m)^%d +%s +%s +%d$`, s.Shard, s.Owner, s.State, s.Generation), stdout)
		}
		stdout, _, status = demo(t, nil, "shards", "--http", m.http, "--json")
		require.Equal(t, statusOK, status)
		require.JSONEq(t, m.browse(t).expect(http.StatusOK, "GET", "/shards", "").body, stdout)
	}
}

// A node that is killed and started again knows all it knew.
func restartAmongSeveral(t *testing.T, c *trio) {
	m := c.members[1]
	before := map[string]answer{}
	for n := range 12 {
		path := fmt.Sprint("/kv/several-", n)
		before[path] = m.browse(t).expect(http.StatusOK, "GET", path, "")
	}
	m.node.Kill()
	c.start(m)
	awaitReady(t, m.node)
	c.placed()
	for path, want := range before {
		for _, at := range c.members {
			got := at.browse(t).expect(http.StatusOK, "GET", path, "")
			require.Equal(t, want.body, got.body)
			require.Equal(t, want.header.Get("ETag"), got.header.Get("ETag"))
		}
	}
}

// A node that is gone is no error of a load on all of them.
func loadOnSeveral(t *testing.T, c *trio) {
	var addresses []string
	for _, m := range c.members {
		addresses = append(addresses, m.http)
	}
	cmd := exec.CommandContext(t.Context(), binary, "load", "--http", strings.Join(addresses, ","), "--clients", "8", "--duration", "5s")
	var out process.Transcript
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	c.await("the load runs", func() error { return contains(&out, " acknowledged ") })
	c.members[2].node.Kill()
	require.NoError(t, cmd.Wait(), out.String())
	require.Contains(t, out.String(), "no node answers at "+c.members[2].http)
	require.Contains(t, out.String(), "0 acknowledged writes lost, 0 acknowledged twice")
	require.Regexp(t, `(?m)^total +\d+ acknowledged +\d+ not executed +\d+ unknown`, out.String())
}

func contains(out *process.Transcript, words string) error {
	if !strings.Contains(out.String(), words) {
		return fmt.Errorf("no %q in %q", words, out.String())
	}
	return nil
}
