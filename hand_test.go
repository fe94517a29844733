package slap_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// hand is a strategy that does what the test says.
type hand struct {
	t       *testing.T
	runtime strategy.Runtime
	self    atomic.Pointer[actor.PID]
	replies chan any
	downs   chan string
	ended   chan struct{} // filled as its actor stops

	elsewhere atomic.Pointer[string] // the node that owns all shards that are not open here
	refreshes atomic.Int32
	refresh   atomic.Pointer[refresh] // the last one
}

// refresh is when the strategy was asked to look again, and until when.
type refresh struct{ at, deadline time.Time }

func newHand(t *testing.T) *hand {
	return &hand{t: t, replies: make(chan any, 100), downs: make(chan string, 100), ended: make(chan struct{}, 1)}
}

func (h *hand) Child(r strategy.Runtime) supervision.ChildSpec {
	h.runtime = r
	return supervision.ChildSpec{Name: "strategy", New: func() actor.Actor { return actor.ReceiveFunc(h.receive) }}
}

func (h *hand) receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		h.self.Store(c.Self())
	case *strategy.Started, *strategy.Closed:
		h.replies <- m
	case *actor.Stopping:
		h.ended <- struct{}{}
	}
}

func (h *hand) Lookup(int) strategy.Placement {
	if node := h.elsewhere.Load(); node != nil {
		return strategy.Placement{Owner: strategy.Node{Name: *node}}
	}
	return strategy.Placement{Here: true}
}

func (h *hand) HandleShardDown(shard int, reason strategy.DownReason) {
	h.downs <- fmt.Sprintf("%d %v", shard, reason)
}

func (h *hand) Refresh(ctx context.Context, _ int) {
	h.refreshes.Add(1)
	deadline, _ := ctx.Deadline()
	h.refresh.Store(&refresh{time.Now(), deadline})
}

func (h *hand) begin(shard int) { h.runtime.StartShard(shard, nil, h.self.Load()) }
func (h *hand) end(shard int)   { h.runtime.StopShard(shard, h.self.Load()) }

// open opens shards, one after the other.
func (h *hand) open(shards ...int) {
	h.t.Helper()
	for _, n := range shards {
		h.begin(n)
		if m, ok := receive(h.t, h.replies).(*strategy.Started); !ok || m.Shard != n || m.Err != nil {
			h.t.Fatalf("%+v", m)
		}
	}
}

// closed waits until shards that were told to end are closed.
func (h *hand) closed(shards ...int) {
	h.t.Helper()
	for _, n := range shards {
		if m, ok := receive(h.t, h.replies).(*strategy.Closed); !ok || m.Shard != n || m.Err != nil {
			h.t.Errorf("%+v", m)
		}
	}
}

func (h *hand) shut(shard int) {
	h.t.Helper()
	h.end(shard)
	h.closed(shard)
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing within a minute")
		panic("unreachable")
	}
}

// runByHand starts a node whose shards the test opens and closes.
func runByHand(t *testing.T, c slap.Config) (*slap.Cluster, *hand) {
	t.Helper()
	h := newHand(t)
	c.Strategy = h
	cluster := newCluster(t, c)
	if err := cluster.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopCluster(t, cluster) })
	return cluster, h
}

// held are children whose callbacks wait for the test; nil channels do not wait.
type held struct {
	started, stopping chan int // the numbers of the shards whose child entered the callback
	start, stop       chan struct{}
}

func newHeld() *held { return &held{started: make(chan int, 100), stopping: make(chan int, 100)} }

func (h *held) children(shard *slap.Shard) []slap.ChildSpec {
	return []slap.ChildSpec{{Name: "a", Shutdown: time.Minute, New: func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch c.Message().(type) {
			case *actor.Started:
				h.started <- shard.Number()
				if h.start != nil {
					<-h.start
				}
			case *actor.Stopping:
				h.stopping <- shard.Number()
				if h.stop != nil {
					<-h.stop
				}
			}
		})
	}}}
}
