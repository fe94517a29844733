package main

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// browser speaks plain HTTP to one node.
type browser struct {
	t    *testing.T
	node *process.Node
}

// answer is an answer as it came.
type answer struct {
	status int
	header http.Header
	body   string
}

func (b browser) do(method, path, body string, header ...string) answer {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, "http://"+b.node.HTTP+path, strings.NewReader(body))
	require.NoError(b.t, err)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	require.NoError(b.t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	return answer{response.StatusCode, response.Header, string(data)}
}

// expect is do for an answer whose status is known.
func (b browser) expect(status int, method, path, body string, header ...string) answer {
	b.t.Helper()
	got := b.do(method, path, body, header...)
	require.Equal(b.t, status, got.status, "%s %s: %s", method, path, got.body)
	return got
}

func TestHTTPOfANode(t *testing.T) {
	p := directory(t)
	node := startNode(t, p.options("--shards", "4", "--cluster", "shop"))
	require.Regexp(t, `(?m)^ready name=a remote=127\.0\.0\.1:\d+ http=127\.0\.0\.1:\d+$`, node.Output())
	b := browser{t, node}
	t.Run("counters", func(t *testing.T) { counters(browser{t, node}) })
	t.Run("values", func(t *testing.T) { values(browser{t, node}) })
	t.Run("state", func(t *testing.T) { state(browser{t, node}) })
	before := b.expect(200, "GET", "/kv/kept", "").header.Get("ETag")

	stopNode(t, node)
	b = browser{t, startNode(t, p.options("--shards", "4", "--cluster", "shop"))}
	require.Equal(t, before, b.expect(200, "GET", "/kv/kept", "").header.Get("ETag"), "the same after a restart")
	require.Contains(t, b.expect(200, "GET", "/counters/a%2Fb", "").body, `"value":43`)
}

func counters(b browser) {
	const path = "/counters/a%2Fb"
	require.Contains(b.t, b.expect(200, "GET", path, "").body, `"value":0`)
	var first, second client.Count
	require.NoError(b.t, json.Unmarshal([]byte(b.expect(200, "POST", path, "").body), &first))
	require.NoError(b.t, json.Unmarshal([]byte(b.expect(200, "POST", path+"?by=42", "").body), &second))
	require.Equal(b.t, "a/b", first.Key)
	require.Equal(b.t, "a", first.Node)
	require.Equal(b.t, int64(1), first.Value)
	require.Equal(b.t, int64(43), second.Value)
	require.Greater(b.t, second.Seq, first.Seq)
	require.Contains(b.t, b.expect(200, "GET", "/counters/a/b", "").body, `"value":43`, "a slash is a slash")

	most := strconv.Itoa(math.MaxInt64)
	b.expect(200, "POST", "/counters/full?by="+most, "")
	b.expect(400, "POST", "/counters/full", "")
	require.Contains(b.t, b.expect(200, "GET", "/counters/full", "").body, most)
	b.expect(400, "POST", "/counters/x?by=much", "")
	b.expect(400, "POST", "/counters/"+strings.Repeat("k", 1025), "")
	b.expect(200, "POST", "/counters/"+strings.Repeat("k", 1024), "")
	b.expect(405, "PUT", path, "")
}

func values(b browser) {
	b.expect(404, "GET", "/kv/k", "")
	b.expect(204, "DELETE", "/kv/k", "")
	b.expect(412, "PUT", "/kv/k", "v", "If-Match", "*")
	b.expect(412, "PUT", "/kv/k", "v", "If-Match", `"x"`)
	first := b.expect(200, "PUT", "/kv/k", "one", "If-None-Match", "*").header.Get("ETag")
	require.Regexp(b.t, `^"[^"]+"$`, first)
	b.expect(412, "PUT", "/kv/k", "two", "If-None-Match", "*")
	got := b.expect(200, "GET", "/kv/k", "")
	require.Equal(b.t, "one", got.body)
	require.Equal(b.t, first, got.header.Get("ETag"))

	same := b.expect(200, "PUT", "/kv/k", "one").header.Get("ETag")
	require.NotEqual(b.t, first, same, "equal bytes have another ETag")
	b.expect(412, "PUT", "/kv/k", "two", "If-Match", first)
	second := b.expect(200, "PUT", "/kv/k", "two", "If-Match", same).header.Get("ETag")
	b.expect(412, "DELETE", "/kv/k", "", "If-Match", same)
	b.expect(204, "DELETE", "/kv/k", "", "If-Match", second)
	b.expect(404, "GET", "/kv/k", "")
	third := b.expect(200, "PUT", "/kv/k", "one", "If-None-Match", "*").header.Get("ETag")
	require.NotContains(b.t, []string{first, same, second}, third, "no ETag comes back after a DELETE")

	b.expect(404, "GET", "/kv/a%2Fb", "") // the counter of that name is something else
	b.expect(400, "PUT", "/kv/k", strings.Repeat("b", 1<<20+1))
	largest := strings.Repeat("b", 1<<20)
	b.expect(200, "PUT", "/kv/large", largest)
	require.Equal(b.t, largest, b.expect(200, "GET", "/kv/large", "").body)
	b.expect(200, "PUT", "/kv/empty", "")
	require.Empty(b.t, b.expect(200, "GET", "/kv/empty", "").body)
	b.expect(200, "PUT", "/kv/%00%FF%2E%2E", "bytes")
	require.Equal(b.t, "bytes", b.expect(200, "GET", "/kv/%00%FF%2E%2E", "").body)
	b.expect(200, "PUT", "/kv/kept", "v")
}

func state(b browser) {
	var m shardmap.Map
	require.NoError(b.t, json.Unmarshal([]byte(b.expect(200, "GET", "/shards", "").body), &m))
	require.Equal(b.t, "shop", m.Cluster)
	require.Equal(b.t, "a", m.Node)
	require.Len(b.t, m.Shards, 4)
	for n, s := range m.Shards {
		require.Equal(b.t, shardmap.Shard{Shard: n, Owner: "a", State: "running"}, s)
	}
	b.expect(200, "GET", "/healthz", "")
	b.expect(200, "GET", "/readyz", "")
	metrics := b.expect(200, "GET", "/metrics", "").body
	for _, method := range []string{"ask", "call"} {
		require.Regexp(b.t, `slap_request_duration_seconds_count\{.*slap_cluster="shop".*slap_request_method="`+method+`",slap_request_outcome="ok".*\} [1-9]`, metrics)
	}
	require.Regexp(b.t, `slap_shard_count\{.*slap_shard_state="running"\} 4`, metrics)
	require.Regexp(b.t, `slap_event_published_total\{.*slap_event_name="shard.start"\} 4`, metrics)
	require.Contains(b.t, metrics, "go_goroutines")
	page := b.expect(200, "GET", "/", "").body
	require.Contains(b.t, page, "Node a of cluster shop")
	require.Regexp(b.t, `<dt>answered</dt><dd>[1-9]`, page)
	require.Contains(b.t, page, "shard 3 started")
	require.Contains(b.t, b.expect(200, "GET", "/events", "").body, `"name":"shard.start"`)
	require.Contains(b.t, b.expect(404, "GET", "/nothing", "").body, `"executed":"no"`)
}
