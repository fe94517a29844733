package slap_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/supervision"
)

// echo is a child that says its name before what it is told.
func echo(name string) slap.ChildSpec {
	return slap.ChildSpec{Name: name, Restart: supervision.Transient, New: func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *wrapperspb.StringValue:
				c.Respond(wrapperspb.String(name + " " + m.GetValue()))
			case *wrapperspb.BoolValue:
				c.Stop(c.Self())
			}
		})
	}}
}

// manager is a child that starts and stops others, as an application's would.
type manager struct {
	shard   *slap.Shard
	callers map[string]*actor.PID
}

func (m *manager) Receive(c actor.Context) {
	switch msg := c.Message().(type) {
	case *wrapperspb.StringValue:
		m.callers[msg.GetValue()] = c.Sender()
		m.shard.RequestStartChild(c, echo(msg.GetValue()), msg.GetValue())
	case *wrapperspb.BytesValue:
		name := string(msg.GetValue())
		m.callers[name] = c.Sender()
		m.shard.RequestStopChild(c, name, name)
	case *supervision.StartChildResult:
		m.answer(c, msg.Tag, msg.Err)
	case *supervision.StopChildResult:
		m.answer(c, msg.Tag, msg.Err)
	}
}

func (m *manager) answer(c actor.Context, tag any, err error) {
	name, _ := tag.(string)
	if err != nil {
		c.Send(m.callers[name], &slap.AppError{Code: "child", Message: err.Error()})
		return
	}
	c.Send(m.callers[name], wrapperspb.String("done"))
}

func withManager(shard *slap.Shard) []slap.ChildSpec {
	return []slap.ChildSpec{{Name: "manager", New: func() actor.Actor {
		return &manager{shard: shard, callers: map[string]*actor.PID{}}
	}}, echo("fixed")}
}

func TestSPEC4_ChildrenComeAndGo(t *testing.T) {
	c := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: withManager})
	defer stopCluster(t, c)
	ctx := within(t, time.Minute)
	ask := func(child string, m proto.Message) error { return errOf(c.Ask(ctx, 0, child, m)) }
	for round := range 3 {
		if err := ask("manager", wrapperspb.String("guest")); err != nil {
			t.Fatalf("round %d: start: %v", round, err)
		}
		got, err := slap.Ask[*wrapperspb.StringValue](ctx, c, 0, "guest", wrapperspb.String("hello"))
		if err != nil || got.GetValue() != "guest hello" {
			t.Fatalf("round %d: %v, %v", round, got, err)
		}
		if err := ask("manager", wrapperspb.String("guest")); !errors.Is(err, &slap.AppError{Code: "child"}) {
			t.Errorf("a second one under the name: %v", err)
		}
		if err := ask("manager", wrapperspb.Bytes([]byte("guest"))); err != nil {
			t.Fatalf("round %d: stop: %v", round, err)
		}
		if err := ask("guest", wrapperspb.String("hello")); !errors.Is(err, slap.ErrNoChild) {
			t.Errorf("round %d: once stopped: %v", round, err)
		}
	}
	if err := ask("manager", wrapperspb.Bytes([]byte("nobody"))); !errors.Is(err, &slap.AppError{Code: "child"}) {
		t.Errorf("stop of nobody: %v", err)
	}
	if err := ask("fixed", wrapperspb.String("x")); err != nil {
		t.Errorf("the fixed child: %v", err)
	}
}

func TestSPEC4_AChildThatEndsForGoodLeavesNothingBehind(t *testing.T) {
	start := func(ctx context.Context, shard *slap.Shard, name *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		pid, err := shard.StartChild(ctx, echo(name.GetValue()))
		if err != nil {
			return nil, err
		}
		return wrapperspb.String(pid.GetId()), nil
	}
	c := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 1, ShardChildren: withManager,
		Handlers: map[string]slap.Handler{"start": slap.Handle(start)},
	})
	defer stopCluster(t, c)
	ctx := within(t, time.Minute)
	for i := range 200 {
		name := fmt.Sprintf("guest-%d", i)
		id, err := slap.Call[*wrapperspb.StringValue](ctx, c, 0, "start", wrapperspb.String(name))
		if err != nil {
			t.Fatal(err)
		}
		if pid, err := c.PID(ctx, 0, name); err != nil || pid.GetId() != id.GetValue() {
			t.Fatalf("%v, %v, want %v", pid, err, id)
		}
		if err := errOf(c.Ask(ctx, 0, name, wrapperspb.Bool(true))); !errors.Is(err, slap.ErrChildStopped) {
			t.Fatalf("a child that ends instead of answering: %v", err)
		}
	}
	location, err := c.Lookup(0)
	if err != nil || !location.Local() {
		t.Fatal(location, err)
	}
	eventually(t, "only the fixed children are left", func() bool {
		err := errOf(c.Ask(ctx, 0, "nobody", wrapperspb.String("x")))
		return err != nil && err.Error() == `shard 0, nobody: not executed: the shard has no such child: it has ["fixed" "manager"]`
	})
	if pid := location.Shard.PID("guest-0"); pid != nil {
		t.Errorf("a PID of who is gone: %v", pid)
	}
	if err := location.Shard.StopChild(ctx, "guest-0"); !errors.Is(err, supervision.ErrUnknownChild) {
		t.Errorf("stop of who is gone: %v", err)
	}
	bad := echo("a/b")
	if _, err := location.Shard.StartChild(ctx, bad); !errors.Is(err, supervision.ErrSpec) {
		t.Errorf("a bad spec: %v", err)
	}
}

