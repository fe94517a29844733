package main

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy/local"
)

const (
	startedShards = 64
	startedAtOnce = 16 // the default of the strategy
)

// starting compares the start of a node, in an actor system that is there, with as many opens of the engine alone, as many
// at once.
func starting() benchmark {
	return benchmark{
		name: "start64-vs-open64", goal: atMost(1.3), unit: "ms",
		ours: again(startShards), peer: again(openBare),
	}
}

// again is the median of what something takes that is done until the time is over, in
// milliseconds.
func again(once func(context.Context) (time.Duration, error)) measure {
	return func(ctx context.Context, d time.Duration) (float64, error) {
		var times []float64
		for since := clock.Now(); len(times) == 0 || clock.Since(since) < d; {
			took, err := once(ctx)
			if err != nil {
				return 0, err
			}
			times = append(times, float64(took)/float64(time.Millisecond))
		}
		return median(times), nil
	}
}

func startShards(ctx context.Context) (time.Duration, error) {
	s, err := local.New(local.Options{MaxConcurrency: startedAtOnce})
	if err != nil {
		return 0, err
	}
	system := actor.NewActorSystem(actor.WithLoggerFactory(discard))
	defer system.Shutdown()
	node, err := newNode(slap.Config{
		Store: store.Memory(), Shards: startedShards, Strategy: s, ShardChildren: counting, System: system,
	})
	if err != nil {
		return 0, err
	}
	began := clock.Now()
	err = open(ctx, node)
	took := clock.Since(began)
	return took, errors.Join(err, node.Stop(ctx))
}

func openBare(ctx context.Context) (took time.Duration, err error) {
	err = withObjects(ctx, store.Memory(), func(objects *slatedb.ObjectStore) error {
		began := clock.Now()
		dbs, err := openMany(ctx, objects, startedShards, startedAtOnce, &slatedb.Options{Settings: withoutTimer})
		took = clock.Since(began)
		return errors.Join(err, closeMany(ctx, dbs))
	})
	return took, err
}
