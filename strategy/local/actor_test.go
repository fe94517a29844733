package local

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/fakenode"
)

var fast = Options{BackoffBase: time.Millisecond, BackoffMax: 4 * time.Millisecond}

func newNode(shards int, logger *slog.Logger) *fakenode.Node {
	system := actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	return fakenode.New(fakenode.Options{System: system, Name: "a", Shards: shards, Logger: logger})
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func stop(t *testing.T, n *fakenode.Node) {
	t.Helper()
	if err := n.Stop(within(t)); err != nil {
		t.Error(err)
	}
}

func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for ctx := within(t); !happened(); time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("it does not happen that %s", what)
		}
	}
}

func TestLOC1_ItIsReadyOnceEachShardWasAttempted(t *testing.T) {
	node, l := newNode(20, nil), mustNew(t, fast)
	node.Script(3, fakenode.ErrHold)
	node.Script(4, errors.New("as told"), fakenode.ErrHold)
	started := make(chan error, 1)
	go func() { started <- node.Start(within(t), l) }()
	eventually(t, "all others are attempted", func() bool {
		for n := range 20 {
			if n != 3 && n != 4 && !node.Open(n) || node.Starts(n) == 0 {
				return false
			}
		}
		return true
	})
	select {
	case err := <-started:
		t.Fatalf("ready while a shard opens for the first time: %v", err)
	default:
	}
	node.Release(3, errors.New("as told"))
	if err := <-started; err != nil {
		t.Errorf("with two failures: %v", err)
	}
	eventually(t, "shard 3 is open", func() bool { return node.Open(3) })
	stop(t, node)
}

func TestLOC6_AShardStoppedWhileItsRetryWaitsStaysStopped(t *testing.T) {
	node, l := newNode(2, nil), mustNew(t, Options{BackoffBase: 20 * time.Millisecond, BackoffMax: 20 * time.Millisecond})
	if err := node.Start(within(t), l); err != nil {
		t.Fatal(err)
	}
	<-node.Down(0, strategy.Crashed)
	<-node.Down(0, strategy.Stopped)
	for i := range 3 {
		<-node.Down(1, strategy.Crashed)
		eventually(t, "the other shard is opened again", func() bool { return node.Starts(1) == i+2 && node.Open(1) })
	}
	if node.Starts(0) != 1 {
		t.Errorf("the stopped shard was started %d times", node.Starts(0))
	}
	stop(t, node)
}

func TestAShardThatIsNotListedBelongsToNobody(t *testing.T) {
	l := mustNew(t, Options{Shards: strategy.Shards{2, 0}})
	for n, here := range []bool{true, false, true, false} {
		if p := l.Lookup(n); p != (strategy.Placement{Here: here}) {
			t.Errorf("shard %d: %+v", n, p)
		}
	}
}

func TestAValueServesOneClusterAtATime(t *testing.T) {
	l := mustNew(t, fast)
	for range 3 {
		first, second := newNode(2, nil), newNode(2, nil)
		if err := first.Start(within(t), l); err != nil {
			t.Fatalf("after its cluster has ended: %v", err)
		}
		if err := second.Start(within(t), l); err == nil || !strings.Contains(err.Error(), "serves another cluster") {
			t.Errorf("in a second cluster: %v", err)
		}
		if starts := second.Starts(0) + second.Starts(1); starts > 0 {
			t.Errorf("%d shards were started in the second cluster", starts)
		}
		<-first.Down(0, strategy.Crashed)
		eventually(t, "the first goes on", func() bool { return first.Open(0) })
		stop(t, first)
	}
}

// Of many clusters that start with one value at once, one does.
func TestAValueServesOneOfManyClusters(t *testing.T) {
	l := mustNew(t, fast)
	nodes := make([]*fakenode.Node, 16)
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i := range nodes {
		nodes[i] = newNode(1, nil)
		all.Go(func() { errs[i] = nodes[i].Start(within(t), l) })
	}
	all.Wait()
	served := 0
	for i, node := range nodes {
		if errs[i] == nil {
			served++
		}
		stop(t, node)
	}
	if served != 1 {
		t.Errorf("%d clusters are served", served)
	}
}

func TestLOC7_ASlowOpenDelaysNoOtherRetry(t *testing.T) {
	node, l := newNode(2, nil), mustNew(t, fast)
	if err := node.Start(within(t), l); err != nil {
		t.Fatal(err)
	}
	node.Script(0, fakenode.ErrHold)
	node.Script(1, errors.New("as told"), errors.New("as told"))
	<-node.Down(0, strategy.Crashed)
	eventually(t, "shard 0 opens", func() bool { return node.Starts(0) == 2 })
	<-node.Down(1, strategy.Crashed)
	eventually(t, "shard 1 is open again", func() bool { return node.Starts(1) == 4 && node.Open(1) })
	if node.Open(0) || node.Starts(0) != 2 {
		t.Errorf("shard 0 is open: %v, after %d starts", node.Open(0), node.Starts(0))
	}
	node.Release(0, nil)
	eventually(t, "shard 0 is open", func() bool { return node.Open(0) })
	stop(t, node)
}

func TestLOC2_PausesDoubleWhileAShardKeepsGoingDown(t *testing.T) {
	node := newNode(1, nil)
	l := mustNew(t, Options{BackoffBase: 10 * time.Millisecond, BackoffMax: 10 * time.Second})
	if err := node.Start(within(t), l); err != nil {
		t.Fatal(err)
	}
	pauses := []time.Duration{}
	for range 4 {
		began := time.Now()
		starts := node.Starts(0)
		<-node.Down(0, strategy.Crashed)
		eventually(t, "the shard is open again", func() bool { return node.Starts(0) > starts && node.Open(0) })
		pauses = append(pauses, time.Since(began))
	}
	if pauses[3] < 80*time.Millisecond {
		t.Errorf("pauses %v, want at least 80ms at last", pauses)
	}
	stop(t, node)
}
