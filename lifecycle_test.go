package slap_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/local"
	"github.com/slap-go/slap/supervision"
)

func newCluster(t *testing.T, c slap.Config) *slap.Cluster {
	t.Helper()
	cluster, err := slap.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

func TestSPEC3_AStopBeforeTheStartIsTheEnd(t *testing.T) {
	cluster := newCluster(t, slap.Config{Store: store.Memory(), Shards: 1})
	for range 2 {
		stopCluster(t, cluster)
		if err := cluster.Start(t.Context()); !errors.Is(err, slap.ErrNotRunning) {
			t.Errorf("start: %v", err)
		}
	}
	<-cluster.Done()
	if err := cluster.Err(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if err := cluster.AwaitReady(within(t, time.Minute)); !errors.Is(err, slap.ErrNotRunning) {
		t.Errorf("ready: %v", err)
	}
}

func TestSPEC3_AStopAtAnyMomentOfTheStartMakesThatFail(t *testing.T) {
	for round := range 40 {
		cluster := newCluster(t, slap.Config{Store: store.Memory(), Shards: 4, ShardChildren: counters})
		started := make(chan error, 1)
		go func() { started <- cluster.Start(context.Background()) }()
		time.Sleep(time.Duration(round) * 500 * time.Microsecond)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { stopCluster(t, cluster) })
		}
		all.Wait()
		err := <-started
		select {
		case <-cluster.Done():
		default:
			t.Fatalf("round %d: not done after the stop, start said %v", round, err)
		}
		if cluster.Ready() {
			t.Fatalf("round %d: ready after the stop", round)
		}
		if err == nil && cluster.Err() != nil {
			t.Fatalf("round %d: the start was well, the end %v", round, cluster.Err())
		}
	}
}

func TestSPEC3_AStopWhoseContextHasEndedStopsAllTheSame(t *testing.T) {
	for range 10 {
		cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1})
		if err := cluster.Stop(ended()); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		select {
		case <-cluster.Done():
		case <-time.After(time.Minute):
			t.Fatal("it runs on")
		}
	}
}

func TestSPEC3_OfTwoStartsOneSucceeds(t *testing.T) {
	cluster := newCluster(t, slap.Config{Store: store.Memory(), Shards: 2})
	results := make(chan error, 8)
	for range cap(results) {
		go func() { results <- cluster.Start(t.Context()) }()
	}
	succeeded := 0
	for range cap(results) {
		if err := <-results; err == nil {
			succeeded++
		}
	}
	if succeeded != 1 {
		t.Errorf("%d starts succeeded", succeeded)
	}
	stopCluster(t, cluster)
}

func TestSPEC3_AfterTheStopNoShardIsShownAsOpen(t *testing.T) {
	cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 2, ShardChildren: counters})
	stopCluster(t, cluster)
	if cluster.Ready() {
		t.Error("ready")
	}
	for _, a := range cluster.Assignments() {
		if a.State != slap.StateUnassigned {
			t.Errorf("shard %d is %v", a.Shard, a.State)
		}
	}
	if err := cluster.AwaitReady(within(t, time.Minute)); !errors.Is(err, slap.ErrNotRunning) {
		t.Errorf("await: %v", err)
	}
}

func TestSPEC3_AStartWhoseContextEndsLeavesNothingBehind(t *testing.T) {
	for round := range 20 {
		cluster := newCluster(t, slap.Config{Store: store.Memory(), Shards: 4, ShardChildren: counters})
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(round)*500*time.Microsecond)
		err := cluster.Start(ctx)
		cancel()
		if err == nil {
			stopCluster(t, cluster)
			continue
		}
		<-cluster.Done()
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(cluster.Err(), context.DeadlineExceeded) {
			t.Errorf("round %d: %v, ended with %v", round, err, cluster.Err())
		}
		stopCluster(t, cluster)
	}
}

// rude is a strategy that panics.
type rude struct {
	strategy.Strategy
	child bool // in Child, else when a shard goes down
}

func (r *rude) Child(runtime strategy.Runtime) supervision.ChildSpec {
	if r.child {
		panic("as told")
	}
	return r.Strategy.Child(runtime)
}

func (r *rude) HandleShardDown(int, strategy.DownReason) { panic("as told") }

