package slap_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// brief is a child that ends for good when the channel says so.
func brief(name string, end <-chan struct{}) slap.ChildSpec {
	return slap.ChildSpec{Name: name, Restart: supervision.Temporary, New: func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if _, ok := c.Message().(*actor.Started); ok {
				self, root := c.Self(), c.ActorSystem().Root
				go func() { <-end; root.Stop(self) }()
			}
		})
	}}
}

// removed waits until the child of that name is gone for good.
func removed(t *testing.T, ctx context.Context, c *slap.Cluster) (wait func(name string)) {
	t.Helper()
	events := make(chan string, 1_000)
	all := c.Events(ctx, 1_000)
	go func() {
		for e := range all {
			if s, ok := e.(slap.SupervisorEvent); ok {
				if gone, ok := s.Event.(supervision.ChildRemoved); ok {
					events <- gone.Child
				}
			}
		}
		close(events)
	}()
	return func(name string) {
		t.Helper()
		for receive(t, events) != name { // the others are nobody's concern
		}
	}
}

func TestSPEC4_AChildOfAChildMayHaveTheNameOfAChild(t *testing.T) {
	end := make(chan struct{})
	c := newCluster(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: func(*slap.Shard) []slap.ChildSpec {
		below := &supervision.Spec{Children: []slap.ChildSpec{brief("a", end)}}
		return []slap.ChildSpec{echo("a"), {Name: "group", Supervisor: below}}
	}})
	ctx := within(t, time.Minute)
	wait := removed(t, ctx, c)
	if err := errors.Join(c.Start(ctx), c.AwaitReady(ctx)); err != nil {
		t.Fatal(err)
	}
	defer stopCluster(t, c)
	close(end)
	wait("a")
	if _, err := c.Ask(ctx, 0, "a", wrapperspb.String("x"), slap.WithRetries(0)); err != nil {
		t.Error(err)
	}
}

// TestSPEC4_TheLateEndOfAnIncarnationHarmsNoOther has one hang in its last callback until the
// next one serves.
func TestSPEC4_TheLateEndOfAnIncarnationHarmsNoOther(t *testing.T) {
	var incarnations atomic.Int32
	end := make(chan struct{})
	c := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: func(*slap.Shard) []slap.ChildSpec {
		return []slap.ChildSpec{{Name: "a", Shutdown: 10 * time.Millisecond, New: func() actor.Actor {
			first := incarnations.Add(1) == 1
			return actor.ReceiveFunc(func(c actor.Context) {
				switch m := c.Message().(type) {
				case *actor.Stopped:
					if first {
						<-end
					}
				case *wrapperspb.StringValue:
					c.Respond(m)
				case *wrapperspb.BoolValue:
					panic("as told")
				}
			})
		}}}
	}})
	defer func() { // the others have as little time to stop as the one that hangs
		if err := c.Stop(within(t, time.Minute)); err != nil && !errors.Is(err, supervision.ErrAbandoned) {
			t.Error(err)
		}
	}()
	ctx := within(t, time.Minute)
	ask := func(m proto.Message) error { return errOf(c.Ask(ctx, 0, "a", m, slap.WithRetries(0))) }
	if err := ask(wrapperspb.Bool(true)); !errors.Is(err, slap.ErrPanicked) {
		t.Fatal(err)
	}
	eventually(t, "the next one serves", func() bool { return ask(wrapperspb.String("x")) == nil })
	close(end)
	for range 5_000 { // nothing tells when the late end is over
		if err := ask(wrapperspb.String("x")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSPEC4_AChildMayHaveTheNameOfItsShardsOpening(t *testing.T) {
	end := make(chan struct{})
	name := make(chan string, 1)
	c, hand := runByHand(t, slap.Config{Store: store.Memory(), Shards: 2, ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
		opening := fmt.Sprintf("%d-%s", s.Number(), s.Opening())
		name <- opening
		return []slap.ChildSpec{brief(opening, end), echo("b")}
	}})
	ctx := within(t, time.Minute)
	wait := removed(t, ctx, c)
	hand.open(0)
	close(end)
	wait(<-name)
	hand.end(1) // the host has heard of the child's end before it answers
	if m, ok := receive(t, hand.replies).(*strategy.Closed); !ok || !errors.Is(m.Err, strategy.ErrNotStarted) {
		t.Errorf("%+v", m)
	}
	if len(hand.downs) > 0 {
		t.Errorf("down: %v", <-hand.downs)
	}
	if _, err := c.Ask(ctx, 0, "b", wrapperspb.String("x"), slap.WithRetries(0)); err != nil {
		t.Error(err)
	}
}

func TestSPEC4_AWriteWhoseEndNobodyIsToldOf(t *testing.T) {
	c := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, Handlers: handlers(
		func(ctx context.Context, s *slap.Shard, m proto.Message) (proto.Message, error) {
			s.DB().PutAsync([]byte("k"), []byte("v"), nil, s.NotifyWritten("tag", nil))
			_, err := s.DB().Put(ctx, []byte("k"), []byte("w"), nil) // after it
			return m, err
		})})
	defer stopCluster(t, c)
	if _, err := c.Call(within(t, time.Minute), 0, "a", wrapperspb.String("x")); err != nil {
		t.Error(err)
	}
}

func TestSPEC4_AStartThatComesTooEarlyLeavesTheNameFree(t *testing.T) {
	start := func(ctx context.Context, shard *slap.Shard) error { return errOf(shard.StartChild(ctx, echo("guest"))) }
	early := make(chan error, 1)
	c := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 1,
		ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
			early <- start(t.Context(), s)
			return []slap.ChildSpec{echo("fixed")}
		},
		Handlers: handlers(func(ctx context.Context, s *slap.Shard, m proto.Message) (proto.Message, error) {
			return m, start(ctx, s)
		}),
	})
	defer stopCluster(t, c)
	if err := <-early; !errors.Is(err, supervision.ErrStopping) {
		t.Errorf("before there was a supervisor: %v", err)
	}
	if _, err := c.Call(within(t, time.Minute), 0, "a", wrapperspb.String("x")); err != nil {
		t.Errorf("once there is one: %v", err)
	}
}

func TestSPEC4_AnActorIsToldThatTheShardHasEnded(t *testing.T) {
	system := actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(time.Millisecond))
	defer system.Shutdown()
	shards := make(chan *slap.Shard, 1)
	c := startCluster(t, slap.Config{System: system, Store: store.Memory(), Shards: 1, ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
		shards <- s
		return nil
	}})
	stopCluster(t, c)
	shard, got := <-shards, make(chan any, 2)
	outside := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *actor.Started:
			shard.RequestStartChild(ctx, echo("guest"), 1)
			shard.RequestStopChild(ctx, "guest", 2)
		case *supervision.StartChildResult, *supervision.StopChildResult, *actor.DeadLetterResponse:
			got <- m
		}
	}))
	if m, ok := receive(t, got).(*supervision.StartChildResult); !ok || m.Tag != 1 || !errors.Is(m.Err, supervision.ErrStopping) {
		t.Errorf("start: %+v", m)
	}
	if m, ok := receive(t, got).(*supervision.StopChildResult); !ok || m.Tag != 2 || !errors.Is(m.Err, supervision.ErrStopping) {
		t.Errorf("stop: %+v", m)
	}
	if err := system.Root.StopFuture(outside).Wait(); err != nil {
		t.Error(err)
	}
}
