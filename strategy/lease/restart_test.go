package lease_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/lease"
)

// stubborn is a store whose listings, once they are held, take no notice of their context.
type stubborn struct {
	lease.Store

	held    atomic.Bool
	entered chan struct{}
	release chan struct{}
	closed  chan struct{}
}

func (s *stubborn) List(ctx context.Context) (lease.Listing, error) {
	if s.held.CompareAndSwap(true, false) {
		s.entered <- struct{}{}
		<-s.release
	}
	return s.Store.List(context.WithoutCancel(ctx))
}

func (s *stubborn) Close() error {
	close(s.closed)
	return s.Store.Close()
}

// A loop that starts over, and has no store yet, hears nothing of what the one before it
// asked.
func TestAnAnswerToALoopThatCrashedReachesNobody(t *testing.T) {
	s := newStage(t)
	s.store.PlantHeartbeat(lease.Beat{Heartbeat: lease.Heartbeat{
		Node: "b", Address: "b:1", Incarnation: "b1", State: lease.Live, TTL: time.Hour,
	}})
	first := &stubborn{
		Store: s.store.Node("a"), entered: make(chan struct{}), release: make(chan struct{}), closed: make(chan struct{}),
	}
	var opened atomic.Int64
	again, proceed := make(chan struct{}), make(chan struct{})
	var err error
	s.strategy, err = lease.New("lease", lease.Options{TTL: ttl}, func(context.Context, strategy.Runtime) (lease.Store, error) {
		if opened.Add(1) == 1 {
			return first, nil
		}
		again <- struct{}{}
		<-proceed
		return s.store.Node("a"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.start()
	first.held.Store(true)
	<-first.entered
	s.node.KillStrategy()
	<-again
	close(first.release)
	<-first.closed // its answer was sent before
	close(proceed)
	s.await("all are open", func() bool { return len(s.open()) == 2 })
}
