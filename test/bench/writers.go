package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

// writers is how many write to one database, each with one durable write in flight.
const writers = 64

// manyWriters compares durable acknowledgements under load with those of the engine's own
// timer: how many there are in a second, and how many for each PUT to the store.
func manyWriters() []benchmark {
	beside := func(name, unit string, of func(acks, puts float64) float64) benchmark {
		ours, peer := &writersSide{start: startAsking, of: of}, &writersSide{start: startPutting, of: of}
		return benchmark{
			name: name, goal: atLeast(0.95), unit: unit, ours: ours.measure, peer: peer.measure,
			note: func() string { return fmt.Sprintf("PUTs/s ours=%s peer=%s", ours.made(), peer.made()) },
		}
	}
	return []benchmark{
		beside("durable64-vs-timer", "acks/s", func(acks, _ float64) float64 { return acks }),
		beside("durable64-per-put-vs-timer", "acks/PUT", func(acks, puts float64) float64 { return acks / max(puts, 1) }),
	}
}

// writersSide is one side.
type writersSide struct {
	start func(context.Context, puts) (write func(i int) error, stop func() error, err error)
	of    func(acks, puts float64) float64 // the figure, of both in a second
	rates []float64                        // of the PUTs, in each round
}

func (w *writersSide) made() string { return short(median(w.rates)) }

func (w *writersSide) measure(ctx context.Context, d time.Duration) (float64, error) {
	counted := newPuts()
	write, stop, err := w.start(ctx, counted)
	if err != nil {
		return 0, err
	}
	all := func(int) func(int) error { return write }
	var acks, puts float64
	if _, err = call(writers, d/5, all); err == nil {
		puts, err = counted.during(ctx, func() (err error) {
			acks, err = call(writers, d, all)
			return err
		})
	}
	w.rates = append(w.rates, puts)
	return w.of(acks, puts), errors.Join(err, stop(), counted.provider.Shutdown(ctx))
}

// startAsking makes writers that ask a child of a shard.
func startAsking(ctx context.Context, counted puts) (write func(int) error, stop func() error, err error) {
	node, err := startNode(ctx, slap.Config{
		Store: store.Memory(), Shards: 1, ShardChildren: counting, Settings: withTimer(shortInterval), MeterProvider: counted.provider,
	})
	if err != nil {
		return nil, nil, err
	}
	write = func(int) error {
		_, err := node.Ask(ctx, 0, childName, &emptypb.Empty{})
		return err
	}
	return write, func() error { return node.Stop(ctx) }, nil
}

// startPutting makes writers that put by themselves.
func startPutting(ctx context.Context, counted puts) (write func(int) error, stop func() error, err error) {
	objects, err := slatedb.NewObjectStore(ctx, store.Memory())
	if err != nil {
		return nil, nil, err
	}
	metrics := slatedb.NewMetrics(counted.provider)
	db, err := slatedb.Open(ctx, objects, "bench", &slatedb.Options{Settings: withTimer(shortInterval), Metrics: metrics})
	if err != nil {
		return nil, nil, errors.Join(err, metrics.Close(), objects.Close(ctx))
	}
	news := watch(db)
	write = func(int) error {
		seq, err := db.Put(ctx, []byte("count"), make([]byte, 8), nil)
		if err == nil {
			news.await(seq)
		}
		return err
	}
	stop = func() error {
		news.close()
		return errors.Join(db.Close(ctx, nil), metrics.Close(), objects.Close(ctx))
	}
	return write, stop, nil
}

// durableNews tells many what is durable, for all of whom one goroutine looks.
type durableNews struct {
	mu      sync.Mutex
	changed *sync.Cond
	durable uint64

	over    context.Context
	cancel  context.CancelFunc
	stopped chan struct{}
}

func watch(db *slatedb.DB) *durableNews {
	n := &durableNews{stopped: make(chan struct{})}
	n.changed = sync.NewCond(&n.mu)
	n.over, n.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(n.stopped)
		for clock.Sleep(n.over, lookInterval) == nil {
			n.tell(db.Status().DurableSeq)
		}
	}()
	return n
}

func (n *durableNews) tell(durable uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if durable != n.durable {
		n.durable = durable
		n.changed.Broadcast()
	}
}

func (n *durableNews) await(seq uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.durable < seq {
		n.changed.Wait()
	}
}

func (n *durableNews) close() {
	n.cancel()
	<-n.stopped
}
