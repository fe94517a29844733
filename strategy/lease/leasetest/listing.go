package leasetest

import (
	"errors"
	"maps"
	"testing"

	"github.com/slap-go/slap/strategy/lease"
)

func checkList(t *testing.T, s lease.Store) {
	want := lease.Listing{Leases: map[int]lease.Version{}, Heartbeats: map[string]lease.Version{}}
	mustBeListed(t, s, want)
	for n := range 40 {
		want.Leases[n*7] = mustWrite(t, s, n*7, "", record("a", 1))
	}
	for _, name := range []string{"a", "b", "c"} {
		want.Heartbeats[name] = mustBeat(t, s, "", heartbeat(name))
	}
	mustBeListed(t, s, want)
	want.Leases[14] = mustWrite(t, s, 14, want.Leases[14], record("b", 2))
	want.Leases[21] = mustWrite(t, s, 21, want.Leases[21], lease.Record{Generation: 1, Nonce: "free"})
	want.Heartbeats["b"] = mustBeat(t, s, want.Heartbeats["b"], heartbeat("b"))
	mustRemove(t, s, "c")
	delete(want.Heartbeats, "c")
	mustBeListed(t, s, want)
	mustRenew(t, s, []lease.Lease{{Shard: 7, Version: want.Leases[7], Record: record("a", 1)}}, want.Leases)
	mustBeListed(t, s, want)
}

// mustBeListed checks that a listing shows each write that ended before it began.
func mustBeListed(t *testing.T, s lease.Store, want lease.Listing) {
	t.Helper()
	got := mustList(t, s)
	if !maps.Equal(got.Leases, want.Leases) {
		t.Fatalf("the listing shows leases %v, want %v", got.Leases, want.Leases)
	}
	if !maps.Equal(got.Heartbeats, want.Heartbeats) {
		t.Fatalf("the listing shows heartbeats %v, want %v", got.Heartbeats, want.Heartbeats)
	}
}

func mustRemove(t *testing.T, s lease.Store, node string) {
	t.Helper()
	if err := s.RemoveHeartbeat(timeout(t), node); err != nil {
		t.Fatalf("remove the heartbeat of %q: %v", node, err)
	}
}

func checkRemove(t *testing.T, s lease.Store) {
	mustRemove(t, s, "a")
	v, other := mustBeat(t, s, "", heartbeat("a")), heartbeat("aa")
	w := mustBeat(t, s, "", other)
	held := mustWrite(t, s, 1, "", record("a", 1))
	for range 2 {
		mustRemove(t, s, "a")
		if b, err := s.ReadHeartbeat(timeout(t), "a"); !errors.Is(err, lease.ErrMissing) {
			t.Fatalf("the heartbeat was removed and reads %+v, %v", b, err)
		}
		mustConflictBeat(t, s, "a", v)
	}
	mustShow(t, s, w, other)
	if l := mustRead(t, s, 1); l.Version != held {
		t.Fatalf("the lease of the node has version %q, want %q", l.Version, held)
	}
	again := heartbeat("a")
	mustShow(t, s, mustBeat(t, s, "", again), again)
	mustConflictBeat(t, s, "a", v)
}
