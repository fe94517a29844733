package lease_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/lease/leasemem"
)

// Callers ask as soon as a node listens, which is before its store of leases is open.
func TestLL19_RefreshBeforeThereIsAStoreReturnsAtOnce(t *testing.T) {
	s := newStage(t)
	gate := leasemem.NewGate()
	defer gate.Open()
	s.store.Inject(leasemem.Rule{Ops: leasemem.Setup, Fault: gate.Before()})
	started := make(chan error, 1)
	go func() { started <- s.node.Start(t.Context(), s.strategy) }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := gate.Await(ctx, 1); err != nil {
		t.Fatal(err)
	}
	s.strategy.LookNow()
	for shard := range 4 {
		s.strategy.Refresh(ctx, shard)
	}
	if ctx.Err() != nil {
		t.Error("a refresh waits for the store")
	}
	gate.Open()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	s.await("all are open", s.allOpen)
	s.stop()
}

// wild is a store of somebody else's that panics.
type wild struct {
	lease.Store

	panics func(method string) bool
}

func (w wild) try(method string) {
	if w.panics(method) {
		panic("the store's " + method)
	}
}

func (w wild) Setup(ctx context.Context) error {
	w.try("Setup")
	return w.Store.Setup(ctx)
}

func (w wild) List(ctx context.Context) (lease.Listing, error) {
	w.try("List")
	return w.Store.List(ctx)
}

func (w wild) ReadLease(ctx context.Context, shard int) (lease.Lease, error) {
	w.try("ReadLease")
	return w.Store.ReadLease(ctx, shard)
}

func (w wild) ReadHeartbeat(ctx context.Context, node string) (lease.Beat, error) {
	w.try("ReadHeartbeat")
	return w.Store.ReadHeartbeat(ctx, node)
}

func (w wild) WriteLease(ctx context.Context, l lease.Lease) (lease.Version, error) {
	w.try("WriteLease")
	return w.Store.WriteLease(ctx, l)
}

func (w wild) WriteHeartbeat(ctx context.Context, b lease.Beat) (lease.Version, error) {
	w.try("WriteHeartbeat")
	return w.Store.WriteHeartbeat(ctx, b)
}

func (w wild) Renew(ctx context.Context, leases []lease.Lease, done func(int, lease.Version, error)) {
	w.try("Renew")
	w.Store.Renew(ctx, leases, done)
}

func (w wild) Close() error {
	w.try("Close")
	return w.Store.Close()
}

// A panic of the store is a request that failed.
func TestAStoreThatPanicsEndsNothing(t *testing.T) {
	for _, method := range []string{"Setup", "List", "ReadLease", "ReadHeartbeat", "WriteLease", "WriteHeartbeat", "Renew", "Close"} {
		t.Run(method, func(t *testing.T) {
			s := newStage(t)
			var left atomic.Int64
			left.Store(2)
			open := func(context.Context, strategy.Runtime) (lease.Store, error) {
				return wild{s.store.Node("a"), func(called string) bool { return called == method && left.Add(-1) >= 0 }}, nil
			}
			var err error
			if s.strategy, err = lease.New("lease", lease.Options{TTL: ttl}, open); err != nil {
				t.Fatal(err)
			}
			s.opened()
			if method == "ReadLease" {
				s.strategy.Refresh(t.Context(), 0)
			}
			if method == "Close" {
				s.stop()
			}
			s.await("it panicked twice, or as often as it is called", func() bool { return left.Load() <= 0 || method == "Close" && left.Load() == 1 })
			if method != "Close" {
				s.await("all are open", s.allOpen)
			}
		})
	}
}

func TestAnOpenThatPanicsIsTriedAgain(t *testing.T) {
	s := newStage(t)
	panicked := false
	open := func(context.Context, strategy.Runtime) (lease.Store, error) {
		if !panicked {
			panicked = true
			panic("the store's open")
		}
		return s.store.Node("a"), nil
	}
	var err error
	if s.strategy, err = lease.New("lease", lease.Options{TTL: ttl}, open); err != nil {
		t.Fatal(err)
	}
	s.opened()
}