func newLocal(t *testing.T) *local.Local {
	t.Helper()
	l, err := local.New(local.Options{BackoffBase: 10 * time.Millisecond, BackoffMax: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSUP2_AStrategyThatPanicsInItsSpecFailsTheStart(t *testing.T) {
	cluster := newCluster(t, slap.Config{Store: store.Memory(), Shards: 1, Strategy: &rude{newLocal(t), true}})
	if err := cluster.Start(t.Context()); err == nil {
		t.Fatal("started")
	}
	<-cluster.Done()
}

func TestSUP2_AStrategyThatPanicsStartsOverAndTooOftenEndsTheNode(t *testing.T) {
	var openings sync.Map
	s := newStubs()
	cluster := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 2, Strategy: &rude{newLocal(t), false},
		ShardChildren: func(shard *slap.Shard) []slap.ChildSpec {
			if _, twice := openings.LoadOrStore(shard.Opening(), true); twice {
				t.Errorf("opening %s was there before", shard.Opening())
			}
			return s.children(shard)
		},
	})
	defer func() { _ = cluster.Stop(within(t, time.Minute)) }()
	held := make(chan error, 1)
	go func() { // of the other shard, which starts over too
		_, err := cluster.Ask(within(t, time.Minute), 1, "a", wrapperspb.String("silent"))
		held <- err
	}()
	receive(t, s.entered)
	eventually(t, "the shard goes down, which the strategy does not survive", func() bool {
		_ = say(within(t, time.Minute), cluster, "a", "panic")
		return len(held) > 0
	})
	if err := <-held; !errors.Is(err, slap.ErrOutcomeUnknown) {
		t.Errorf("the other shard's request: %v", err)
	}
	if err := cluster.AwaitReady(within(t, time.Minute)); err != nil {
		t.Fatalf("not back: %v", err)
	}
	ended := func() bool {
		select {
		case <-cluster.Done():
			return true
		default:
			return false
		}
	}
	eventually(t, "the node gives up", func() bool {
		_ = say(within(t, time.Second), cluster, "a", "panic")
		return ended()
	})
	if err := cluster.Err(); err == nil {
		t.Error("it ended without a reason")
	}
	if err := say(within(t, time.Minute), cluster, "a", "echo"); !errors.Is(err, slap.ErrNotRunning) {
		t.Errorf("afterwards: %v", err)
	}
}

func TestSPEC4_BadChildrenAreOneSentenceAndDisturbNobody(t *testing.T) {
	fresh := func() actor.Actor { return actor.ReceiveFunc(func(actor.Context) {}) }
	for name, bad := range map[string]func(*slap.Shard) []slap.ChildSpec{
		"duplicate": func(*slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{{Name: "a", New: fresh}, {Name: "a", New: fresh}}
		},
		"empty name": func(*slap.Shard) []slap.ChildSpec { return []slap.ChildSpec{{New: fresh}} },
		"slash":      func(*slap.Shard) []slap.ChildSpec { return []slap.ChildSpec{{Name: "a/b", New: fresh}} },
		"no New":     func(*slap.Shard) []slap.ChildSpec { return []slap.ChildSpec{{Name: "a"}} },
		"panic":      func(*slap.Shard) []slap.ChildSpec { panic("as told") },
		"nil actor": func(*slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{{Name: "a", New: func() actor.Actor { return nil }}}
		},
		"New panics": func(*slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{{Name: "a", New: func() actor.Actor { panic("as told") }}}
		},
		"Started fails": func(*slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{{Name: "a", New: panicsIn[*actor.Started]}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, slap.Config{
				Store: store.Memory(), Shards: 2, Strategy: newLocal(t),
				ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
					if s.Number() == 0 {
						return bad(s)
					}
					return counters(s)
				},
			})
			if err := cluster.Start(within(t, time.Minute)); err != nil {
				t.Fatal(err)
			}
			defer stopCluster(t, cluster)
			if _, err := cluster.Ask(within(t, time.Minute), 1, "counter", wrapperspb.String("k")); err != nil {
				t.Errorf("the other shard: %v", err)
			}
			if a := cluster.Assignments()[0]; a.Err == nil || a.State == slap.StateRunning {
				t.Errorf("the shard is %v, %v", a.State, a.Err)
			}
			if err := say(within(t, 50*time.Millisecond), cluster, "a", "echo"); !errors.Is(err, slap.ErrNotExecuted) {
				t.Errorf("a request: %v", err)
			}
		})
	}
}

// panicsIn makes an actor that panics at messages of one type.
func panicsIn[T any]() actor.Actor {
	return actor.ReceiveFunc(func(c actor.Context) {
		if _, ok := c.Message().(T); ok {
			panic("as told")
		}
		if m, ok := c.Message().(*wrapperspb.StringValue); ok && m.GetValue() == "echo" {
			c.Respond(m)
		}
	})
}

func TestSPEC4_AChildThatPanicsAsItStopsHoldsUpNobody(t *testing.T) {
	for name, child := range map[string]func() actor.Actor{
		"Stopping": panicsIn[*actor.Stopping],
		"Stopped":  panicsIn[*actor.Stopped],
	} {
		t.Run(name, func(t *testing.T) {
			cluster := startCluster(t, slap.Config{
				Store: store.Memory(), Shards: 1,
				ShardChildren: func(*slap.Shard) []slap.ChildSpec { return []slap.ChildSpec{{Name: "a", New: child}} },
			})
			held := make(chan error, 1)
			go func() { held <- say(within(t, time.Minute), cluster, "a", "keep") }()
			if err := say(within(t, time.Minute), cluster, "a", "echo"); err != nil {
				t.Fatal(err)
			}
			stopCluster(t, cluster)
			if err := <-held; !errors.Is(err, slap.ErrOutcomeUnknown) && !errors.Is(err, slap.ErrNotExecuted) {
				t.Errorf("its request: %v", err)
			}
		})
	}
}

func TestSPEC4_ASupervisorMayBeAChild(t *testing.T) {
	cluster := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 1,
		ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
			return append(counters(s), slap.ChildSpec{Name: "group", Supervisor: &supervision.Spec{Children: counters(s)}})
		},
	})
	defer stopCluster(t, cluster)
	if _, err := increment(within(t, time.Minute), cluster, "k"); err != nil {
		t.Error(err)
	}
	if err := say(within(t, time.Minute), cluster, "group", "k"); !errors.Is(err, slap.ErrNoChild) {
		t.Errorf("a supervisor takes requests: %v", err)
	}
}
