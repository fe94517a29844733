package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

const (
	openedAtOnce = 64
	addedLatency = 20 * time.Millisecond // to each request
)

// opening compares opening databases at once with opening one after the other, on
// an S3 server that is as far away as a cloud's.
func opening(s *slowS3) benchmark {
	return benchmark{
		name: "slatedb-open64-parallel", goal: atLeast(5), unit: "opens/s", roundsAtMost: 2,
		ours: s.measure(openedAtOnce),
		peer: s.measure(1),
	}
}

// slowS3 is an S3 server behind a proxy that delays each request. The first
// measurement starts it.
type slowS3 struct {
	once   sync.Once
	failed error
	dir    string
	server *s3test.Server
	proxy  *s3test.Proxy
	folder atomic.Int64 // a new one for each measurement
}

const slowBucket = "bench"

func (s *slowS3) start() (err error) {
	if s.dir, err = os.MkdirTemp("", "slap-bench-"); err != nil {
		return err
	}
	if s.server, err = s3test.Launch(s.dir, slowBucket); err != nil {
		return err
	}
	if s.proxy, err = s3test.LaunchProxy(s.server.Endpoint); err != nil {
		return err
	}
	s.proxy.Inject(s3test.Rule{Fault: s3test.Delay(addedLatency)})
	return nil
}

// ready starts the server, once.
func (s *slowS3) ready() error {
	s.once.Do(func() { s.failed = s.start() })
	return s.failed
}

// site is a store on the server itself, without the delay.
func (s *slowS3) site() (store.Store, error) {
	if err := s.ready(); err != nil {
		return store.Store{}, err
	}
	return s.server.Store(slowBucket, s.newFolder()), nil
}

func (s *slowS3) newFolder() string { return fmt.Sprint("round", s.folder.Add(1)) }

func (s *slowS3) close() error {
	if s.proxy != nil {
		s.proxy.Close()
	}
	if s.server != nil {
		s.server.Kill()
	}
	return os.RemoveAll(s.dir)
}

// measure opens the databases so many at a time, and gives the opens per second.
func (s *slowS3) measure(atATime int) measure {
	return func(ctx context.Context, _ time.Duration) (rate float64, err error) {
		if err := s.ready(); err != nil { //nolint:contextcheck // the server outlives the measurement
			return 0, err
		}
		err = withObjects(ctx, s.proxy.Store(slowBucket, s.newFolder()), func(objects *slatedb.ObjectStore) error {
			begin := clock.Now()
			dbs, err := openMany(ctx, objects, openedAtOnce, atATime, nil)
			rate = openedAtOnce / clock.Since(begin).Seconds()
			return errors.Join(err, closeMany(ctx, dbs))
		})
		return rate, err
	}
}

// openMany opens n new databases, so many at a time.
func openMany(ctx context.Context, objects *slatedb.ObjectStore, n, atATime int, o *slatedb.Options) ([]*slatedb.DB, error) {
	dbs, errs := make([]*slatedb.DB, n), make([]error, n)
	var next atomic.Int64
	var all sync.WaitGroup
	for range atATime {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				dbs[i], errs[i] = slatedb.Open(ctx, objects, fmt.Sprint("db", i), o)
			}
		})
	}
	all.Wait()
	return dbs, errors.Join(errs...)
}

// closeMany closes those of the databases that were opened.
func closeMany(ctx context.Context, dbs []*slatedb.DB) error {
	errs := make([]error, len(dbs))
	var all sync.WaitGroup
	for i, db := range dbs {
		if db != nil {
			all.Go(func() { errs[i] = db.Close(ctx, &slatedb.CloseOptions{SkipFlush: true}) })
		}
	}
	all.Wait()
	return errors.Join(errs...)
}
