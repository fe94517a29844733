package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/cmd/demo/demopb"
	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/intruder"
	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

func (p place) store(t *testing.T) store.Store {
	t.Helper()
	s, err := store.Parse(p.url)
	require.NoError(t, err)
	return s
}

// quick reopens a shard soon after a fence.
func quick(t *testing.T) string {
	t.Helper()
	return configFile(t, "strategy: local\nstrategy_options: {backoff_base: 100ms, backoff_max: 200ms}\n")
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func fence(t *testing.T, p place, shard int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, intruder.Fence(ctx, p.store(t), shard))
}

// fenceOf fences a shard of a node and waits until it has come back. An intruder that
// the node fences in turn while it opens tries again, so there may be several fences, also
// of openings that never started: the last thing told is a start.
func fenceOf(t *testing.T, c *client.Client, p place, shard int) {
	t.Helper()
	before := happened(t, c, "shard.fenced", shard)
	fence(t, p, shard)
	require.Eventually(t, func() bool {
		return happened(t, c, "shard.fenced", shard) > before && newest(t, c, shard) == "shard.start"
	}, patience, 10*time.Millisecond)
}

// happened says how often the node told of an event of the shard.
func happened(t *testing.T, c *client.Client, name string, shard int) (times int) {
	t.Helper()
	for _, told := range toldOf(t, c, shard) {
		if told == name {
			times++
		}
	}
	return times
}

// newest is whether a start or a fence of the shard was told last.
func newest(t *testing.T, c *client.Client, shard int) string {
	t.Helper()
	for _, told := range slices.Backward(toldOf(t, c, shard)) {
		if told == "shard.start" || told == "shard.fenced" {
			return told
		}
	}
	return ""
}

// toldOf are the names of the shard's events, the oldest first.
func toldOf(t *testing.T, c *client.Client, shard int) (names []string) {
	t.Helper()
	entries, err := c.Events(t.Context())
	require.NoError(t, err)
	for _, e := range entries {
		if e.Details["shard"] == strconv.Itoa(shard) {
			names = append(names, e.Name)
		}
	}
	return names
}

// Nobody writes to the shard: the node notices by itself.
func TestAShardThatIsFencedWhileItIsIdleComesBack(t *testing.T) {
	p := directory(t)
	node := startNode(t, p.options("--shards", "2", "--config", quick(t)))
	c := client.New(node.HTTP, 1)
	defer c.Close()
	for shard := range 2 {
		_, err := c.Add(t.Context(), keyOn(t, c, shard), 5)
		require.NoError(t, err)
	}
	fenceOf(t, c, p, 1)
	require.Zero(t, happened(t, c, "shard.fenced", 0))
	require.Equal(t, 1, happened(t, c, "shard.start", 0))
	require.Eventually(t, func() bool { return c.Ready(t.Context()) == nil }, patience, 10*time.Millisecond)
	b := browser{t, node}
	require.Contains(t, b.expect(200, "GET", "/", "").body, "shard 1 was fenced")
	require.Regexp(t, `slap_event_published_total\{.*slap_event_name="shard.fenced"\} [1-9]`, b.expect(200, "GET", "/metrics", "").body)
	require.Contains(t, node.Output(), "shard 1 was fenced")
	for shard := range 2 {
		count, err := c.Counter(t.Context(), keyOn(t, c, shard))
		require.NoError(t, err)
		require.Equal(t, int64(5), count.Value)
	}
	stopNode(t, node)
}

// keyOn is a key of the shard. It asks the node where keys are.
func keyOn(t *testing.T, c *client.Client, shard int) string {
	t.Helper()
	for n := range 1000 {
		key := fmt.Sprint("k", n)
		count, err := c.Counter(t.Context(), key)
		require.NoError(t, err)
		if count.Shard == shard {
			return key
		}
	}
	t.Fatalf("no key of shard %d", shard)
	return ""
}

func TestAShardThatIsFencedUnderLoadLosesNothing(t *testing.T) {
	server := s3test.Start(t, "demo")
	for name, p := range map[string]place{
		"directory": directory(t),
		"S3":        {url: server.URL("demo", "fence"), env: server.Env()},
	} {
		t.Run(name, func(t *testing.T) {
			for _, setting := range p.env {
				name, value, _ := strings.Cut(setting, "=")
				t.Setenv(name, value)
			}
			node := startNode(t, p.options("--shards", "3", "--config", quick(t)))
			c := client.New(node.HTTP, 1)
			defer c.Close()
			l := load.New(load.Options{Addresses: []string{node.HTTP}, Clients: 16})
			defer l.Close()
			end := keepLoading(l)
			for range 2 {
				awaitAcknowledged(t, l, l.Tally().Acknowledged+200)
				fenceOf(t, c, p, 2)
				browser{t, node}.expect(http.StatusOK, "GET", "/healthz", "")
			}
			awaitAcknowledged(t, l, l.Tally().Acknowledged+200)
			end()
			verify(t, l, node)
			t.Logf("%s", l.Tally())
			stopNode(t, node)
		})
	}
}

