package slap_test

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

// slow makes a child or handler take its time after it has begun.
const slow = 10 * time.Millisecond

// slowAdding is add for a handler that works for a while before it writes and after.
func slowAdding(ctx context.Context, shard *slap.Shard, name *wrapperspb.StringValue) (*wrapperspb.UInt64Value, error) {
	time.Sleep(slow)
	answer, err := add(ctx, shard, name)
	time.Sleep(slow)
	return answer, err
}

// slowCounter is a counter that takes its time before it counts.
type slowCounter struct{ counter }

func (c *slowCounter) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*wrapperspb.StringValue); ok {
		time.Sleep(slow / 10)
	}
	c.counter.Receive(ctx)
}

// drainable is a cluster whose requests take a while, and its strategy.
func drainable(t *testing.T, s store.Store) (*slap.Cluster, *hand) {
	t.Helper()
	h := newHand(t)
	cluster := newCluster(t, slap.Config{
		Store: s, Shards: 4, Strategy: h, DrainTimeout: time.Minute, Retries: 1, RetryDelay: time.Millisecond,
		Handlers: map[string]slap.Handler{"add": slap.Handle(slowAdding)},
		ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{{Name: "counter", New: func() actor.Actor { return &slowCounter{counter{s}} }}}
		},
		Settings: map[string]any{"flush_interval": "20ms"},
	})
	if err := cluster.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	h.open(0, 1, 2, 3)
	return cluster, h
}

// wantNoUnknown says that the callers know of each call what became of it, and that
// the stop met requests of both kinds.
func (b *books) wantNoUnknown(t *testing.T) {
	t.Helper()
	if _, unknown, refused := b.sum(); unknown > 0 || refused == 0 {
		t.Errorf("seed %d: unknown %d, not executed %d", b.seed, unknown, refused)
	}
}

func TestP10_1_APlannedStopUnderLoadMakesNoUnknownOutcome(t *testing.T) {
	for range 3 {
		s := store.Memory()
		cluster, _ := drainable(t, s)
		b := openBooks(t, "k", 3, 0, 1, 2, 3)
		b.callTime = time.Minute
		b.begin(t, cluster, 64)
		eventually(t, "load", func() bool { return b.acknowledged() > 300 })
		stopCluster(t, cluster)
		b.end()
		b.wantNoUnknown(t)
		cluster, _ = drainable(t, s)
		b.audit(t, cluster)
		stopCluster(t, cluster)
	}
}

func TestP10_1_APlannedStopOfOneShardUnderLoadMakesNoUnknownOutcome(t *testing.T) {
	cluster, h := drainable(t, store.Memory())
	defer stopCluster(t, cluster)
	b := openBooks(t, "k", 3, 0, 1, 2, 3)
	b.callTime = time.Minute
	b.begin(t, cluster, 64)
	for round := range 12 {
		before := b.acknowledged()
		eventually(t, "load", func() bool { return b.acknowledged() > before+100 })
		h.shut(round % 4)
		h.open(round % 4)
	}
	b.end()
	b.wantNoUnknown(t)
	b.audit(t, cluster)
}
