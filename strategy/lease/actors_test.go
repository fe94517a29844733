package lease_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/fakenode"
	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/lease/leasemem"
)

// ttl leaves room for half a second in which the machine does something else.
const ttl = 3 * time.Second

var errAway = errors.New("the store is away")

// stage is a node with its strategy, and the store of its leases.
type stage struct {
	*testing.T
	store    *leasemem.Store
	node     *fakenode.Node
	strategy *lease.Strategy
}

// newStage makes a node of four shards, beside those of other tests. Nothing of it runs.
func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	system := actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	t.Cleanup(system.Shutdown)
	s := &stage{T: t, store: leasemem.New()}
	s.node = fakenode.New(fakenode.Options{System: system, Name: "a", Address: "a:1", Incarnation: "a1", Shards: 4})
	s.strategy = placement(t, s.store, "a", ttl)
	return s
}

func (s *stage) start() *stage {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
	defer cancel()
	if err := s.node.Start(ctx, s.strategy); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(s.stop)
	return s
}

func (s *stage) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.node.Stop(ctx); err != nil {
		s.Error(err)
	}
}

// opened starts the node and waits until all its shards are open.
func (s *stage) opened() *stage {
	s.Helper()
	s.start()
	s.await("all are open", s.allOpen)
	return s
}

func (s *stage) await(what string, happened func() bool) {
	s.Helper()
	for deadline := time.Now().Add(30 * time.Second); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("not within 30 s: %s", what)
		}
	}
}

// open are the shards that are open.
func (s *stage) open() (all []int) {
	for shard := range 4 {
		if s.node.Open(shard) {
			all = append(all, shard)
		}
	}
	return all
}

func (s *stage) allOpen() bool { return len(s.open()) == 4 }

// generations are those of the leases.
func (s *stage) generations() (all []uint64) {
	for _, l := range s.store.Snapshot().Leases {
		all = append(all, l.Record.Generation)
	}
	slices.Sort(all)
	return all
}

// fenced are the shards that were fenced because their lease ran out.
func (s *stage) fenced() (all []int) {
	for _, e := range s.node.Events() {
		if f, ok := e.(messages.LeasesSelfFenced); ok {
			all = append(all, f.Shards...)
		}
	}
	return all
}

func TestLL9_LL10_WithADeadStoreAllStopBeforeTheTTLAndComeBack(t *testing.T) {
	s := newStage(t).opened()
	before := s.generations()
	died := time.Now()
	gate := leasemem.NewGate()
	s.store.Inject(leasemem.Rule{Fault: gate.Before()})
	s.await("all are closed", func() bool { return len(s.open()) == 0 })
	if took := time.Since(died); took > ttl {
		t.Errorf("the shards were closed %v after the store's death, want less than %v", took, ttl)
	}
	if fenced := s.fenced(); len(fenced) != 4 {
		t.Errorf("fenced: %v", fenced)
	}
	s.store.Clear()
	gate.Open()
	s.await("all are open again", s.allOpen)
	for i, g := range s.generations() {
		if g != before[i]+1 {
			t.Errorf("generations %v, want each one more than %v", s.generations(), before)
		}
	}
}

func TestLL11_RenewalsKeepTheirPaceWhileOpensAreSlow(t *testing.T) {
	s := newStage(t)
	for shard := range 4 {
		s.node.Script(shard, fakenode.ErrHold)
	}
	ready := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		ready <- s.node.Start(ctx, s.strategy)
	}()
	t.Cleanup(s.stop)
	s.await("each lease is renewed five times while the opens go on", func() bool { return s.store.Count(leasemem.Renew) >= 4*5 })
	for shard := range 4 {
		s.node.Release(shard, nil)
	}
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	s.await("all are open", s.allOpen)
	if fenced := s.fenced(); len(fenced) > 0 {
		t.Errorf("fenced: %v", fenced)
	}
}

func TestLL3_AFailedRoundIsFollowedByAnotherAfterHalfTheInterval(t *testing.T) {
	s := newStage(t).opened()
	written := make(chan time.Time, 1000)
	s.store.Watch(func(c leasemem.Call) {
		if c.Op == leasemem.WriteHeartbeat {
			written <- time.Now()
		}
	})
	refused := time.Time{}
	s.store.Inject(leasemem.Rule{
		Ops: leasemem.WriteHeartbeat, Times: 1,
		Fault: leasemem.Does(func(context.Context, leasemem.Call, func() leasemem.Reply) leasemem.Reply {
			written <- refused
			return leasemem.Reply{Err: errAway}
		}),
	})
	first := time.Time{}
	for at := <-written; at != refused; at = <-written {
		first = at
	}
	if pause := (<-written).Sub(first); pause > ttl/3*9/10 { // the shortest interval
		t.Errorf("the next round came after %v, want about %v", pause, ttl/6)
	}
	if !s.allOpen() {
		t.Error("one failed round closed a shard")
	}
}

