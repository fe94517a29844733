package actors

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/actors/links"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// anybody lets every node be called.
type anybody struct{}

func (anybody) Address(string) (string, bool) { return "", false }
func (anybody) Allows(string, string) error   { return nil }

// listening makes the node one of several, with this name.
func listening(t *testing.T, name string, change func(*Config)) func(*actor.ActorSystem, *Config) {
	t.Helper()
	return func(system *actor.ActorSystem, c *Config) {
		c.Name, c.Incarnation, c.CallTimeout = name, name+"-1", time.Minute
		c.Retry = Retry{Count: 3, Delay: time.Millisecond}
		if change != nil {
			change(c)
		}
		l, err := links.Start(links.Config{
			Cluster: "the cluster", Node: name, Incarnation: c.Incarnation, Tree: TreeName(c.Cluster), System: system, Listen: "127.0.0.1:0",
			Peers: anybody{}, Logger: c.Logger, Publish: c.Events.Publish, Origin: c.origin,
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Links = l
		t.Cleanup(func() { // after the node's own end: the last is first
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := l.Close(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// pair is two nodes: shard 0 is open on the owner, and the caller knows that.
func pair(t *testing.T, change func(*Config)) (caller, owner *rig) {
	t.Helper()
	start := func(name string) *rig {
		r := newRigOn(t, 2, store.Memory(), listening(t, name, change))
		r.config.Links.Serve(r.Node)
		return r
	}
	caller, owner = start("caller"), start("owner")
	self := owner.config.Links.Self()
	caller.hand.owner.Store(&self)
	owner.mustOpen(0)
	caller.connect(self)
	return caller, owner
}

// connect has a connection made, however long that takes: a request waits a second for it.
func (r *rig) connect(to strategy.Node) {
	r.t.Helper()
	r.eventually("there is a connection", func() bool {
		_, err := r.config.Links.Do(r.t.Context(), 0, to, links.Request{Way: messages.Way_WAY_PID, Target: "nobody"})
		return !errors.Is(err, messages.ErrNoConnection)
	})
}

func wantRouting(t *testing.T, err, class, kind error, node string) {
	t.Helper()
	routing, ok := errors.AsType[*messages.RequestError](err)
	if !ok || !errors.Is(err, class) || !errors.Is(err, kind) || routing.Node != node {
		t.Errorf("got %v, want %v: %v of %q", err, class, kind, node)
	}
}

var noRetry = Retry{}

func TestCALL1_ARemoteShardIsReachedInEveryWay(t *testing.T) {
	told := make(chan any, 10)
	caller, owner := pair(t, func(c *Config) {
		c.ShardChildren = workers
		c.Handlers = map[string]Handler{
			"opening": func(_ context.Context, s *Shard, _ proto.Message) (proto.Message, error) {
				return wrapperspb.String(s.Opening()), nil
			},
		}
	})
	ctx := t.Context()
	for range 3 {
		if m, err := caller.Ask(ctx, 0, "a", word("echo"), noRetry); err != nil || !proto.Equal(m, word("echo")) {
			t.Errorf("ask: %v, %v", m, err)
		}
	}
	if m, err := caller.Ask(ctx, 0, "a", word("write"), noRetry); err != nil || m.(*wrapperspb.UInt64Value).GetValue() == 0 {
		t.Errorf("a durable answer: %v, %v", m, err)
	}
	if m, err := caller.Call(ctx, 0, "opening", word("x"), noRetry); err != nil || !proto.Equal(m, word(owner.shardAt(0).Opening())) {
		t.Errorf("call: %v, %v", m, err)
	}
	if err := caller.Tell(ctx, 0, "a", word("silent"), noRetry); err != nil {
		t.Errorf("tell: %v", err)
	}
	pid, err := caller.PID(ctx, 0, "a", noRetry)
	if err != nil || pid.GetAddress() != owner.config.Links.Self().Address {
		t.Fatalf("pid: %v, %v", pid, err)
	}
	back := caller.system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch m := c.Message().(type) {
		case *actor.Started:
			c.Request(pid, word("echo"))
		case *wrapperspb.StringValue:
			told <- m.GetValue()
		}
	}))
	if got := next(t, told); got != "echo" {
		t.Errorf("by its PID: %v", got)
	}
	asker := caller.system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch m := c.Message().(type) {
		case *actor.Started:
			c.Request(caller.Router(), &messages.Ask{Shard: 0, Child: "a", Message: word("echo"), Tag: 7})
		case *messages.Answered:
			told <- m
		}
	}))
	if m, ok := next(t, told).(*messages.Answered); !ok || m.Tag != 7 || m.Err != nil || !proto.Equal(m.Message, word("echo")) {
		t.Errorf("by the router: %v", m)
	}
	for _, pid := range []*actor.PID{back, asker} {
		_ = caller.system.Root.StopFuture(pid).Wait()
	}
	owner.eventually("nothing is left", func() bool { return owner.Node.replies.open.count() == 0 && owner.shardAt(0).gate.inside.Load() == 0 })
}

func TestP8_2_RemoteErrorsSayWhetherTheRequestRan(t *testing.T) {
	var runs atomic.Int64
	caller, _ := pair(t, func(c *Config) {
		c.ShardChildren = workers
		c.Handlers = map[string]Handler{"h": func(_ context.Context, _ *Shard, m proto.Message) (proto.Message, error) {
			runs.Add(1)
			switch m.(*wrapperspb.StringValue).GetValue() {
			case "panic":
				panic("as told")
			case "plain":
				return nil, errors.New("plain")
			case "routing": // looks like one of ours
				return nil, messages.NotExecuted(0, "h", messages.ErrNotOwner, nil)
			}
			return nil, &messages.AppError{Code: "no", Message: "as told"}
		}}
	})
	retry := Retry{Count: 3, Delay: time.Millisecond}
	ask := func(shard int, child, text string) error {
		_, err := caller.Ask(t.Context(), shard, child, word(text), retry)
		return err
	}
	call := func(handler, text string) error {
		_, err := caller.Call(t.Context(), 0, handler, word(text), retry)
		return err
	}
	none, unknown := messages.ErrNotExecuted, messages.ErrOutcomeUnknown
	wantRouting(t, ask(0, "b", "echo"), none, messages.ErrNoChild, "owner")
	wantRouting(t, ask(1, "a", "echo"), none, messages.ErrNotOwner, "owner")
	wantRouting(t, ask(0, "a", "panic"), unknown, messages.ErrPanicked, "owner")
	wantRouting(t, call("none", "x"), none, messages.ErrNoHandler, "owner")
	wantRouting(t, caller.Tell(t.Context(), 0, "b", word("x"), noRetry), none, messages.ErrNoChild, "owner")
	_, err := caller.PID(t.Context(), 1, "a", noRetry)
	wantRouting(t, err, none, messages.ErrNotOwner, "owner")
	if runs.Load() != 0 {
		t.Errorf("%d handlers ran", runs.Load())
	}
	wantRouting(t, call("h", "panic"), unknown, messages.ErrPanicked, "owner")
	wantRouting(t, call("h", "plain"), unknown, messages.ErrChildFailed, "owner")
	if err := call("h", "routing"); !errors.Is(err, unknown) { // CALL-2
		t.Errorf("an application's routing error: %v", err)
	}
	if err := call("h", "x"); !errors.Is(err, &messages.AppError{Code: "no"}) || err.Error() != "no: as told" {
		t.Errorf("an application's error: %v", err)
	}
	if runs.Load() != 4 {
		t.Errorf("4 calls ran %d times", runs.Load())
	}
}

// CALL-4, CALL-11 and CALL-13: what a stale owner refuses is tried again after a refresh.
func TestCALL11_AStaleOwnerIsAskedOnce(t *testing.T) {
	caller, owner := pair(t, func(c *Config) { c.ShardChildren = workers })
	third := newRigOn(t, 2, store.Memory(), listening(t, "third", func(c *Config) { c.ShardChildren = workers }))
	third.config.Links.Serve(third.Node)
	stale, fresh := third.config.Links.Self(), owner.config.Links.Self()
	caller.connect(stale)
	caller.hand.owner.Store(&stale)
	refreshes := 0
	caller.hand.refresh = func() {
		refreshes++
		caller.hand.owner.Store(&fresh)
	}
	events := make(chan messages.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	read := caller.config.Events.Read(ctx, 100)
	go func() {
		defer close(done)
		for e := range read {
			events <- e
		}
	}()
	if m, err := caller.Ask(t.Context(), 0, "a", word("echo"), Retry{Count: 1, Delay: time.Millisecond}); err != nil || !proto.Equal(m, word("echo")) {
		t.Errorf("%v, %v", m, err)
	}
	if refreshes != 1 {
		t.Errorf("%d refreshes", refreshes)
	}
	for _, want := range []string{"call.remote 0 third", "call.not_owner 0 third", "call.remote 0 owner"} {
		var got string
		switch e := next(t, events).(type) {
		case messages.CallRemote:
			got = fmt.Sprintf("%s %d %s", e.Name(), e.Shard, e.Node)
		case messages.CallNotOwner:
			got = fmt.Sprintf("%s %d %s", e.Name(), e.Shard, e.Node)
		}
		if got != want {
			t.Errorf("event %q, want %q", got, want)
		}
	}
	cancel()
	<-done
}

// CALL-3: an owner that cannot be reached is tried again, since nothing was sent.
func TestCALL4_AnOwnerThatCannotBeReachedIsTriedAgain(t *testing.T) {
	caller, owner := pair(t, func(c *Config) { c.ShardChildren = workers })
	good := owner.config.Links.Self()
	caller.hand.owner.Store(&strategy.Node{Name: "gone", Address: "127.0.0.1:1"})
	tries := 0
	caller.hand.refresh = func() { tries++ }
	_, err := caller.Ask(t.Context(), 0, "a", word("echo"), Retry{Count: 2, Delay: time.Millisecond})
	wantRouting(t, err, messages.ErrNotExecuted, messages.ErrNoConnection, "gone")
	if tries != 2 {
		t.Errorf("%d refreshes", tries)
	}
	caller.hand.refresh = func() { caller.hand.owner.Store(&good) }
	if _, err := caller.Call(t.Context(), 0, "none", word("x"), Retry{Count: 1}); !errors.Is(err, messages.ErrNoHandler) {
		t.Errorf("after the owner has changed: %v", err)
	}
	// CALL-8: one deadline bounds it all, and says what was tried last.
	caller.hand.owner.Store(&strategy.Node{Name: "gone", Address: "127.0.0.1:1"})
	caller.hand.refresh = nil
	err = longEnough(func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		began := time.Now()
		_, err := caller.Ask(ctx, 0, "a", word("echo"), Retry{Count: 3, Delay: time.Minute})
		if !errors.Is(err, messages.ErrNotExecuted) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took > limit+10*time.Second {
			t.Errorf("it took %v of %v", took, limit)
		}
		return err
	}, messages.ErrNoConnection)
	if !errors.Is(err, messages.ErrNoConnection) {
		t.Errorf("%v", err)
	}
}

// longEnough runs something with ever longer limits until its error is of the kind: a short
// one may pass before anything is tried.
func longEnough(run func(limit time.Duration) error, kind error) (err error) {
	for limit := 50 * time.Millisecond; limit < 20*time.Second && !errors.Is(err, kind); limit *= 2 {
		err = run(limit)
	}
	return err
}

// The life of a request is the same for other nodes: what waits does not run once its
// caller has gone, or its shard stops; of what has begun nothing is known.
func TestP8_1_ARemoteRequestThatWaitsIsNotExecuted(t *testing.T) {
	var runs atomic.Int64
	begun, hold := make(chan string, 10), make(chan struct{})
	caller, owner := pair(t, func(c *Config) {
		c.MaxPending = 2
		c.DrainTimeout = time.Minute
		c.ShardChildren = func(*Shard) []supervision.ChildSpec {
			return []supervision.ChildSpec{{Name: "a", New: func() actor.Actor {
				return actor.ReceiveFunc(func(ctx actor.Context) {
					if m, ok := ctx.Message().(*wrapperspb.StringValue); ok {
						runs.Add(1)
						begun <- m.GetValue()
						<-hold
						ctx.Stop(ctx.Self())
					}
				})
			}}}
		}
	})
	results := make(chan error, 10)
	ask := func(ctx context.Context, text string) {
		go func() {
			_, err := caller.Ask(ctx, 0, "a", word(text), noRetry)
			results <- err
		}()
	}
	inbox := owner.shardAt(0).inbox("a")
	waiting := func(n int32) { owner.eventually("they wait", func() bool { return inbox.waiting.Load() == n }) }
	ask(t.Context(), "first")
	next(t, begun)

	ctx, cancel := context.WithCancel(t.Context())
	ask(ctx, "withdrawn")
	waiting(1)
	cancel()
	wantRouting(t, next(t, results), messages.ErrOutcomeUnknown, messages.ErrTimeout, "owner") // it was sent
	waiting(0)                                                                                 // and never runs

	err := longEnough(func(limit time.Duration) error {
		short, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := caller.Ask(short, 0, "a", word("late"), noRetry)
		return err
	}, messages.ErrOutcomeUnknown)
	wantRouting(t, err, messages.ErrOutcomeUnknown, messages.ErrTimeout, "owner")
	waiting(0)

	ask(t.Context(), "second")
	waiting(1)
	ask(t.Context(), "third")
	waiting(2)
	ask(t.Context(), "fourth")
	wantRouting(t, next(t, results), messages.ErrNotExecuted, messages.ErrOverloaded, "owner")

	owner.stop(0)
	for range 2 {
		wantRouting(t, next(t, results), messages.ErrNotExecuted, messages.ErrStopping, "owner")
	}
	ask(t.Context(), "too late")
	wantRouting(t, next(t, results), messages.ErrNotExecuted, messages.ErrStopping, "owner")
	close(hold)
	if err := next(t, results); !errors.Is(err, messages.ErrOutcomeUnknown) {
		t.Errorf("what has begun: %v", err)
	}
	owner.wantReply("closed", 0, nil)
	if runs.Load() != 1 {
		t.Errorf("%d ran", runs.Load())
	}
}

// CALL-6: a connection that is lost leaves the outcome unknown, and the handler's context
// ends with it.
func TestCALL6_WhatWasSentIsNotSentAgain(t *testing.T) {
	var runs atomic.Int64
	begun, ended := make(chan struct{}, 10), make(chan error, 10)
	caller, owner := pair(t, func(c *Config) {
		c.Handlers = map[string]Handler{"h": func(ctx context.Context, _ *Shard, _ proto.Message) (proto.Message, error) {
			runs.Add(1)
			begun <- struct{}{}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, ctx.Err()
		}}
	})
	result := make(chan error, 1)
	go func() {
		_, err := caller.Call(context.Background(), 0, "h", word("x"), Retry{Count: 3})
		result <- err
	}()
	next(t, begun)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := caller.config.Links.Close(ctx); err != nil {
		t.Error(err)
	}
	wantRouting(t, next(t, result), messages.ErrOutcomeUnknown, messages.ErrConnectionLost, "owner")
	next(t, ended)
	if runs.Load() != 1 {
		t.Errorf("it ran %d times", runs.Load())
	}
	owner.eventually("nothing is inside", func() bool { return owner.shardAt(0).gate.inside.Load() == 0 })
}

func TestP7_2_TheTraceAndTheDeadlineGoAlong(t *testing.T) {
	provider := sdktrace.NewTracerProvider()
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	type seen struct {
		trace trace.TraceID
		left  time.Duration
	}
	got := make(chan seen, 1)
	caller, _ := pair(t, func(c *Config) {
		c.TracerProvider = provider
		c.Handlers = map[string]Handler{"h": func(ctx context.Context, _ *Shard, m proto.Message) (proto.Message, error) {
			deadline, _ := ctx.Deadline()
			got <- seen{trace.SpanContextFromContext(ctx).TraceID(), time.Until(deadline)}
			return m, nil
		}}
	})
	ctx, span := provider.Tracer("test").Start(t.Context(), "test")
	defer span.End()
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	if _, err := caller.Call(ctx, 0, "h", word("x"), noRetry); err != nil {
		t.Fatal(err)
	}
	s := next(t, got)
	if s.trace != span.SpanContext().TraceID() {
		t.Errorf("trace %v, want %v", s.trace, span.SpanContext().TraceID())
	}
	if s.left <= 0 || s.left > 40*time.Second {
		t.Errorf("left %v", s.left)
	}
}

func TestP3_2_AHintMakesTheStrategyLook(t *testing.T) {
	caller, owner := pair(t, nil)
	caller.hand.runtime.Hint(owner.config.Links.Self())
	next(t, owner.hand.looks)
	who, err := caller.hand.runtime.Greet(t.Context(), owner.config.Links.Self().Address)
	if err != nil || who != owner.hand.runtime.Node() || who.Name != "owner" {
		t.Errorf("%+v, %v", who, err)
	}
}
