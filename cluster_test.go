package slap_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter counts per name, durably.
type counter struct{ shard *slap.Shard }

func (c *counter) Receive(ctx actor.Context) {
	name, ok := ctx.Message().(*wrapperspb.StringValue)
	if !ok {
		return
	}
	value, _, err := c.shard.DB().Get(context.Background(), []byte(name.GetValue()), nil)
	if err != nil {
		ctx.Respond(err)
		return
	}
	n := uint64(1)
	if len(value) == 8 {
		n += binary.BigEndian.Uint64(value)
	}
	seq, err := c.shard.DB().Put(context.Background(), []byte(name.GetValue()), binary.BigEndian.AppendUint64(nil, n), nil)
	if err != nil {
		ctx.Respond(err)
		return
	}
	c.shard.RespondWhenDurable(ctx, seq, wrapperspb.UInt64(n))
}

func counters(s *slap.Shard) []slap.ChildSpec {
	return []slap.ChildSpec{{Name: "counter", New: func() actor.Actor { return &counter{s} }}}
}

func startCluster(t *testing.T, c slap.Config) *slap.Cluster {
	t.Helper()
	cluster, err := slap.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := cluster.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := cluster.AwaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	return cluster
}

func stopCluster(t *testing.T, c *slap.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

func increment(ctx context.Context, c *slap.Cluster, key string) (uint64, error) {
	answer, err := slap.Ask[*wrapperspb.UInt64Value](ctx, c, c.ShardForString(key), "counter", wrapperspb.String(key))
	return answer.GetValue(), err
}

func TestDUR7_AcknowledgedOnceAndStillThereAfterARestart(t *testing.T) {
	config := slap.Config{Store: store.Dir(t.TempDir()), Shards: 8, ShardChildren: counters, Settings: map[string]any{"flush_interval": "10ms"}}
	cluster := startCluster(t, config)
	var wg sync.WaitGroup
	var seen sync.Map
	for i := range 400 {
		wg.Go(func() {
			key := fmt.Sprintf("key-%d", i%20)
			value, err := increment(t.Context(), cluster, key)
			if err != nil {
				t.Errorf("%s: %v", key, err)
			}
			if _, twice := seen.LoadOrStore(fmt.Sprint(key, "=", value), true); twice {
				t.Errorf("%s: %d acknowledged twice", key, value)
			}
		})
	}
	wg.Wait()
	stopCluster(t, cluster)
	cluster = startCluster(t, config)
	defer stopCluster(t, cluster)
	for i := range 20 {
		if value, err := increment(t.Context(), cluster, fmt.Sprintf("key-%d", i)); value != 21 || err != nil {
			t.Errorf("key-%d is %d, %v, want 21", i, value, err)
		}
	}
}