// Two nodes that both want every shard take them from each other. Each answer of
// either, a 404 and a 412 too, fits all that was acknowledged by the other before.
func TestAnswersAreTrueWhileTwoNodesTakeTheShardsFromEachOther(t *testing.T) {
	t.Parallel()
	p := directory(t)
	options := p.options("--shards", "2", "--config", quick(t))
	first, second := startNode(t, options), startSecond(t, options)
	l := load.New(load.Options{Addresses: []string{first.HTTP, second.HTTP}, Clients: 16})
	defer l.Close()
	end := keepLoading(l)
	lasting := 3 * time.Second
	if stress {
		lasting = time.Minute
	}
	time.Sleep(lasting) // how long they fight
	stopNode(t, second)
	end()
	verify(t, l, first)
	tally := l.Tally()
	t.Logf("%s", tally)
	require.Positive(t, tally.Acknowledged)
	require.Positive(t, tally.Unknown+tally.NotExecuted, "they did not fight")
	stopNode(t, first)
}

// startSecond starts a node that need not be ready at once.
func startSecond(t *testing.T, o process.Options) *process.Node {
	t.Helper()
	node, err := process.Start(o)
	require.NoError(t, err)
	t.Cleanup(node.Kill)
	return node
}

// takeOver opens a shard's database as another node would and stores an entry and a
// counter's value. It tries again when the node took the shard back meanwhile.
func takeOver(t *testing.T, p place, key string, entry *demopb.Entry) {
	t.Helper()
	data, err := proto.Marshal(entry)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	objects, err := slatedb.NewObjectStore(ctx, p.store(t))
	require.NoError(t, err)
	for {
		err = write(ctx, objects, [][2]string{{"k/" + key, string(data)}, {"c/" + key, "\x00\x00\x00\x00\x00\x00\x00\x2a"}})
		if err == nil {
			break
		}
		require.ErrorIs(t, err, slatedb.ErrClosed)
	}
	require.NoError(t, objects.Close(ctx))
}

func write(ctx context.Context, objects *slatedb.ObjectStore, rows [][2]string) error {
	db, err := slatedb.Open(ctx, objects, "shard-000", nil)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if _, putErr := db.Put(ctx, []byte(row[0]), []byte(row[1]), nil); putErr != nil {
			err = putErr
		}
	}
	return errors.Join(err, db.Close(ctx, nil))
}

// A node that does not know yet that it was fenced must not answer from what it has:
// neither what it read, nor that there is nothing, nor that a precondition fails. It is
// not before the shard has been opened again that these are answered, by what is there.
func TestAFencedNodeNeverAnswersFromThePast(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		header       []string
		status       int
		answer       string
	}{
		"a value that was not there": {"GET", "/kv/k", nil, 200, "new"},
		"a counter that was lower":   {"GET", "/counters/k", nil, 200, `"value":42`},
		"a PUT that would have failed": {
			"PUT", "/kv/k", []string{"If-Match", `"new-tag"`}, 200, "",
		},
		"a DELETE that would have failed": {
			"DELETE", "/kv/k", []string{"If-Match", `"new-tag"`}, 204, "",
		},
		"a PUT that would have been done": {
			"PUT", "/kv/k", []string{"If-None-Match", "*"}, 412, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := directory(t)
			b := browser{t, startNode(t, p.options("--shards", "1", "--config", quick(t)))}
			b.expect(404, "GET", "/kv/k", "")
			takeOver(t, p, "k", &demopb.Entry{Etag: "new-tag", Value: []byte("new")})
			for began := time.Now(); ; {
				got := b.do(c.method, c.path, "", c.header...)
				if got.status != http.StatusServiceUnavailable && got.status != http.StatusGatewayTimeout {
					require.Equal(t, c.status, got.status, got.body)
					require.Contains(t, got.body, c.answer)
					break
				}
				require.Less(t, time.Since(began), patience, got.body)
			}
			stopNode(t, b.node)
		})
	}
}