func TestSPEC8_TellAndPIDReachTheChildOfTheOpening(t *testing.T) {
	told := make(chan string, 10)
	held, free := make(chan struct{}), make(chan struct{})
	children := func(*slap.Shard) []slap.ChildSpec {
		return []slap.ChildSpec{{Name: "a", New: func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				switch m := c.Message().(type) {
				case *wrapperspb.StringValue:
					told <- m.GetValue()
				case *wrapperspb.BoolValue:
					close(held)
					<-free
				}
			})
		}}}
	}
	c := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: children, MaxPending: 3})
	ctx := within(t, time.Minute)
	if err := c.Tell(ctx, 0, "a", wrapperspb.String("told")); err != nil || <-told != "told" {
		t.Fatal(err)
	}
	pid, err := c.PID(ctx, 0, "a")
	if err != nil {
		t.Fatal(err)
	}
	location, _ := c.Lookup(0)
	if pid.String() != location.Shard.PID("a").String() {
		t.Errorf("%v, in the shard %v", pid, location.Shard.PID("a"))
	}
	for what, err := range map[string]error{
		"a child that is not there": c.Tell(ctx, 0, "b", wrapperspb.String("x")),
		"its PID":                   errOf(c.PID(ctx, 0, "b")),
	} {
		if !errors.Is(err, slap.ErrNoChild) || !errors.Is(err, slap.ErrNotExecuted) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := c.Tell(ctx, 0, "a", wrapperspb.Bool(true)); err != nil {
		t.Fatal(err)
	}
	<-held
	for range 3 {
		if err := c.Tell(ctx, 0, "a", wrapperspb.String("waits")); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Tell(ctx, 0, "a", wrapperspb.String("too much")); !errors.Is(err, slap.ErrOverloaded) {
		t.Errorf("over MaxPending: %v", err)
	}
	close(free)
	for range 3 {
		if got := <-told; got != "waits" {
			t.Errorf("told %q", got)
		}
	}
	stopCluster(t, c)
	if err := c.Tell(ctx, 0, "a", wrapperspb.String("late")); !errors.Is(err, slap.ErrNotRunning) {
		t.Errorf("after the stop: %v", err)
	}
	if _, err := c.PID(ctx, 0, "a"); !errors.Is(err, slap.ErrNotRunning) {
		t.Errorf("after the stop: %v", err)
	}
}

func TestSPEC8_ActorsAskThroughTheRouterAndGoOn(t *testing.T) {
	s := newStubs()
	twice := func(_ context.Context, _ *slap.Shard, n *wrapperspb.Int64Value) (*wrapperspb.Int64Value, error) {
		return wrapperspb.Int64(2 * n.GetValue()), nil
	}
	system := actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(time.Millisecond))
	defer system.Shutdown()
	c := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 1, ShardChildren: s.children, System: system,
		Handlers: map[string]slap.Handler{"twice": slap.Handle(twice)},
	})
	answers := make(chan *messages.Answered, 10)
	limit := 50 * time.Millisecond
	askLate := func(ctx actor.Context, limit time.Duration) {
		ctx.Request(c.Router(), &messages.Ask{Child: "b", Message: wrapperspb.String("silent"), Tag: "late", Timeout: limit})
	}
	asker := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *actor.Started:
			ctx.Request(c.Router(), &messages.Ask{Child: "a", Message: wrapperspb.String("hold"), Tag: "held"})
			ctx.Request(c.Router(), &messages.Call{Handler: "twice", Message: wrapperspb.Int64(21), Tag: "twice"})
			ctx.Request(c.Router(), &messages.Ask{Child: "b", Message: wrapperspb.String("no"), Tag: "no"})
			ctx.Request(c.Router(), &messages.Ask{Shard: 7, Child: "b", Message: wrapperspb.String("echo"), Tag: "invalid"})
			ctx.Request(c.Router(), &messages.Ask{Child: "b", Tag: "nil"})
			askLate(ctx, limit)
		case *messages.Answered:
			if m.Tag == "late" && errors.Is(m.Err, slap.ErrNotExecuted) { // the limit has passed before it began
				limit *= 2
				askLate(ctx, limit)
				return
			}
			answers <- m
		}
	}))
	got := map[any]*messages.Answered{}
	for range 5 { // the one that is held holds up nobody
		a := <-answers
		got[a.Tag] = a
	}
	s.release <- struct{}{}
	a := <-answers
	got[a.Tag] = a
	if a.Tag != "held" || a.Err != nil {
		t.Errorf("held: %v", a)
	}
	if n, _ := got["twice"].Message.(*wrapperspb.Int64Value); n.GetValue() != 42 {
		t.Errorf("twice: %v", got["twice"])
	}
	for tag, want := range map[string]error{
		"no": &slap.AppError{Code: "no"}, "invalid": slap.ErrInvalid, "late": slap.ErrOutcomeUnknown, "nil": slap.ErrInvalid,
	} {
		if !errors.Is(got[tag].Err, want) {
			t.Errorf("%s: %v", tag, got[tag].Err)
		}
	}
	if err := system.Root.StopFuture(asker).Wait(); err != nil {
		t.Error(err)
	}
	stopCluster(t, c)
}
