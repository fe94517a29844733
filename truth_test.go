package slap_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// driven is a strategy whose runtime the test uses, too.
type driven struct {
	strategy.Strategy
	runtime strategy.Runtime
}

func (d *driven) Child(r strategy.Runtime) supervision.ChildSpec {
	d.runtime = r
	return d.Strategy.Child(r)
}

// chaos ends openings of shards, one after the other.
type chaos struct {
	t       *testing.T
	cluster *slap.Cluster
	store   store.Store
	runtime strategy.Runtime
	shards  int
	pause   time.Duration
	rnd     *rand.Rand
	counts  map[string]int
	replies chan any
	replyTo *actor.PID
}

// run makes trouble until it is done, and leaves no shard parked.
func (c *chaos) run(system *actor.ActorSystem, done func() bool) {
	c.t.Helper()
	c.counts, c.replies = map[string]int{}, make(chan any, 100)
	c.replyTo = system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *strategy.Started, *strategy.Closed:
			c.replies <- m
		}
	}))
	defer func() { _ = system.Root.StopFuture(c.replyTo).Wait() }()
	troubles := []struct {
		name  string
		cause func(shard int)
	}{
		{"fence", c.fence}, {"panics", c.panics}, {"database ends", c.endDatabase}, {"stop", c.stop}, {"stop of an open", c.stopTwice},
	}
	for deadline := time.Now().Add(time.Hour); !done(); {
		if time.Now().After(deadline) {
			c.t.Fatalf("not within an hour; troubles: %v", c.counts)
		}
		time.Sleep(time.Duration(c.rnd.Int64N(int64(c.pause))))
		trouble := troubles[c.rnd.IntN(len(troubles))]
		trouble.cause(c.rnd.IntN(c.shards))
		c.counts[trouble.name]++
	}
}

func (c *chaos) fence(shard int) { fence(c.t, c.store, fmt.Sprintf("shard-%03d", shard)) }

// panics ends the child more often than its supervisor allows.
func (c *chaos) panics(shard int) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for range supervision.DefaultIntensity + 1 {
		_, _ = c.cluster.Ask(ctx, shard, "counter", wrapperspb.String(panicKey), slap.WithRetries(0))
	}
}

// endDatabase closes the database under the shard, as a fault in it would.
func (c *chaos) endDatabase(shard int) {
	if at, err := c.cluster.Lookup(shard); err == nil && at.Local() {
		_ = at.Shard.DB().Close(context.Background(), nil)
	}
}

// stop stops and starts the shard by hand.
func (c *chaos) stop(shard int) {
	c.runtime.StopShard(shard, c.replyTo)
	c.runtime.StartShard(shard, nil, c.replyTo)
	c.settle(shard, 2)
}

// stopTwice stops the shard, and again while it opens.
func (c *chaos) stopTwice(shard int) {
	c.runtime.StopShard(shard, c.replyTo)
	receive(c.t, c.replies)
	c.runtime.StartShard(shard, nil, c.replyTo)
	c.runtime.StopShard(shard, c.replyTo)
	c.settle(shard, 2)
}

// settle waits for answers and starts the shard until it runs.
func (c *chaos) settle(shard, answers int) {
	for range answers {
		receive(c.t, c.replies)
	}
	eventually(c.t, "the shard that was stopped runs", func() bool {
		if c.cluster.Assignments()[shard].State == slap.StateRunning {
			return true
		}
		c.runtime.StartShard(shard, nil, c.replyTo)
		receive(c.t, c.replies)
		return false
	})
}

// TestP8_1 has callers increment counters, through a child and a handler, while shards
// are fenced, crash, and are stopped and started. Each counter is at last between what
// was acknowledged and that plus what is unknown.
func TestP8_1_NotExecutedIsTrueAndAcknowledgedStays(t *testing.T) {
	const shards = 8
	enough := uint64(40_000)
	if stress {
		enough = 500_000
	}
	system := actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(time.Millisecond))
	defer system.Shutdown()
	s, d := store.Memory(), &driven{Strategy: newLocal(t)}
	cluster := startCluster(t, slap.Config{
		Store: s, Shards: shards, System: system, ShardChildren: fragiles, Handlers: adding, Strategy: d, RetryDelay: time.Millisecond,
		Settings: map[string]any{"flush_interval": "2ms", "manifest_poll_interval": "50ms"},
	})
	defer stopCluster(t, cluster)
	b := openBooks(t, "k", 4, 0, 1, 2, 3, 4, 5, 6, 7)
	b.hasty = 100
	b.begin(t, cluster, 128)
	c := &chaos{
		t: t, cluster: cluster, store: s, runtime: d.runtime, shards: shards, pause: 40 * time.Millisecond,
		rnd: rand.New(rand.NewPCG(b.seed, b.seed)),
	}
	c.run(system, func() bool { return b.acknowledged() >= enough })
	b.end()
	b.audit(t, cluster)
	t.Logf("troubles: %v", c.counts)
	if _, unknown, refused := b.sum(); unknown == 0 || refused == 0 {
		t.Errorf("unknown %d, not executed %d: nothing was at stake", unknown, refused)
	}
}
