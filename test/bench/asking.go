package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

// asking compares Ask of a child in this process with Proto.Actor's own request to the
// same actor. Both have the same timeout.
func asking(callers int) benchmark {
	return benchmark{
		name: fmt.Sprintf("ask%d-vs-request", callers), goal: atLeast(1), unit: "ask/s",
		ours: asks(callers), peer: requests(callers),
	}
}

func asks(callers int) measure {
	return func(ctx context.Context, d time.Duration) (float64, error) {
		node, err := startNode(ctx, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: echoing})
		if err != nil {
			return 0, err
		}
		message := wrapperspb.String("x")
		rate, err := warmly(callers, d, func(int) error {
			_, err := node.Ask(ctx, 0, childName, message)
			return err
		})
		return rate, errors.Join(err, node.Stop(ctx))
	}
}

func requests(callers int) measure {
	return func(_ context.Context, d time.Duration) (float64, error) {
		system := actor.NewActorSystem(actor.WithLoggerFactory(discard))
		defer system.Shutdown()
		child := system.Root.Spawn(actor.PropsFromFunc(echo))
		message := wrapperspb.String("x")
		return warmly(callers, d, func(int) error {
			_, err := system.Root.RequestFuture(child, message, slap.DefaultCallTimeout).Result()
			return err
		})
	}
}

// warmly is the rate of callers who all do the same, after a fifth of the time to warm up.
func warmly(callers int, d time.Duration, operation func(i int) error) (float64, error) {
	same := func(int) func(int) error { return operation }
	if _, err := call(callers, d/5, same); err != nil {
		return 0, err
	}
	return call(callers, d, same)
}
