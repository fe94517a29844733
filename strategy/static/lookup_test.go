package static

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/fakenode"
)

func newSystem() *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
}

// start runs the strategy on a node of that name, and returns its stop.
func start(t *testing.T, system *actor.ActorSystem, s *Static, name string) (*fakenode.Node, func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	node := fakenode.New(fakenode.Options{System: system, Name: name, Shards: 4})
	if err := node.Start(ctx, s); err != nil {
		t.Fatal(err)
	}
	return node, func() {
		if err := node.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
}

func TestSTA5_AShardOfAnotherNodeIsThatNodesAliveOrNot(t *testing.T) {
	s := mustNew(t, Options{Nodes: []string{"a", "b"}})
	want := []strategy.Placement{{Here: true}, {Owner: strategy.Node{Name: "b"}}, {Here: true}, {Owner: strategy.Node{Name: "b"}}}
	check := func(when string) {
		t.Helper()
		for n, p := range want {
			if got := s.Lookup(n); got != p {
				t.Errorf("%s: shard %d is %+v, want %+v", when, n, got, p)
			}
		}
	}
	if p := s.Lookup(0); p != (strategy.Placement{}) {
		t.Errorf("before the start: %+v", p)
	}
	node, stop := start(t, newSystem(), s, "a")
	check("running")
	for n := range 4 {
		if node.Open(n) != want[n].Here {
			t.Errorf("shard %d open: %v", n, node.Open(n))
		}
	}
	node.Script(0, fakenode.ErrHold)
	<-node.Down(0, strategy.Crashed)
	check("with a shard down") // its own, open or not
	stop()
	check("stopped")
	for _, n := range []int{-1, -4} {
		if p := s.Lookup(n); p.Here {
			t.Errorf("shard %d: %+v", n, p)
		}
	}
}

// A value serves the node of the cluster that runs, one after the other.
func TestAValueServesAnotherClusterAfterTheFirstHasEnded(t *testing.T) {
	system, s := newSystem(), mustNew(t, Options{Nodes: []string{"a", "b"}})
	for _, name := range []string{"a", "b", "a"} {
		node, stop := start(t, system, s, name)
		for n := range 4 {
			if here := (n%2 == 0) == (name == "a"); s.Lookup(n).Here != here || node.Open(n) != here {
				t.Errorf("node %s, shard %d: %+v, open %v", name, n, s.Lookup(n), node.Open(n))
			}
		}
		stop()
	}
}
