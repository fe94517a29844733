package slap_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
)

// hollow is a message whose every method panics.
type hollow struct{ proto.Message }

// noAnswers say nothing, some of them with a panic.
func noAnswers() map[string]any {
	var no *slap.AppError
	var wraps *fs.PathError
	return map[string]any{
		"nil": nil, "a nil message": (*wrapperspb.StringValue)(nil), "a nil AppError": no, "a nil error that unwraps": wraps, "a hollow message": hollow{},
	}
}

// wantWrongAnswer has the error say that the request ran and that its answer is none, and
// be fit for all that callers do with errors.
func wantWrongAnswer(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, slap.ErrOutcomeUnknown) || !errors.Is(err, slap.ErrWrongAnswer) || errors.Is(err, slap.ErrNotExecuted) || err.Error() == "" {
		t.Errorf("%v", err)
	}
}

func TestP8_1_AChildThatAnswersWithNothing(t *testing.T) {
	for what, nothing := range noAnswers() {
		for how, respond := range map[string]func(*slap.Shard, actor.Context){
			"at once":        func(_ *slap.Shard, c actor.Context) { c.Respond(nothing) },
			"when durable":   func(s *slap.Shard, c actor.Context) { s.RespondWhenDurable(c, 0, nothing) },
			"when confirmed": func(s *slap.Shard, c actor.Context) { s.RespondWhenConfirmed(c, nothing) },
		} {
			t.Run(what+" "+how, func(t *testing.T) {
				c := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
					return []slap.ChildSpec{echo("fixed"), {Name: "a", New: func() actor.Actor {
						return actor.ReceiveFunc(func(c actor.Context) {
							if _, ok := c.Message().(*wrapperspb.StringValue); ok {
								respond(s, c)
							}
						})
					}}}
				}})
				defer stopCluster(t, c)
				result := make(chan error, 1)
				go func() { result <- errOf(c.Ask(within(t, time.Minute), 0, "a", wrapperspb.String("x"))) }()
				wantWrongAnswer(t, receive(t, result))
				if _, err := c.Ask(within(t, time.Minute), 0, "fixed", wrapperspb.String("x"), slap.WithRetries(0)); err != nil {
					t.Errorf("another child: %v", err)
				}
			})
		}
	}
}

func TestP8_1_AHandlerThatAnswersWithNothing(t *testing.T) {
	for what, nothing := range noAnswers() {
		t.Run(what, func(t *testing.T) {
			c := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, Handlers: handlers(
				func(context.Context, *slap.Shard, proto.Message) (proto.Message, error) {
					err, _ := nothing.(error)
					message, _ := nothing.(proto.Message)
					return message, err
				})})
			defer stopCluster(t, c)
			_, err := c.Call(within(t, time.Minute), 0, "a", wrapperspb.String("x"))
			wantWrongAnswer(t, err)
		})
	}
}

func TestP8_1_ARequestWithAHollowMessageIsInvalid(t *testing.T) {
	system := actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(time.Millisecond))
	defer system.Shutdown()
	c := startCluster(t, slap.Config{System: system, Store: store.Memory(), Shards: 1})
	defer stopCluster(t, c)
	ctx := within(t, time.Minute)
	for way, run := range map[string]func() error{
		"ask":         func() error { return errOf(c.Ask(ctx, 0, "a", hollow{})) },
		"call":        func() error { return errOf(c.Call(ctx, 0, "a", hollow{})) },
		"tell":        func() error { return c.Tell(ctx, 0, "a", hollow{}) },
		"router ask":  func() error { return routed(t, system, c, &messages.Ask{Child: "a", Message: hollow{}}) },
		"router call": func() error { return routed(t, system, c, &messages.Call{Handler: "a", Message: hollow{}}) },
	} {
		if err := run(); !errors.Is(err, slap.ErrInvalid) || !errors.Is(err, slap.ErrNotExecuted) {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// routed is how a request through the router ends.
func routed(t *testing.T, system *actor.ActorSystem, c *slap.Cluster, request any) error {
	t.Helper()
	answer, err := system.Root.RequestFuture(c.Router(), request, time.Minute).Result()
	if err != nil {
		t.Fatal(err)
	}
	answered, _ := answer.(*messages.Answered)
	return answered.Err
}

func TestP1_3_AnAnswerOfAnEarlierRunReachesNobody(t *testing.T) {
	system := actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(time.Millisecond))
	defer system.Shutdown()
	callers := make(chan *actor.PID, 1)
	config := slap.Config{System: system, Store: store.Memory(), Shards: 1, DrainTimeout: time.Millisecond, ShardChildren: func(*slap.Shard) []slap.ChildSpec {
		return []slap.ChildSpec{{Name: "a", New: func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				if _, ok := c.Message().(*wrapperspb.StringValue); ok {
					callers <- c.Sender()
				}
			})
		}}}
	}}
	first := startCluster(t, config)
	earlier := make(chan error, 1)
	go func() { earlier <- errOf(first.Ask(within(t, time.Minute), 0, "a", wrapperspb.String("x"))) }()
	old := receive(t, callers)
	stopCluster(t, first)
	if err := receive(t, earlier); !errors.Is(err, slap.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	second := startCluster(t, config)
	defer stopCluster(t, second)
	answer := make(chan string, 1)
	go func() {
		m, err := slap.Ask[*wrapperspb.StringValue](within(t, time.Minute), second, 0, "a", wrapperspb.String("x"))
		if err != nil {
			t.Error(err)
		}
		answer <- m.GetValue()
	}()
	caller := receive(t, callers)
	system.Root.Send(old, wrapperspb.String("the earlier run's"))
	system.Root.Send(caller, wrapperspb.String("this run's"))
	if got := receive(t, answer); got != "this run's" {
		t.Errorf("answered by %q", got)
	}
}

// careless is a strategy whose refresh panics.
type careless struct{ *hand }

func (careless) Refresh(context.Context, int) { panic("as told") }

func TestCALL4_ARefreshThatPanicsIsNobodysAnswer(t *testing.T) {
	c := newCluster(t, slap.Config{Store: store.Memory(), Shards: 1, Strategy: careless{newHand(t)}, RetryDelay: time.Millisecond})
	if err := c.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	defer stopCluster(t, c)
	for way, run := range ways(c, 0) {
		if err := run(within(t, time.Minute)); !errors.Is(err, slap.ErrUnassigned) {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// TestSPEC8_TheRouterAnswersAllThatItTook ends the node while an actor sends to its router.
func TestSPEC8_TheRouterAnswersAllThatItTook(t *testing.T) {
	const requests = 20_000
	system := actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(time.Millisecond))
	defer system.Shutdown()
	c := startCluster(t, slap.Config{System: system, Store: store.Memory(), Shards: 1})
	begun, all := make(chan struct{}), make(chan struct{})
	left := requests
	sender := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started:
			for i := range requests {
				ctx.Request(c.Router(), &messages.Ask{Child: "a", Message: wrapperspb.String("x")})
				if i == requests/100 {
					close(begun)
				}
			}
		case *messages.Answered, *actor.DeadLetterResponse: // what came after the end is a dead letter
			if left--; left == 0 {
				close(all)
			}
		}
	}))
	receive(t, begun)
	stopCluster(t, c)
	receive(t, all)
	if err := system.Root.StopFuture(sender).Wait(); err != nil {
		t.Error(err)
	}
}