func TestLL7_AShardWhoseRenewalFailsIsFencedAlone(t *testing.T) {
	s := newStage(t).opened()
	s.store.Inject(leasemem.Rule{Ops: leasemem.Renew | leasemem.WriteLease, Shards: []int{2}, Fault: leasemem.Fail(errAway)})
	s.await("the shard is fenced", func() bool { return len(s.fenced()) > 0 })
	time.Sleep(ttl) // the others have a TTL to be wrong in
	if fenced := s.fenced(); !slices.Equal(fenced, []int{2}) || !slices.Equal(s.open(), []int{0, 1, 3}) {
		t.Errorf("fenced %v, open %v", fenced, s.open())
	}
	s.store.Clear()
	s.await("it is open again", s.allOpen)
}

func TestLL8_ALostLeaseIsClosedAtOnceBesideAFailingOne(t *testing.T) {
	s := newStage(t).opened()
	s.store.Inject(leasemem.Rule{Ops: leasemem.Renew, Shards: []int{1}, Times: 1, Fault: leasemem.Fail(errAway)})
	lost := time.Now()
	s.store.Plant(lease.Lease{Shard: 3, Record: lease.Record{Owner: "b", Address: "b:1", Incarnation: "b1", Generation: 99, TTL: time.Hour}})
	s.await("the shard is closed", func() bool { return !s.node.Open(3) })
	if took := time.Since(lost); took > ttl*5/6 {
		t.Errorf("closed after %v: only at its deadline", took)
	}
	s.await("it is told", func() bool {
		return slices.ContainsFunc(s.node.Events(), func(e messages.Event) bool { l, ok := e.(messages.LeaseLost); return ok && l.Shard == 3 })
	})
	if fenced := s.fenced(); len(fenced) > 0 {
		t.Errorf("fenced: %v", fenced)
	}
	if p := s.strategy.Lookup(3); p.Owner.Name != "b" || p.Generation != 99 {
		t.Errorf("Lookup says %+v", p)
	}
}

func TestLL15_AfterTheEndOfARunnerAllShardsComeBack(t *testing.T) {
	s := newStage(t).opened()
	for _, kill := range []func(){s.node.KillStrategy, s.strategy.KillRunner, s.node.KillHost} {
		life := s.node.Lives()
		kill()
		s.await("it has started over", func() bool { return s.node.Lives() > life })
		s.await("all are open again", s.allOpen)
	}
	if fenced := s.fenced(); len(fenced) > 0 {
		t.Errorf("a TTL was waited for: %v", fenced)
	}
}

