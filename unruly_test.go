package slap_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/supervision"
)

// unruly is a child that does what its callbacks are told to, and says "echo".
type unruly struct {
	on func(c actor.Context) // may be nil
}

func (u unruly) Receive(c actor.Context) {
	if u.on != nil {
		u.on(c)
	}
	switch m := c.Message().(type) {
	case *wrapperspb.StringValue:
		switch m.GetValue() {
		case "echo":
			c.Respond(m)
		case "panic":
			panic("as told")
		case "stop":
			c.Stop(c.Self())
		}
	}
}

// neighbourhood is a node of two shards. Shard 0 has the children "bad" and "good",
// shard 1 has two good ones.
type neighbourhood struct {
	*slap.Cluster
	*driven
	t       *testing.T
	log     *journal
	events  func() []slap.Event // once the node has stopped
	patient atomic.Bool         // the bad child of the openings to come has time to stop
}

func newNeighbourhood(t *testing.T, bad func(c actor.Context), h map[string]slap.Handler) *neighbourhood {
	t.Helper()
	n := &neighbourhood{t: t, driven: &driven{Strategy: newLocal(t)}, log: &journal{}}
	n.Cluster = newCluster(t, slap.Config{
		Store: store.Memory(), Shards: 2, Strategy: n.driven, DrainTimeout: 100 * time.Millisecond, Handlers: h, Logger: n.log.logger(slog.LevelWarn),
		MaxPending: 100, Retries: 1, RetryDelay: time.Millisecond,
		ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
			child := func(name string, on func(actor.Context)) slap.ChildSpec {
				return slap.ChildSpec{Name: name, Shutdown: time.Minute, New: func() actor.Actor { return unruly{on} }}
			}
			if s.Number() == 1 {
				return []slap.ChildSpec{child("bad", nil), child("good", nil)}
			}
			spec := child("bad", bad)
			if !n.patient.Load() {
				spec.Shutdown = 50 * time.Millisecond
			}
			return []slap.ChildSpec{spec, child("good", nil)}
		},
	})
	n.events = collect(n.Events(context.Background(), 100_000))
	if err := n.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := n.AwaitReady(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *neighbourhood) ask(shard int, child, word string, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return errOf(n.Ask(ctx, shard, child, wrapperspb.String(word)))
}

func (n *neighbourhood) opening(shard int) string {
	at, err := n.Lookup(shard)
	if err != nil || !at.Local() {
		return ""
	}
	return at.Shard.Opening()
}

// undisturbed asks neighbours of the bad child without a pause while f runs. None of
// them may fail, and no shard of theirs may be opened anew.
func (n *neighbourhood) undisturbed(f func(), neighbours ...[2]any) {
	n.t.Helper()
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, who := range neighbours {
		shard, child := who[0].(int), who[1].(string)
		before := n.opening(shard)
		all.Go(func() {
			for more := true; more; {
				select {
				case <-stop:
					more = false
				default:
				}
				if err := n.ask(shard, child, "echo", 20*time.Second); err != nil {
					n.t.Errorf("shard %d, %s: %v", shard, child, err)
					return
				}
			}
			if after := n.opening(shard); after != before {
				n.t.Errorf("shard %d was opened anew as %q", shard, after)
			}
		})
	}
	f()
	close(stop)
	all.Wait()
}

var (
	sibling   = [2]any{0, "good"}
	elsewhere = [2]any{1, "bad"}
)

// stopped ends the node and gives its events.
func (n *neighbourhood) stopped() []slap.Event {
	n.t.Helper()
	err := n.Stop(within(n.t, time.Minute))
	if err != nil && !errors.Is(err, supervision.ErrAbandoned) {
		n.t.Errorf("the stop: %v", err)
	}
	return n.events()
}

