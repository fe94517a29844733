package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy/local"
)

// Of a node that is fenced. The victim is fenced; the neighbour is measured.
const (
	victim, neighbour = 0, 1
	fencedPath        = "shard-000"
	askers            = 4
	fenceTimeout      = time.Minute
)

// fencing compares how long another shard takes to answer, at the ninetieth percentile,
// while one is fenced, goes down and is opened again, with how long it takes otherwise.
// The one that is fenced has so many writers, each with one durable write in flight.
func fencing(name string, writers int) benchmark {
	side := func(fences bool) measure {
		return func(ctx context.Context, d time.Duration) (p90 float64, err error) {
			f, err := startFenced(ctx)
			if err != nil {
				return 0, err
			}
			p90, err = f.run(ctx, d, writers, fences)
			return p90, errors.Join(err, f.cluster.Stop(ctx))
		}
	}
	return benchmark{name: name, goal: atMost(1.5), unit: "µs", ours: side(true), peer: side(false)}
}

// fenced is a node on a memory store.
type fenced struct {
	store   store.Store
	cluster *slap.Cluster
	counted atomic.Bool // what is asked now is part of the figure
	over    atomic.Bool

	mu    sync.Mutex
	times []time.Duration
}

func startFenced(ctx context.Context) (*fenced, error) {
	again, err := local.New(local.Options{BackoffBase: 10 * time.Millisecond, BackoffMax: 10 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	f := &fenced{store: store.Memory()}
	f.cluster, err = slap.New(slap.Config{
		Store: f.store, Shards: 2, Strategy: again, ShardChildren: writing, RetryDelay: time.Millisecond,
		Logger: slog.New(slog.DiscardHandler), Settings: map[string]any{"flush_interval": "10ms", "manifest_poll_interval": "20ms"},
	})
	if err != nil {
		return nil, err
	}
	return f, errors.Join(f.cluster.Start(ctx), f.cluster.AwaitReady(ctx))
}

// writing is a child that answers a string at once, and a number once it is durable.
func writing(s *slap.Shard) []slap.ChildSpec {
	return []slap.ChildSpec{{Name: "child", New: func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *wrapperspb.StringValue:
				c.Respond(m)
			case *wrapperspb.UInt64Value:
				seq, err := s.DB().Put(context.Background(), []byte("k"), []byte("v"), nil)
				if err != nil {
					c.Respond(err)
					return
				}
				s.RespondWhenDurable(c, seq, m)
			}
		})
	}}}
}

// run asks and writes for a while and gives the percentile in microseconds.
func (f *fenced) run(ctx context.Context, d time.Duration, writers int, fences bool) (float64, error) {
	var all sync.WaitGroup
	var failure firstError
	for range writers {
		all.Go(func() {
			for !f.over.Load() { // those that meet the fence fail
				_, _ = f.cluster.Ask(ctx, victim, "child", wrapperspb.UInt64(1))
			}
		})
	}
	for range askers {
		all.Go(func() {
			if err := f.ask(ctx); err != nil {
				failure.set(err)
			}
		})
	}
	if err := f.pass(ctx, d, fences); err != nil {
		failure.set(err)
	}
	f.over.Store(true)
	all.Wait()
	slices.Sort(f.times)
	if err := failure.get(); err != nil || len(f.times) == 0 {
		return 0, errors.Join(err, ctx.Err())
	}
	return float64(f.times[len(f.times)*9/10].Nanoseconds()) / 1000, nil
}

// ask asks the neighbour one thing after the other.
func (f *fenced) ask(ctx context.Context) error {
	var times []time.Duration
	for !f.over.Load() {
		counted, began := f.counted.Load(), clock.Now()
		if _, err := f.cluster.Ask(ctx, neighbour, "child", wrapperspb.String("x")); err != nil {
			return fmt.Errorf("the other shard: %w", err)
		}
		if counted {
			times = append(times, clock.Since(began))
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times = append(f.times, times...)
	return nil
}

// pass lets the time pass, with fences or without. With them, what is asked counts from
// the beginning of each until the shard is open again.
func (f *fenced) pass(ctx context.Context, d time.Duration, fences bool) error {
	if !fences {
		f.counted.Store(true)
		return clock.Sleep(ctx, d)
	}
	for since := clock.Now(); clock.Since(since) < d; {
		if err := f.fence(ctx); err != nil {
			return err
		}
		if err := clock.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// fence opens the victim's database from outside and waits until the node has it again.
func (f *fenced) fence(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fenceTimeout)
	defer cancel()
	before := f.opening()
	f.counted.Store(true)
	defer f.counted.Store(false)
	err := withObjects(ctx, f.store, func(objects *slatedb.ObjectStore) error {
		db, err := slatedb.Open(ctx, objects, fencedPath, nil)
		if err != nil {
			return fmt.Errorf("fence: %w", err)
		}
		err = db.Close(ctx, &slatedb.CloseOptions{SkipFlush: true})
		if errors.Is(err, slatedb.ErrFenced) {
			return nil // the node has it again already
		}
		return err
	})
	for now := before; err == nil && (now == "" || now == before); now = f.opening() {
		err = clock.Sleep(ctx, time.Millisecond)
	}
	return err
}

// opening is the victim's current one; empty if it has none.
func (f *fenced) opening() string {
	at, err := f.cluster.Lookup(victim)
	if err != nil || !at.Local() {
		return ""
	}
	return at.Shard.Opening()
}
