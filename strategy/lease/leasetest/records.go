package leasetest

import (
	"crypto/rand"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy/lease"
)

// wall is a moment in whole milliseconds.
var wall = time.UnixMilli(1_790_000_000_123)

// record is a lease of a node; each has another nonce, as the contract wants it.
func record(owner string, generation uint64) lease.Record {
	return lease.Record{
		Owner: owner, Address: owner + ".example:7000", Incarnation: "incarnation-of-" + owner, Generation: generation,
		TTL: 15 * time.Second, Nonce: rand.Text(), ExpiresAt: wall,
	}
}

func heartbeat(node string, held ...lease.Held) lease.Heartbeat {
	return lease.Heartbeat{
		Node: node, Address: node + ".example:7000", Incarnation: "incarnation-of-" + node, State: lease.Live,
		TTL: 15 * time.Second, Nonce: rand.Text(), Shards: held, At: wall,
	}
}

func mustWrite(t *testing.T, s lease.Store, shard int, replaced lease.Version, r lease.Record) lease.Version {
	t.Helper()
	v, err := s.WriteLease(timeout(t), lease.Lease{Shard: shard, Version: replaced, Record: r})
	return mustVersion(t, v, err)
}

func mustBeat(t *testing.T, s lease.Store, replaced lease.Version, h lease.Heartbeat) lease.Version {
	t.Helper()
	v, err := s.WriteHeartbeat(timeout(t), lease.Beat{Version: replaced, Heartbeat: h})
	return mustVersion(t, v, err)
}

func mustVersion(t *testing.T, v lease.Version, err error) lease.Version {
	t.Helper()
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	if v == "" {
		t.Fatal("a write returned an empty version")
	}
	return v
}

func mustRead(t *testing.T, s lease.Store, shard int) lease.Lease {
	t.Helper()
	l, err := s.ReadLease(timeout(t), shard)
	if err != nil {
		t.Fatalf("read the lease of shard %d: %v", shard, err)
	}
	return l
}

func mustReadBeat(t *testing.T, s lease.Store, node string) lease.Beat {
	t.Helper()
	b, err := s.ReadHeartbeat(timeout(t), node)
	if err != nil {
		t.Fatalf("read the heartbeat of %q: %v", node, err)
	}
	return b
}

func mustList(t *testing.T, s lease.Store) lease.Listing {
	t.Helper()
	l, err := s.List(timeout(t))
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	return l
}

// mustHold checks that a shard's lease is this one, in that version.
func mustHold(t *testing.T, s lease.Store, shard int, v lease.Version, r lease.Record) {
	t.Helper()
	l := mustRead(t, s, shard)
	if l.Shard != shard || l.Version != v || l.Unreadable || !sameRecord(l.Record, r) {
		t.Fatalf("the lease of shard %d is %+v, want version %q of %+v", shard, l, v, r)
	}
}

// mustShow checks that a node's heartbeat is this one, in that version.
func mustShow(t *testing.T, s lease.Store, v lease.Version, h lease.Heartbeat) {
	t.Helper()
	b := mustReadBeat(t, s, h.Node)
	if b.Version != v || b.Unreadable || !sameHeartbeat(b.Heartbeat, h) {
		t.Fatalf("the heartbeat of %q is %+v, want version %q of %+v", h.Node, b, v, h)
	}
}

// mustLack checks that there is neither a lease of the shard nor a heartbeat of the node.
func mustLack(t *testing.T, s lease.Store, shard int, node string) {
	t.Helper()
	if l, err := s.ReadLease(timeout(t), shard); !errors.Is(err, lease.ErrMissing) {
		t.Fatalf("read the lease of shard %d: %+v, %v, want ErrMissing", shard, l, err)
	}
	if b, err := s.ReadHeartbeat(timeout(t), node); !errors.Is(err, lease.ErrMissing) {
		t.Fatalf("read the heartbeat of %q: %+v, %v, want ErrMissing", node, b, err)
	}
}

// mustConflict checks that a version cannot be replaced, neither by WriteLease nor by Renew.
func mustConflict(t *testing.T, s lease.Store, shard int, replaced lease.Version) {
	t.Helper()
	l := lease.Lease{Shard: shard, Version: replaced, Record: record("refused", 99)}
	if v, err := s.WriteLease(timeout(t), l); !errors.Is(err, lease.ErrConflict) {
		t.Fatalf("write over version %q of shard %d: %q, %v, want ErrConflict", replaced, shard, v, err)
	}
	s.Renew(timeout(t), []lease.Lease{l}, func(_ int, v lease.Version, err error) {
		if !errors.Is(err, lease.ErrConflict) {
			t.Errorf("renew version %q of shard %d: %q, %v, want ErrConflict", replaced, shard, v, err)
		}
	})
}

func mustConflictBeat(t *testing.T, s lease.Store, node string, replaced lease.Version) {
	t.Helper()
	v, err := s.WriteHeartbeat(timeout(t), lease.Beat{Version: replaced, Heartbeat: heartbeat(node)})
	if !errors.Is(err, lease.ErrConflict) {
		t.Fatalf("write over version %q of the heartbeat of %q: %q, %v, want ErrConflict", replaced, node, v, err)
	}
}

func sameRecord(a, b lease.Record) bool {
	same := a.ExpiresAt.Equal(b.ExpiresAt)
	a.ExpiresAt, b.ExpiresAt = time.Time{}, time.Time{}
	return same && a == b
}

func sameHeartbeat(a, b lease.Heartbeat) bool {
	same := a.At.Equal(b.At) && len(a.Shards) == len(b.Shards)
	for i := range min(len(a.Shards), len(b.Shards)) {
		same = same && a.Shards[i] == b.Shards[i]
	}
	a.At, b.At, a.Shards, b.Shards = time.Time{}, time.Time{}, nil, nil
	return same && reflect.DeepEqual(a, b)
}