// TestSPEC4 has a child that panics in one of its callbacks, once and then until its
// shard goes down.
func TestSPEC4_APanicInAnyCallbackHarmsOnlyItsShardAndOnlyWhenItIsTooMany(t *testing.T) {
	for _, c := range []struct {
		name string
		word string // that brings the panic about
		in   func(message any) bool
		kind error // of that request
	}{
		{"its message", "panic", func(any) bool { return false }, slap.ErrPanicked},
		{"Started", "panic", is[*actor.Started], slap.ErrPanicked},
		{"Stopping", "stop", is[*actor.Stopping], slap.ErrChildStopped},
		{"Stopped", "stop", is[*actor.Stopped], slap.ErrChildStopped},
		{"Restarting", "panic", is[*actor.Restarting], slap.ErrPanicked},
	} {
		t.Run(c.name, func(t *testing.T) {
			var armed atomic.Bool
			n := newNeighbourhood(t, func(ctx actor.Context) {
				if c.in(ctx.Message()) && armed.CompareAndSwap(true, false) {
					panic("as told")
				}
			}, nil)
			opening := n.opening(0)
			trouble := func() {
				armed.Store(true)
				if err := n.ask(0, "bad", c.word, time.Minute); !errors.Is(err, slap.ErrOutcomeUnknown) || !errors.Is(err, c.kind) {
					t.Errorf("its request: %v, want %v", err, c.kind)
				}
			}
			n.undisturbed(func() {
				trouble()
				eventually(t, "it is back", func() bool { return n.ask(0, "bad", "echo", time.Second) == nil })
			}, sibling, elsewhere)
			if now := n.opening(0); now != opening {
				t.Errorf("one panic: the shard was opened anew as %q", now)
			}
			n.undisturbed(func() {
				eventually(t, "the shard is opened anew", func() bool {
					now := n.opening(0)
					if now == opening {
						armed.Store(true)
						_ = n.ask(0, "bad", c.word, time.Second)
					}
					return now != "" && now != opening
				})
				armed.Store(false)
				eventually(t, "both serve", func() bool {
					return n.ask(0, "bad", "echo", time.Second) == nil && n.ask(0, "good", "echo", time.Second) == nil
				})
			}, elsewhere)
			wantCrash(t, n.stopped(), opening)
		})
	}
}

func is[T any](message any) bool {
	_, ok := message.(T)
	return ok
}

func wantCrash(t *testing.T, all []slap.Event, opening string) {
	t.Helper()
	for _, e := range named(all, "shard.stop") {
		if s, ok := e.(slap.ShardStopped); ok && s.Opening == opening {
			if s.Reason != "crashed" || s.Err == nil {
				t.Errorf("it ended as %s, %v", s.Reason, s.Err)
			}
			return
		}
	}
	t.Errorf("nothing tells of the end of %s", opening)
}

// wantAbandoned says that the bad child was given up so many times.
func wantAbandoned(t *testing.T, all []slap.Event, times int) {
	t.Helper()
	abandoned := named(all, "supervisor.child.abandoned")
	if len(abandoned) != times {
		t.Errorf("given up: %v, want %d times", abandoned, times)
	}
}

// reopen stops the shard by the strategy and starts it again.
func (n *neighbourhood) reopen(shard int) {
	n.t.Helper()
	before := n.opening(shard)
	n.runtime.StopShard(shard, nil)
	n.runtime.StartShard(shard, nil, nil)
	eventually(n.t, "the shard is open again", func() bool {
		now := n.opening(shard)
		if now == "" {
			n.runtime.StartShard(shard, nil, nil)
		}
		return now != "" && now != before
	})
}

func TestSPEC4_AChildThatHangsInItsStopIsGivenUpAndHarmsNobody(t *testing.T) {
	release := make(chan struct{})
	n := newNeighbourhood(t, func(c actor.Context) {
		if is[*actor.Stopping](c.Message()) {
			<-release
		}
	}, nil)
	at, err := n.Lookup(0)
	if err != nil || !at.Local() {
		t.Fatal(at, err)
	}
	n.undisturbed(func() {
		if err := at.Shard.StopChild(within(t, time.Minute), "bad"); !errors.Is(err, supervision.ErrAbandoned) {
			t.Errorf("the child's stop: %v", err)
		}
	}, sibling, elsewhere)
	n.undisturbed(func() { n.reopen(0) }, elsewhere) // with the child that was given up
	n.undisturbed(func() { n.reopen(0) }, elsewhere) // and one that hangs now
	if err := n.ask(0, "bad", "echo", time.Minute); err != nil {
		t.Errorf("its next incarnation: %v", err)
	}
	all := n.stopped()
	close(release)
	wantAbandoned(t, all, 3)
}

