package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/slap-go/slap/store/slatedb"
)

// callsPerCount is how many calls an average is taken over: what the runtime
// allocates by itself in the meantime disappears in it.
const callsPerCount = 50_000

// allocations are the benchmarks that count what a call allocates in Go.
func allocations() []benchmark {
	key, value := make([]byte, 16), make([]byte, 100)
	put := func(ctx context.Context, db *slatedb.DB) error {
		_, err := db.Put(ctx, key, value, nil)
		return err
	}
	get := func(ctx context.Context, db *slatedb.DB) error {
		_, ok, err := db.Get(ctx, key, nil)
		return missing(ok, err)
	}
	status := func(_ context.Context, db *slatedb.DB) error {
		if s := db.Status(); s.CloseReason != slatedb.ReasonNone {
			return fmt.Errorf("the database has ended: %v", s.CloseReason)
		}
		return nil
	}
	return []benchmark{
		{name: "slatedb-put-allocs", goal: atMost(1), ours: allocationsOf(put, put)},
		{name: "slatedb-get-allocs", goal: atMost(2), ours: allocationsOf(put, get)},
		{name: "slatedb-status-allocs", goal: atMost(0), ours: allocationsOf(put, status)},
	}
}

// allocationsOf counts the allocations of one call, after another one.
func allocationsOf(first, f func(context.Context, *slatedb.DB) error) measure {
	return func(ctx context.Context, _ time.Duration) (figure float64, err error) {
		err = withDB(ctx, nil, func(db *slatedb.DB) error {
			if err := first(ctx, db); err != nil {
				return err
			}
			figure, err = average(func() error { return f(ctx, db) })
			return err
		})
		return figure, err
	}
}

// average is the number of allocations of the process for each call.
func average(f func() error) (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range callsPerCount {
		if err := f(); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / callsPerCount, nil
}
