package slap_test

import (
	"fmt"
	"maps"
	"testing"
	"time"
)

// owners is which node serves each shard.
func (s *several) owners() map[int]string {
	all := map[int]string{}
	for name, node := range s.nodes {
		for _, shard := range node.LocalShards() {
			all[shard] = name
		}
	}
	return all
}

// moved is how many shards have another owner than before.
func moved(before, after map[int]string) (n int) {
	for shard, owner := range before {
		if after[shard] != owner {
			n++
		}
	}
	return n
}

// nine is how many nodes and shards there are, their TTL, and for how long nothing may move.
type nine struct {
	shards, nodes int
	ttl, quiet    time.Duration
}

// Nine nodes with the real engine. The long form has 256 shards.
func TestP3_3_NineNodesShareAndThenMoveNothing(t *testing.T) {
	mostlyWaits(t)
	if failover {
		all := nine{shards: 256, nodes: 9, ttl: 3 * time.Second, quiet: 20 * time.Second}
		t.Run("one by one", all.oneByOne)
		t.Run("at once", all.atOnce)
		return
	}
	few := nine{shards: 48, nodes: 5, ttl: steady, quiet: 4 * steady / 3}
	atOnce(t, map[string]func(*testing.T){"one by one": few.oneByOne, "at once": few.atOnce})
}

func (n nine) oneByOne(t *testing.T) {
	s := newSeveral(t, n.shards, n.ttl)
	s.quiet()
	for i := range n.nodes {
		before, claimed := s.owners(), s.claimed.Load()
		s.start(fmt.Sprint("n", i))
		eventually(t, "shares within one", s.balanced)
		s.settled()
		limit, moves := (n.shards+i)/(i+1), moved(before, s.owners())
		t.Logf("%d nodes: %d moves, %d claims, at most %d", i+1, moves, s.claimed.Load()-claimed, limit)
		if i > 0 && int(s.claimed.Load()-claimed) > limit {
			t.Errorf("node %d joined: %d claims, want at most %d", i+1, s.claimed.Load()-claimed, limit)
		}
	}
	s.still(n.quiet)
}

func (n nine) atOnce(t *testing.T) {
	s := newSeveral(t, n.shards, n.ttl)
	s.quiet()
	s.startAll(n.nodes)
	eventually(t, "shares within one", s.balanced)
	s.settled()
	t.Logf("%d nodes: %d claims of %d shards", n.nodes, s.claimed.Load(), n.shards)
	if moves := int(s.claimed.Load()) - n.shards; moves > 2*n.shards {
		t.Errorf("%d moves, want at most %d", moves, 2*n.shards)
	}
	s.still(n.quiet)
}

// startAll starts nodes side by side.
func (s *several) startAll(n int) {
	s.Helper()
	started := make(chan func(), n)
	for i := range n {
		name := fmt.Sprint("n", i)
		node := s.make(name)
		go func() {
			err := node.Start(s.Context())
			started <- func() {
				if err != nil {
					s.Fatal(err)
				}
				s.add(name, node)
			}
		}()
	}
	for range n {
		(<-started)()
	}
}

// settled waits until nothing has moved for two intervals.
func (s *several) settled() {
	s.Helper()
	last, since := s.owners(), time.Now()
	eventuallyIn(s.T, 30*time.Second+2*s.lease.TTL, "the shards stay where they are", func() bool {
		if now := s.owners(); !maps.Equal(now, last) || !s.balanced() {
			last, since = now, time.Now()
		}
		return time.Since(since) > 2*s.lease.TTL/3
	})
}

// still fails if a shard moves within d.
func (s *several) still(d time.Duration) {
	s.Helper()
	before := s.claimed.Load()
	time.Sleep(d) // it is the absence of moves that counts
	if after := s.claimed.Load(); after != before {
		s.Errorf("%d claims in a quiet cluster", after-before)
	}
}
