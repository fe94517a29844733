// Package leasemem is a [lease.Store] in memory, for tests and simulations. Several nodes
// share one [Store]. Their calls fail, hang and lose replies as told; other nodes' records
// can be planted, and every call is counted. What happens is decided by rules alone, never
// by chance. Nothing runs in the background, so it may live in a bubble of synctest.
package leasemem

import (
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/slap-go/slap/internal/injection"
	"github.com/slap-go/slap/strategy/lease"
)

// Store holds the records. Make one with [New]. It is safe for concurrent use.
type Store struct {
	rules injection.Rules[Call, Fault]

	mu     sync.Mutex
	leases map[int]lease.Lease
	beats  map[string]lease.Beat
	writes uint64 // makes every version unlike all others
	counts map[counted]int
	watch  func(Call)
}

// New makes a store without records.
func New() *Store {
	return &Store{leases: map[int]lease.Lease{}, beats: map[string]lease.Beat{}, counts: map[counted]int{}}
}

// Plant puts a lease in place of whatever is there, as another node would, and returns
// its new version. The one that it names does not count.
func (s *Store) Plant(l lease.Lease) lease.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.putLease(l)
}

// PlantHeartbeat is [Store.Plant] for a heartbeat.
func (s *Store) PlantHeartbeat(b lease.Beat) lease.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.putBeat(b)
}

// Corrupt makes the lease of a shard unreadable, whether there was one or not.
func (s *Store) Corrupt(shard int) lease.Version {
	return s.Plant(lease.Lease{Shard: shard, Unreadable: true})
}

// CorruptHeartbeat makes the heartbeat of a node unreadable.
func (s *Store) CorruptHeartbeat(node string) lease.Version {
	return s.PlantHeartbeat(lease.Beat{Heartbeat: lease.Heartbeat{Node: node}, Unreadable: true})
}

// Delete removes the lease of a shard, if there is one.
func (s *Store) Delete(shard int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leases, shard)
}

// DeleteHeartbeat removes the heartbeat of a node, if there is one.
func (s *Store) DeleteHeartbeat(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.beats, node)
}

// Snapshot is what a [Store] holds at one moment.
type Snapshot struct {
	Leases     map[int]lease.Lease
	Heartbeats map[string]lease.Beat
}

// Snapshot is what is there now.
func (s *Store) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	heartbeats := map[string]lease.Beat{}
	for name, b := range s.beats {
		heartbeats[name] = own(b)
	}
	return Snapshot{Leases: maps.Clone(s.leases), Heartbeats: heartbeats}
}

func (s *Store) nextVersion() lease.Version {
	s.writes++
	return lease.Version(strconv.FormatUint(s.writes, 10))
}

func (s *Store) putLease(l lease.Lease) lease.Version {
	l.Version = s.nextVersion()
	s.leases[l.Shard] = l
	return l.Version
}

func (s *Store) putBeat(b lease.Beat) lease.Version {
	b = own(b)
	b.Version = s.nextVersion()
	s.beats[b.Heartbeat.Node] = b
	return b.Version
}

// own is a beat that shares nothing with the given one.
func own(b lease.Beat) lease.Beat {
	b.Heartbeat.Shards = slices.Clone(b.Heartbeat.Shards)
	return b
}

// apply carries a call out.
func (s *Store) apply(c Call) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c.Op {
	case List:
		return Reply{Listing: s.list()}
	case ReadLease:
		l, ok := s.leases[c.Shard]
		return Reply{Lease: l, Err: missing(ok)}
	case ReadHeartbeat:
		b, ok := s.beats[c.Node]
		return Reply{Beat: own(b), Err: missing(ok)}
	case WriteLease, Renew:
		if s.leases[c.Shard].Version != c.Lease.Version {
			return Reply{Err: lease.ErrConflict}
		}
		return Reply{Version: s.putLease(c.Lease)}
	case WriteHeartbeat:
		if s.beats[c.Node].Version != c.Beat.Version {
			return Reply{Err: lease.ErrConflict}
		}
		return Reply{Version: s.putBeat(c.Beat)}
	case RemoveHeartbeat:
		delete(s.beats, c.Node)
	}
	return Reply{}
}

func (s *Store) list() lease.Listing {
	l := lease.Listing{Leases: map[int]lease.Version{}, Heartbeats: map[string]lease.Version{}}
	for n, at := range s.leases {
		l.Leases[n] = at.Version
	}
	for name, at := range s.beats {
		l.Heartbeats[name] = at.Version
	}
	return l
}

func missing(found bool) error {
	if found {
		return nil
	}
	return lease.ErrMissing
}
