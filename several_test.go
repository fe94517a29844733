package slap_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/objectlease"
)

// steady is a TTL for leases that are to be kept: a machine may stand still for more than
// two seconds, which is what lasts of a lease when its renewal is due.
const steady = 6 * time.Second

// several are nodes of one cluster in this process, under leases.
type several struct {
	*testing.T

	config  slap.Config // what all have in common
	lease   lease.Options
	adjust  func(name string, c *slap.Config) // nil: nothing more
	nodes   map[string]*slap.Cluster
	claimed atomic.Int64 // leases, by all nodes
	ended   atomic.Int64 // openings of shards
}

func newSeveral(t *testing.T, shards int, ttl time.Duration) *several {
	t.Helper()
	s := &several{T: t, lease: lease.Options{TTL: ttl}, nodes: map[string]*slap.Cluster{}}
	s.config = slap.Config{
		Cluster: "several", Store: store.Memory(), Shards: shards, TrustLeases: true, ShardChildren: counters,
	}
	return s
}

// quiet leaves out what the nodes log below errors.
func (s *several) quiet() {
	s.config.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// start starts a node, which is stopped with the test.
func (s *several) start(name string) *slap.Cluster {
	s.Helper()
	node := s.make(name)
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	if err := node.Start(ctx); err != nil {
		s.Fatal(err)
	}
	return s.add(name, node)
}

// add counts a node that has started among those of the cluster.
func (s *several) add(name string, node *slap.Cluster) *slap.Cluster {
	s.nodes[name] = node
	s.Cleanup(func() { s.stop(name) })
	return node
}

// make makes a node that has not started.
func (s *several) make(name string) *slap.Cluster {
	s.Helper()
	place, err := objectlease.New(objectlease.Options{Options: s.lease})
	if err != nil {
		s.Fatal(err)
	}
	c := s.config
	c.Name, c.Listen, c.Strategy = name, "127.0.0.1:0", place
	if s.adjust != nil {
		s.adjust(name, &c)
	}
	node, err := slap.New(c)
	if err != nil {
		s.Fatal(err)
	}
	go s.count(node.Events(s.Context(), 10_000))
	return node
}

// count counts the claims among the events of a node.
func (s *several) count(events iter.Seq[slap.Event]) {
	for e := range events {
		switch e.(type) {
		case messages.LeaseClaimed:
			s.claimed.Add(1)
		case messages.ShardStopped:
			s.ended.Add(1)
		}
	}
}

func (s *several) stop(name string) {
	s.Helper()
	node := s.nodes[name]
	if node == nil {
		return
	}
	delete(s.nodes, name)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := node.Stop(ctx); err != nil {
		s.Error(err)
	}
}

// shares is how many shards each node serves.
func (s *several) shares() map[string]int {
	all := map[string]int{}
	for name, node := range s.nodes {
		all[name] = len(node.LocalShards())
	}
	return all
}

// balanced says whether every shard is served and shares differ by one at most.
func (s *several) balanced() bool {
	low, high, all := s.config.Shards, 0, 0
	for _, n := range s.shares() {
		low, high, all = min(low, n), max(high, n), all+n
	}
	return all == s.config.Shards && high-low <= 1
}

// mostlyWaits lets a test that waits most of the time run beside another, unless it is one of
// those that need the machine.
func mostlyWaits(t *testing.T) {
	t.Helper()
	if !failover {
		t.Parallel()
	}
}

// atOnce runs tests beside each other, however few processors there are: they wait most of
// the time.
func atOnce(t *testing.T, tests map[string]func(*testing.T)) {
	t.Helper()
	var all sync.WaitGroup
	for name, test := range tests {
		all.Go(func() { t.Run(name, test) })
	}
	all.Wait()
}

func TestFO1_ShardsAreSpreadAndReachedFromEveryNode(t *testing.T) {
	s := newSeveral(t, 8, steady)
	for _, name := range []string{"a", "b", "c"} {
		s.start(name)
	}
	eventually(t, "shares within one", s.balanced)
	for _, node := range s.nodes {
		for i := range 20 {
			if _, err := increment(within(t, 30*time.Second), node, keyOf(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.stop("b")
	eventually(t, "shares within one", s.balanced)
}

func TestP6_1_TheNewerOfTwoWithOneNameDoesNotStart(t *testing.T) {
	s := newSeveral(t, 4, steady)
	s.start("a")
	eventually(t, "all served", func() bool { return s.balanced() && s.claimed.Load() == 4 })
	before := s.claimed.Load()
	newer := s.make("a")
	err := newer.Start(within(t, time.Minute))
	if !errors.Is(err, slap.ErrNameInUse) || strings.Count(err.Error(), ": ") > 4 {
		t.Errorf("the newer one: %v", err)
	}
	if !errors.Is(newer.Err(), slap.ErrNameInUse) {
		t.Errorf("its end: %v", newer.Err())
	}
	if s.claimed.Load() != before || !s.balanced() {
		t.Errorf("it moved something: %v", s.shares())
	}
	s.stop("a")
	s.start("a") // the name is free again
	eventually(t, "all served", s.balanced)
}
