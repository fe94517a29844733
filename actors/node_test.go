package actors

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/slap-go/slap/internal/testlog"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// scaled is a number of rounds, and the larger one with SLAP_STRESS=1.
func scaled(short, long int) int {
	if os.Getenv("SLAP_STRESS") == "1" {
		return long
	}
	return short
}

// byHand is a strategy that does what the test says.
type byHand struct {
	runtime strategy.Runtime
	owner   atomic.Pointer[strategy.Node] // of all shards; nil for this node
	refresh func()
	looks   chan struct{}
	down    func(shard int, reason strategy.DownReason)
}

func (b *byHand) Child(r strategy.Runtime) supervision.ChildSpec {
	b.runtime = r
	return supervision.ChildSpec{Name: "strategy", New: func() actor.Actor { return actor.ReceiveFunc(func(actor.Context) {}) }}
}

func (b *byHand) Lookup(int) strategy.Placement {
	if owner := b.owner.Load(); owner != nil {
		return strategy.Placement{Owner: *owner}
	}
	return strategy.Placement{Here: true}
}

func (b *byHand) Refresh(context.Context, int) {
	if b.refresh != nil {
		b.refresh()
	}
}

func (b *byHand) LookNow() { b.looks <- struct{}{} }

func (b *byHand) HandleShardDown(shard int, reason strategy.DownReason) {
	if b.down != nil {
		b.down(shard, reason)
	}
}

// rig is a node whose shards the test starts and stops.
type rig struct {
	*Node
	t       *testing.T
	hand    *byHand
	replies chan any
	replyTo *actor.PID
	log     *testlog.Buffer
}

func newRig(t *testing.T, shards int, s store.Store, change func(*Config)) *rig {
	t.Helper()
	return newRigOn(t, shards, s, func(_ *actor.ActorSystem, c *Config) {
		if change != nil {
			change(c)
		}
	})
}

// newRigOn is newRig for what needs the actor system, in which nothing runs yet.
func newRigOn(t *testing.T, shards int, s store.Store, change func(*actor.ActorSystem, *Config)) *rig {
	t.Helper()
	objects, err := slatedb.NewObjectStore(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, hand: &byHand{looks: make(chan struct{}, 100)}, replies: make(chan any, 10_000), log: &testlog.Buffer{}}
	logger := slog.New(slog.NewTextHandler(r.log, nil))
	system := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return logger }),
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
	)
	c := Config{
		Incarnation: "i", Shards: shards, Objects: objects, Database: slatedb.Options{Settings: map[string]any{"flush_interval": nil}},
		FlushInterval: 5 * time.Millisecond, WatchInterval: 50 * time.Millisecond, Strategy: r.hand, MaxPending: 10_000,
		OpenTimeout: 30 * time.Second, CloseTimeout: 30 * time.Second, DrainTimeout: 2 * time.Second, Logger: logger,
		LagInterval: time.Second, Events: NewEvents(logger, metricnoop.NewMeterProvider()),
		MeterProvider: metricnoop.NewMeterProvider(), TracerProvider: tracenoop.NewTracerProvider(),
	}
	change(system, &c)
	if r.Node, err = New(system, c); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.replyTo = system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch m := c.Message().(type) {
		case *strategy.Started, *strategy.Closed:
			r.replies <- m
		}
	}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if unclosed, err := r.Stop(ctx); len(unclosed) > 0 || err != nil {
			t.Errorf("stop: %v, %v", unclosed, err)
		}
		r.Close(ctx)
		if err := system.Root.StopFuture(r.replyTo).Wait(); err != nil {
			t.Error(err)
		}
		system.Shutdown()
		if err := objects.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) reply() any {
	r.t.Helper()
	select {
	case m := <-r.replies:
		return m
	case <-time.After(time.Minute):
		r.t.Fatalf("no reply within a minute; the log:\n%s", r.log)
		return nil
	}
}

// open starts a shard and waits for it.
func (r *rig) open(shard int) error {
	r.t.Helper()
	r.hand.runtime.StartShard(shard, nil, r.replyTo)
	started, ok := r.reply().(*strategy.Started)
	if !ok || started.Shard != shard {
		r.t.Fatalf("%+v", started)
	}
	return started.Err
}