func TestLL16_P6_3_LeavingClosesThenFreesThenSaysSo(t *testing.T) {
	s := newStage(t).opened()
	s.store.Watch(func(c leasemem.Call) {
		if c.Op == leasemem.WriteLease && c.Lease.Record.Owner == "" && s.node.Open(c.Shard) {
			t.Errorf("shard %d is freed while it is open", c.Shard)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s.strategy.Leave(ctx)
	if ctx.Err() != nil || len(s.open()) > 0 {
		t.Fatalf("it has left, but open are %v", s.open())
	}
	seen := s.store.Snapshot()
	for shard, l := range seen.Leases {
		if l.Record.Owner != "" || l.Record.Generation == 0 {
			t.Errorf("the lease of shard %d is %+v", shard, l.Record)
		}
	}
	if b := seen.Heartbeats["a"].Heartbeat; b.State != lease.Left || len(b.Shards) > 0 {
		t.Errorf("the heartbeat is %+v", b)
	}
	s.strategy.Leave(ctx) // again
}

func TestLL16_LeavingWithADeadStoreEndsWithItsContext(t *testing.T) {
	s := newStage(t).opened()
	gate := leasemem.NewGate()
	defer gate.Open()
	s.store.Inject(leasemem.Rule{Fault: gate.Before()})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	s.strategy.Leave(ctx)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestLL17_OwnersAreKeptWhileReadsFail(t *testing.T) {
	s := newStage(t)
	record := lease.Record{Owner: "b", Address: "b:1", Incarnation: "b1", Generation: 7, TTL: time.Hour}
	held := make([]lease.Held, 4)
	for shard := range 4 {
		s.store.Plant(lease.Lease{Shard: shard, Record: record})
		held[shard] = lease.Held{Shard: shard, State: lease.Running, Generation: 7}
	}
	s.store.PlantHeartbeat(lease.Beat{Heartbeat: lease.Heartbeat{
		Node: "b", Address: "b:1", Incarnation: "b1", State: lease.Live, TTL: time.Hour, Shards: held,
	}})
	s.start()
	onB := func() bool {
		for shard := range 4 {
			if s.strategy.Lookup(shard).Owner.Name != "b" {
				return false
			}
		}
		return true
	}
	s.await("the owners are known", onB)
	failing := s.store.Inject(leasemem.Rule{Ops: leasemem.Reads, Fault: leasemem.Fail(errAway)})
	s.await("three rounds have failed", func() bool { return failing.Fired() >= 3 })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s.strategy.Refresh(ctx, 0)
	if !onB() {
		t.Error("owners are forgotten while reads fail")
	}
}

func TestLL19_RefreshKeepsItsTime(t *testing.T) {
	s := newStage(t).opened()
	gate := leasemem.NewGate()
	defer gate.Open()
	s.store.Inject(leasemem.Rule{Fault: gate.Before()})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	s.strategy.Refresh(ctx, 0)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Refresh with 50 ms took %v", took)
	}
	for _, shard := range []int{-1, 4} {
		s.strategy.Refresh(t.Context(), shard) // nothing to wait for
	}
}

func TestLL21_SetupAtTheStart(t *testing.T) {
	t.Run("what may pass", func(t *testing.T) {
		s := newStage(t)
		failing := s.store.Inject(leasemem.Rule{Ops: leasemem.Setup, Times: 2, Fault: leasemem.Fail(errAway)})
		s.start() // succeeds all the same
		s.await("all are open", s.allOpen)
		if failing.Fired() != 2 {
			t.Errorf("failed %d times", failing.Fired())
		}
	})
	t.Run("unfit", func(t *testing.T) {
		s := newStage(t)
		s.store.Inject(leasemem.Rule{Ops: leasemem.Setup, Fault: leasemem.Fail(lease.ErrUnsupported)})
		if err := s.node.Start(t.Context(), s.strategy); !errors.Is(err, lease.ErrUnsupported) {
			t.Errorf("the start: %v", err)
		}
		s.stop()
	})
	t.Run("unfit, later", func(t *testing.T) {
		s := newStage(t)
		s.store.Inject(leasemem.Rule{Ops: leasemem.Setup, Times: 1, Fault: leasemem.Fail(errAway)})
		s.store.Inject(leasemem.Rule{Ops: leasemem.Setup, Fault: leasemem.Fail(lease.ErrUnsupported)})
		s.start()
		<-s.node.Ended()
		if err := s.node.Err(); !errors.Is(err, lease.ErrUnsupported) {
			t.Errorf("the node ended with %v", err)
		}
	})
}

func TestP6_1_AStartUnderANameInUseFails(t *testing.T) {
	s := newStage(t)
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	defer system.Shutdown()
	s.store.PlantHeartbeat(lease.Beat{Heartbeat: lease.Heartbeat{Node: "a", Address: "x:1", Incarnation: "a0", State: lease.Live, TTL: ttl}})
	s.node = fakenode.New(fakenode.Options{
		System: system, Name: "a", Address: "a:1", Incarnation: "a1", Shards: 4,
		Greet: func(context.Context, string) (strategy.Node, error) {
			return strategy.Node{Name: "a", Incarnation: "a0"}, nil
		},
	})
	if err := s.node.Start(t.Context(), s.strategy); !errors.Is(err, messages.ErrNameInUse) {
		t.Errorf("the start: %v", err)
	}
	s.stop()
}

func TestP6_2_ANodeWhoseNameIsTakenEnds(t *testing.T) {
	s := newStage(t).opened()
	s.store.PlantHeartbeat(lease.Beat{Heartbeat: lease.Heartbeat{Node: "a", Address: "a:2", Incarnation: "a9", State: lease.Live, TTL: ttl}})
	<-s.node.Ended()
	if err := s.node.Err(); !errors.Is(err, messages.ErrSuperseded) {
		t.Errorf("the node ended with %v", err)
	}
	s.await("all are closed", func() bool { return len(s.open()) == 0 })
}

func TestP3_2_AHintBeginsARound(t *testing.T) {
	s := newStage(t)
	s.strategy = placement(t, s.store, "a", time.Hour)
	s.strategy.LookNow() // nobody is there
	s.start()
	s.await("all are open", s.allOpen)
	s.store.ResetCounts()
	s.strategy.LookNow()
	s.await("the round lists", func() bool { return s.store.Count(leasemem.List) > 0 })
}

func TestAStopWhileTheStoreHangsLeavesNothingBehind(t *testing.T) {
	s := newStage(t).opened()
	gate := leasemem.NewGate()
	defer gate.Open()
	s.store.Inject(leasemem.Rule{Fault: gate.Before()})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := gate.Await(ctx, 2); err != nil {
		t.Fatal(err)
	}
	s.stop() // goleak looks at what is left
}
