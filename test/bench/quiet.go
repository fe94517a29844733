package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/store/slatedb"
)

const (
	shortInterval   = 10 * time.Millisecond
	defaultInterval = 100 * time.Millisecond // the engine's
	fewestSamples   = 16
)

// withoutTimer are the settings of a database that is flushed by hand alone.
var withoutTimer = map[string]any{"flush_interval": nil}

// withTimer are the settings of a database that the engine flushes by itself.
func withTimer(interval time.Duration) map[string]any {
	return map[string]any{"flush_interval": interval.String()}
}

// quietly are the benchmarks of a single durable write at a time, far from the others.
func quietly(s3 *slowS3) []benchmark {
	return []benchmark{
		{
			name: "quiet-durable-ask-vs-flush", goal: atMost(1.3), unit: "µs",
			ours: quietAsks(inMemory, shortInterval), peer: quietPuts(inMemory, shortInterval, withoutTimer, flushed),
		},
		quietVsTimer("quiet-durable-ask-vs-timer", inMemory),
		quietVsTimer("quiet-durable-ask-vs-timer-s3", s3.site),
	}
}

// quietVsTimer has the engine's default interval on both sides.
func quietVsTimer(name string, at site) benchmark {
	return benchmark{
		name: name, goal: atMost(0.1), unit: "µs",
		ours: quietAsks(at, defaultInterval),
		peer: quietPuts(at, defaultInterval, withTimer(defaultInterval), awaited),
	}
}

// quietAsks asks for a durable write.
func quietAsks(at site, interval time.Duration) measure {
	return func(ctx context.Context, d time.Duration) (float64, error) {
		where, err := at()
		if err != nil {
			return 0, err
		}
		node, err := startNode(ctx, slap.Config{Store: where, Shards: 1, ShardChildren: counting, Settings: withTimer(interval)})
		if err != nil {
			return 0, err
		}
		took, err := paced(ctx, d, interval, func() error {
			_, err := node.Ask(ctx, 0, childName, &emptypb.Empty{})
			return err
		})
		return took, errors.Join(err, node.Stop(ctx))
	}
}

// quietPuts puts, and waits until that is durable.
func quietPuts(
	at site, interval time.Duration, settings map[string]any, durable func(context.Context, *slatedb.DB, uint64) error,
) measure {
	return func(ctx context.Context, d time.Duration) (took float64, err error) {
		where, err := at()
		if err != nil {
			return 0, err
		}
		err = withDBAt(ctx, where, settings, func(db *slatedb.DB) error {
			took, err = paced(ctx, d, interval, func() error {
				seq, err := db.Put(ctx, []byte("count"), make([]byte, 8), nil)
				if err != nil {
					return err
				}
				return durable(ctx, db, seq)
			})
			return err
		})
		return took, err
	}
}

// flushed makes a write durable.
func flushed(ctx context.Context, db *slatedb.DB, _ uint64) error { return db.Flush(ctx, slatedb.WAL) }

// awaited waits until the engine has made a write durable by itself.
func awaited(ctx context.Context, db *slatedb.DB, seq uint64) error {
	for db.Status().DurableSeq < seq {
		if err := clock.Sleep(ctx, lookInterval); err != nil {
			return err
		}
	}
	return nil
}

// lookInterval is the time between two looks at what is durable. It is short beside the
// intervals of flushes.
const lookInterval = 100 * time.Microsecond

// paced is the median of the samples' times in microseconds. Between two of them pass one
// to two intervals, at random, so that a timer with this interval is met at any moment.
func paced(ctx context.Context, d, interval time.Duration, sample func() error) (float64, error) {
	if err := sample(); err != nil { // to warm up
		return 0, err
	}
	var times []float64
	for since := clock.Now(); len(times) < fewestSamples || clock.Since(since) < d; {
		if err := clock.Sleep(ctx, interval+rand.N(interval)); err != nil {
			return 0, err
		}
		began := clock.Now()
		if err := sample(); err != nil {
			return 0, err
		}
		times = append(times, float64(clock.Since(began))/float64(time.Microsecond))
	}
	return median(times), nil
}
