package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/demopb"
	"github.com/slap-go/slap/cmd/demo/internal/journal"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

func TestTheShardMap(t *testing.T) {
	cluster := newFake(nil, nil)
	cluster.assignments = []slap.Assignment{
		{Shard: 0, State: slap.StateRunning, Owner: "a"},
		{Shard: 1, State: slap.StateRemote, Owner: "b", Generation: 3},
	}
	answer := call(newService(t, cluster), "GET", "/shards", nil)
	require.Equal(t, 200, answer.Code)
	require.JSONEq(t, `{"cluster":"demo","node":"a","shards":[
		{"shard":0,"owner":"a","state":"running","generation":0},
		{"shard":1,"owner":"b","state":"remote","generation":3},
		{"shard":2,"owner":"","state":"unassigned","generation":0}],"unreachable":["gone"]}`, answer.Body.String())
}

func TestTheEvents(t *testing.T) {
	s := newService(t, newFake(nil, nil))
	require.JSONEq(t, `[]`, call(s, "GET", "/events", nil).Body.String())
	s.config.Journal.Follow(slices.Values([]slap.Event{slap.ShardFenced{ShardOrigin: slap.ShardOrigin{Shard: 1}}}))
	var entries []journal.Entry
	require.NoError(t, json.Unmarshal(call(s, "GET", "/events", nil).Body.Bytes(), &entries))
	require.Equal(t, s.config.Journal.Entries(), entries)
}

func TestReadyOnceEveryShardIsAssigned(t *testing.T) {
	cluster := newFake(nil, nil)
	s := newService(t, cluster)
	for ready, want := range map[bool]int{true: 200, false: 503} {
		cluster.ready = ready
		require.Equal(t, want, call(s, "GET", "/readyz", nil).Code)
		require.Equal(t, 200, call(s, "GET", "/healthz", nil).Code)
	}
}

func TestANodeThatLeavesIsNotReadyAndEndsItsConnections(t *testing.T) {
	cluster := newFake(&demopb.Entry{}, nil)
	cluster.ready = true
	s := newService(t, cluster)
	require.Equal(t, 200, call(s, "GET", "/readyz", nil).Code)
	s.Leave()
	require.Equal(t, 503, call(s, "GET", "/readyz", nil).Code)
	require.Equal(t, "close", call(s, "GET", "/kv/k", nil).Header().Get("Connection"))
}

func TestANodeThatHasEndedIsNotHealthy(t *testing.T) {
	cluster := newFake(nil, nil)
	close(cluster.done)
	answer := call(newService(t, cluster), "GET", "/healthz", nil)
	require.Equal(t, http.StatusServiceUnavailable, answer.Code)
}

func TestHEADIsAnsweredAsGET(t *testing.T) {
	require.Equal(t, 200, call(newService(t, newFake(nil, nil)), "HEAD", "/healthz", nil).Code)
}

func TestMetricsAreThoseOfTheNode(t *testing.T) {
	require.Equal(t, "metrics", call(newService(t, newFake(nil, nil)), "GET", "/metrics", nil).Body.String())
}

func TestTheStatusPage(t *testing.T) {
	cluster := newFake(&demopb.Entry{}, nil)
	cluster.assignments = []slap.Assignment{
		{Shard: 0, State: slap.StateRunning, Owner: "a"},
		{Shard: 1, State: slap.StateOpening, Owner: "<script>", Err: errors.New("the reason")},
	}
	s := newService(t, cluster)
	s.config.Requests = func() Requests { return Requests{Answered: 41, NotExecuted: 5, Unknown: 7} }
	fence := slap.ShardFenced{ShardOrigin: slap.ShardOrigin{Shard: 1}}
	s.config.Journal.Follow(slices.Values([]slap.Event{fence}))
	answer := call(s, "GET", "/", nil)
	require.Equal(t, 200, answer.Code)
	page := answer.Body.String()
	for _, want := range []string{
		"Node a of cluster demo", "Not ready", "● 0", "◔ 1", "running", "opening", "memory:///",
		"<dt>answered</dt><dd>41</dd>", "<dt>not executed</dt><dd>5</dd>", "<dt>unknown</dt><dd>7</dd>", "<dt>shards</dt><dd>3</dd>",
		"<dt>uptime</dt>", "since the start", shardmap.Legend, "shard 1 was fenced", `class="ERROR"`, `http-equiv="refresh"`, "&lt;script&gt;", "the reason",
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, strings.ToLower(page), "<script")
}