// shut stops a shard and waits for that.
func (r *rig) shut(shard int) error {
	r.t.Helper()
	r.hand.runtime.StopShard(shard, r.replyTo)
	closed, ok := r.reply().(*strategy.Closed)
	if !ok || closed.Shard != shard {
		r.t.Fatalf("%+v", closed)
	}
	return closed.Err
}

func TestHOST2_AShardStoppedAtAnyMomentOfItsStartCanBeStartedAgain(t *testing.T) {
	r := newRig(t, 1, store.Memory(), nil)
	for round := range scaled(100, 1_000) {
		r.hand.runtime.StartShard(0, nil, r.replyTo)
		for range round % 20 { // later and later
			time.Sleep(50 * time.Microsecond)
		}
		r.hand.runtime.StopShard(0, r.replyTo)
		for range 2 {
			switch m := r.reply().(type) {
			case *strategy.Started:
				if m.Err != nil && !errors.Is(m.Err, strategy.ErrStopped) {
					t.Fatalf("round %d: started: %v", round, m.Err)
				}
			case *strategy.Closed:
				if m.Err != nil {
					t.Fatalf("round %d: closed: %v", round, m.Err)
				}
			}
		}
	}
	if err := r.open(0); err != nil {
		t.Errorf("at last: %v", err)
	}
	if log := r.log.String(); strings.Contains(log, "panic") {
		t.Errorf("something panicked:\n%s", log[strings.Index(log, "panic"):][:400])
	}
}

func TestHOST2_StartsAndStopsInAnyOrderAreAllAnswered(t *testing.T) {
	r := newRig(t, 4, store.Memory(), nil)
	for range scaled(10, 200) {
		for n := range 4 {
			r.hand.runtime.StartShard(n, nil, r.replyTo)
			r.hand.runtime.StartShard(n, nil, r.replyTo)
			r.hand.runtime.StopShard(n, r.replyTo)
			r.hand.runtime.StopShard(n, r.replyTo)
			r.hand.runtime.StartShard(n, nil, r.replyTo)
		}
		for range 20 {
			if m, ok := r.reply().(*strategy.Started); ok && m.Err != nil &&
				!slices.ContainsFunc([]error{strategy.ErrStopped, strategy.ErrClosing, strategy.ErrAlreadyStarted}, func(e error) bool { return errors.Is(m.Err, e) }) {
				t.Fatalf("started: %v", m.Err)
			}
		}
	}
	for n := range 4 {
		if err := r.open(n); err != nil && !errors.Is(err, strategy.ErrAlreadyStarted) {
			t.Errorf("shard %d: %v", n, err)
		}
		if a := r.State(n); a.State != StateRunning {
			t.Errorf("shard %d is %v at the end", n, a.State)
		}
	}
}

func TestHOST2_NumbersOutOfRangeAreRefused(t *testing.T) {
	r := newRig(t, 2, store.Memory(), nil)
	for _, n := range []int{-1, 2} {
		if err := r.open(n); !errors.Is(err, strategy.ErrInvalidShard) {
			t.Errorf("start %d: %v", n, err)
		}
		if err := r.shut(n); !errors.Is(err, strategy.ErrNotStarted) {
			t.Errorf("stop %d: %v", n, err)
		}
	}
}

func TestSUP2_AHostThatPanicsStartsEverythingOverUnderNewOpenings(t *testing.T) {
	r := newRig(t, 2, store.Memory(), nil)
	openings := map[string]bool{}
	r.hand.down = func(int, strategy.DownReason) { panic("as told") }
	for round := range 3 {
		for n := range 2 {
			if err := r.open(n); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			opening := r.table.get(n).shard.opening
			if openings[opening] {
				t.Fatalf("round %d: opening %s was there before", round, opening)
			}
			openings[opening] = true
		}
		_ = r.shut(0) // answered, then the host panics
		deadline := time.Now().Add(time.Minute)
		for state := StateRunning; state != StateUnassigned; state = r.State(1).State {
			if time.Now().After(deadline) {
				t.Fatalf("shard 1 is still %v", state)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func TestSPEC3_AShardThatIsReportedStartedIsThere(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.ShardChildren = workers })
	for range 50 {
		if err := r.open(0); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Ask(t.Context(), 0, "a", word("echo"), Retry{}); err != nil {
			t.Fatal(err)
		}
		if err := r.shut(0); err != nil {
			t.Fatal(err)
		}
	}
}
