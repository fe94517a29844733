package slap_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/footprint"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/local"
)

// TestSTR2 lets two nodes that both want all shards take them from each other. What
// either has acknowledged is in one history of each counter: no value twice, none lost.
func TestSTR2_TwoNodesThatFenceEachOtherLoseNothing(t *testing.T) {
	lasting := 3 * time.Second
	if stress {
		lasting = time.Minute
	}
	s := store.Memory()
	config := func() slap.Config {
		return slap.Config{
			Store: s, Shards: 2, ShardChildren: counters, Handlers: adding, Strategy: newLocal(t),
			Settings: map[string]any{"flush_interval": "2ms", "manifest_poll_interval": "50ms"},
		}
	}
	first, second := startCluster(t, config()), newCluster(t, config())
	defer stopCluster(t, first)
	if err := second.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	b := openBooks(t, "k", 2, 0, 1)
	b.begin(t, first, 8)
	b.begin(t, second, 8)
	time.Sleep(lasting)
	eventually(t, "not only fences", func() bool { return b.acknowledged() >= 20 })
	stopCluster(t, second)
	b.end()
	b.audit(t, first)
}

// watchful is a counter that notes the openings that its kind saw end as fenced.
type watchful struct {
	counter
	fenced *sync.Map
}

func (w *watchful) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*actor.Stopping); ok && w.shard.Status() == slap.Fenced {
		w.fenced.Store(w.shard.Opening(), true)
	}
	w.counter.Receive(ctx)
}

func TestLOC4_AFencedShardIsSeenReopenedAndHasLostNothing(t *testing.T) {
	for _, load := range []bool{false, true} {
		t.Run(map[bool]string{false: "idle", true: "under load"}[load], func(t *testing.T) { fenceOften(t, load) })
	}
}

// fenceOften has shard 0 fenced by another writer, again and again, and shard 1 under load.
func fenceOften(t *testing.T, load bool) {
	const backoff = 50 * time.Millisecond
	patient, err := local.New(local.Options{BackoffBase: backoff, BackoffMax: backoff})
	if err != nil {
		t.Fatal(err)
	}
	fenced, s := &sync.Map{}, store.Dir(t.TempDir())
	cluster := newCluster(t, slap.Config{
		Store: s, Shards: 2, Handlers: adding, Strategy: patient, RetryDelay: time.Millisecond,
		Settings: map[string]any{"flush_interval": "5ms", "manifest_poll_interval": "100ms"},
		ShardChildren: func(shard *slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{{Name: "counter", New: func() actor.Actor { return &watchful{counter{shard}, fenced} }}}
		},
	})
	wait := collect(cluster.Events(context.Background(), 100_000))
	if err := cluster.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	victim, other := openBooks(t, "k", 2, 0), openBooks(t, "k", 2, 1)
	other.callTime = time.Minute // nothing is to be lost by haste
	other.begin(t, cluster, 4)
	if load {
		victim.begin(t, cluster, 16)
	}
	for range 5 {
		if !load {
			victim.audit(t, cluster)
		}
		var at slap.Location
		eventually(t, "the shard serves", func() bool { // the last fence may have been two
			at, err = cluster.Lookup(0)
			return err == nil && at.Local()
		})
		fence(t, s, "shard-000")
		eventually(t, "the children see the fence", func() bool { _, seen := fenced.Load(at.Shard.Opening()); return seen })
		before := victim.acknowledged()
		eventually(t, "the shard serves again", func() bool {
			now, err := cluster.Lookup(0)
			return err == nil && now.Local() && now.Shard.Opening() != at.Shard.Opening() && (!load || victim.acknowledged() > before+10)
		})
	}
	victim.end()
	other.end()
	victim.audit(t, cluster)
	other.audit(t, cluster)
	stopCluster(t, cluster)
	if _, unknown, refused := other.sum(); unknown+refused > 0 || other.acknowledged() == 0 {
		t.Errorf("the other shard: acknowledged %d, unknown %d, not executed %d", other.acknowledged(), unknown, refused)
	}
	wantBackoff(t, wait(), backoff)
}

// wantBackoff says that shard 0 was opened again after each fence, but not before the
// strategy's backoff.
func wantBackoff(t *testing.T, all []slap.Event, backoff time.Duration) {
	t.Helper()
	var down time.Time
	fences := 0
	for _, e := range all {
		switch e := e.(type) {
		case slap.ShardStopped:
			if e.Shard == 0 && e.Reason == "fenced" {
				down = e.Time
				fences++
			}
		case slap.ShardStarted:
			if e.Shard == 0 && !down.IsZero() && e.Time.Sub(down) < backoff {
				t.Errorf("opened %v after a fence, the backoff is %v", e.Time.Sub(down), backoff)
			}
		}
	}
	if fences < 5 {
		t.Errorf("%d fences were told", fences)
	}
}

func TestSPEC10_ClustersThatComeAndGoLeaveNothingBehind(t *testing.T) {
	rounds := 20
	if stress {
		rounds = 300
	}
	s := store.Memory()
	round := func() {
		cluster := startCluster(t, slap.Config{Store: s, Shards: 4, ShardChildren: counters, Cache: slap.Cache{Bytes: 1 << 20}})
		if _, err := increment(within(t, time.Minute), cluster, "k"); err != nil {
			t.Fatal(err)
		}
		stopCluster(t, cluster)
	}
	for range rounds / 4 {
		round()
	}
	before := footprint.Of(t)
	for range rounds {
		round()
	}
	eventually(t, "goroutines and descriptors are as before", func() bool {
		after := footprint.Of(t)
		return after.Goroutines <= before.Goroutines && after.Descriptors <= before.Descriptors
	})
	if grown := int64(footprint.Of(t).Memory) - int64(before.Memory); grown > max(int64(before.Memory)/20, 16<<20) {
		t.Errorf("%d bytes of memory grew by %d", before.Memory, grown)
	}
}