func TestSPEC4_AChildThatHangsInAMessageHarmsNobody(t *testing.T) {
	entered, release := make(chan struct{}, 10), make(chan struct{})
	n := newNeighbourhood(t, func(c actor.Context) {
		if m, ok := c.Message().(*wrapperspb.StringValue); ok && m.GetValue() == "hang" {
			entered <- struct{}{}
			<-release
		}
	}, nil)
	begun := make(chan error, 1)
	n.undisturbed(func() {
		go func() { begun <- n.ask(0, "bad", "hang", time.Minute) }()
		receive(t, entered)
		if err := n.ask(0, "bad", "echo", 50*time.Millisecond); !errors.Is(err, slap.ErrNotExecuted) || !errors.Is(err, slap.ErrTimeout) {
			t.Errorf("what waits behind it: %v", err)
		}
	}, sibling, elsewhere)
	n.patient.Store(true)
	n.undisturbed(func() { n.reopen(0) }, elsewhere)
	if err := receive(t, begun); !errors.Is(err, slap.ErrOutcomeUnknown) {
		t.Errorf("what it hangs in: %v", err)
	}
	if err := n.ask(0, "bad", "echo", time.Minute); err != nil {
		t.Errorf("its next incarnation: %v", err)
	}
	close(release)
	wantAbandoned(t, n.stopped(), 1)
}

func TestSPEC4_AChildThatIsFloodedHarmsNobody(t *testing.T) {
	entered, release := make(chan struct{}, 10), make(chan struct{})
	n := newNeighbourhood(t, func(c actor.Context) {
		if m, ok := c.Message().(*wrapperspb.StringValue); ok && m.GetValue() == "hang" {
			entered <- struct{}{}
			<-release
			c.Respond(m)
		}
	}, nil)
	held, flood := make(chan error, 1), make(chan error, 2_000)
	n.undisturbed(func() {
		go func() { held <- n.ask(0, "bad", "hang", time.Minute) }()
		receive(t, entered)
		for range cap(flood) {
			go func() { flood <- n.ask(0, "bad", "echo", time.Minute) }()
		}
		told := 0
		for range 10_000 {
			if n.Tell(t.Context(), 0, "bad", wrapperspb.String("echo")) == nil {
				told++
			}
		}
		if told > 100 {
			t.Errorf("%d messages wait in front of it, want 100", told)
		}
		for range cap(flood) - 100 { // over MaxPending
			if err := receive(t, flood); !errors.Is(err, slap.ErrOverloaded) || !errors.Is(err, slap.ErrNotExecuted) {
				t.Fatalf("one too many: %v", err)
			}
		}
		close(release)
		for range 100 {
			if err := receive(t, flood); err != nil {
				t.Errorf("one that waited: %v", err)
			}
		}
		if err := receive(t, held); err != nil {
			t.Errorf("the first: %v", err)
		}
	}, sibling, elsewhere)
	n.stopped()
}

func TestCALL12_AHandlerThatPanicsOrHangsHarmsOnlyItself(t *testing.T) {
	entered, release := make(chan struct{}, 10), make(chan struct{})
	n := newNeighbourhood(t, nil, handlers(func(_ context.Context, _ *slap.Shard, m proto.Message) (proto.Message, error) {
		switch m.(*wrapperspb.StringValue).GetValue() {
		case "panic":
			panic("as told")
		case "goexit":
			runtime.Goexit()
		case "hang": // whatever its context says
			entered <- struct{}{}
			<-release
		}
		return m, nil
	}))
	call := func(shard int, word string) error {
		return errOf(n.Call(within(t, time.Minute), shard, "a", wrapperspb.String(word)))
	}
	n.undisturbed(func() {
		for range 20 {
			for _, word := range []string{"panic", "goexit"} {
				if err := call(0, word); !errors.Is(err, slap.ErrOutcomeUnknown) || !errors.Is(err, slap.ErrPanicked) {
					t.Errorf("%s: %v", word, err)
				}
			}
		}
		if err := call(0, "echo"); err != nil {
			t.Errorf("beside them: %v", err)
		}
	}, sibling, elsewhere)
	hangs := make(chan error, 2)
	begin := func() {
		go func() { hangs <- call(0, "hang") }()
		receive(t, entered)
	}
	n.undisturbed(func() {
		begin()
		n.reopen(0)
		if err := receive(t, hangs); !errors.Is(err, slap.ErrOutcomeUnknown) {
			t.Errorf("the one that hangs: %v", err)
		}
	}, elsewhere)
	if err := call(0, "echo"); err != nil {
		t.Errorf("on the next opening: %v", err)
	}
	begin()
	n.stopped()
	if lines := n.log.lines("handlers do not return", "handlers=2"); len(lines) != 1 {
		t.Errorf("the log says nothing of two handlers that were left behind:\n%s", n.log)
	}
	close(release)
	if err := receive(t, hangs); !errors.Is(err, slap.ErrOutcomeUnknown) {
		t.Errorf("the one that hangs as the node stops: %v", err)
	}
}
