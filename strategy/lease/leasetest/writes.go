package leasetest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy/lease"
)

func checkMissing(t *testing.T, s lease.Store) {
	mustLack(t, s, 3, "a")
	elsewhere, other := mustWrite(t, s, 4, "", record("a", 1)), mustBeat(t, s, "", heartbeat("b"))
	mustConflict(t, s, 3, elsewhere)
	mustConflictBeat(t, s, "a", other)
	mustLack(t, s, 3, "a")
	listing := mustList(t, s)
	if len(listing.Leases) != 1 || len(listing.Heartbeats) != 1 {
		t.Fatalf("a refused write left something behind: %v", listing)
	}
}

func checkCreate(t *testing.T, s lease.Store) {
	r, h := record("a", 1), heartbeat("a")
	v, w := mustWrite(t, s, 0, "", r), mustBeat(t, s, "", h)
	mustConflict(t, s, 0, "")
	mustConflictBeat(t, s, "a", "")
	mustHold(t, s, 0, v, r)
	mustShow(t, s, w, h)
}

func checkReplace(t *testing.T, s lease.Store) {
	first, firstBeat := mustWrite(t, s, 7, "", record("a", 1)), mustBeat(t, s, "", heartbeat("a"))
	r, h := record("b", 2), heartbeat("a", lease.Held{Shard: 7, State: lease.Opening, Generation: 2})
	second, secondBeat := mustWrite(t, s, 7, first, r), mustBeat(t, s, firstBeat, h)
	mustHold(t, s, 7, second, r)
	mustShow(t, s, secondBeat, h)
	for _, stale := range []lease.Version{first, ""} {
		mustConflict(t, s, 7, stale)
	}
	for _, stale := range []lease.Version{firstBeat, ""} {
		mustConflictBeat(t, s, "a", stale)
	}
	mustHold(t, s, 7, second, r)
	mustShow(t, s, secondBeat, h)
}

// checkVersions writes the same again and again, apart from the nonce: no version comes
// twice, so that each write is seen as one.
func checkVersions(t *testing.T, s lease.Store) {
	seen := map[lease.Version]bool{"": true}
	var v, w lease.Version
	note := func(kind string, v lease.Version) {
		if seen[v] {
			t.Fatalf("the %s has version %q once more", kind, v)
		}
		seen[v] = true
	}
	for n := range 100 { // more than a store in a directory keeps
		v = mustWrite(t, s, 1, v, record("a", 1))
		note("lease", v)
		w = mustBeat(t, s, w, heartbeat("a"))
		note("heartbeat", w)
		if n%40 == 39 {
			mustRemove(t, s, "a")
			mustConflictBeat(t, s, "a", w)
			w = ""
		}
	}
	delete(seen, "")
	delete(seen, v)
	for stale := range seen {
		mustConflict(t, s, 1, stale)
	}
}

// checkLeaseFields writes records whose fields are unlike each other's, and reads them.
func checkLeaseFields(t *testing.T, s lease.Store) {
	full := record("node-1.example_A", math.MaxUint32<<4)
	full.Address, full.TTL, full.ExpiresAt = "[2001:db8::1]:65535", 1_234*time.Millisecond, wall.Add(-time.Hour)
	quoted := record("b", 1)
	quoted.Incarnation, quoted.Nonce = `a "b" <c> & \d`, "é\tλ"
	long := record("c", 0)
	long.TTL = 24 * time.Hour
	records := []lease.Record{
		full, quoted, long,
		{Generation: 17, Nonce: "free"},
		{Generation: 18, Nonce: "free, but by whom", Address: "a:1", Incarnation: "i", TTL: time.Second},
		{Owner: "short", Generation: 1, TTL: time.Millisecond, Nonce: "n", ExpiresAt: wall},
	}
	var v lease.Version
	for i, r := range records {
		v = mustWrite(t, s, 5, v, r)
		mustHold(t, s, 5, v, r)
		mustHold(t, s, 100+i, mustWrite(t, s, 100+i, "", r), r)
	}
}

func checkHeartbeatFields(t *testing.T, s lease.Store) {
	all := []lease.Held{
		{Shard: 0, State: lease.Opening, Generation: 1},
		{Shard: 9, State: lease.Running, Generation: math.MaxUint32 << 4},
		{Shard: 10, State: lease.Closing},
		{Shard: 999_999, State: lease.Failed, Generation: 3},
	}
	h := heartbeat("a", all...)
	h.Address, h.TTL, h.At = "[2001:db8::1]:65535", 1_234*time.Millisecond, wall.Add(-time.Hour)
	silent := heartbeat("a")
	silent.Address, silent.TTL = "", 24*time.Hour
	leaving, left := heartbeat("a", all[2]), heartbeat("a")
	leaving.State, left.State = lease.Leaving, lease.Left
	var v lease.Version
	for _, h := range []lease.Heartbeat{h, silent, leaving, left, heartbeat("a", many()...)} {
		before := slices.Clone(h.Shards)
		v = mustBeat(t, s, v, h)
		if !slices.Equal(before, h.Shards) {
			t.Fatalf("the write changed what it was given to %v", h.Shards)
		}
		mustShow(t, s, v, h)
	}
}

// many are the shards of a node that holds a thousand.
func many() (held []lease.Held) {
	for n := range 1_000 {
		held = append(held, lease.Held{Shard: n, State: lease.Running, Generation: uint64(n)})
	}
	return held
}

func checkShards(t *testing.T, s lease.Store) {
	for _, n := range []int{0, 1, 10, 100_000, 999_999} {
		r := record("a", uint64(n))
		mustHold(t, s, n, mustWrite(t, s, n, "", r), r)
	}
	if l := mustList(t, s); len(l.Leases) != 5 {
		t.Fatalf("the listing has %v", l.Leases)
	}
}

// names are valid names of nodes that a careless mapping confuses, with each other or
// with shards.
func names() []string {
	return []string{
		"a", "A", "aa", "a.", "a..b", "a-b", "a_b", "0", "00", "000001", "1e3", "null", "shards", "nodes", "check", "x.json",
		fmt.Sprintf("n%062d", 1), fmt.Sprintf("n%062d", 2),
	}
}

func checkNames(t *testing.T, s lease.Store) {
	written, versions := map[string]lease.Heartbeat{}, map[string]lease.Version{}
	for i, name := range names() {
		written[name] = heartbeat(name, lease.Held{Shard: i, State: lease.Running, Generation: 1})
		versions[name] = mustBeat(t, s, "", written[name])
		r := record(name, 1)
		mustHold(t, s, i, mustWrite(t, s, i, "", r), r)
	}
	for name, h := range written {
		mustShow(t, s, versions[name], h)
	}
	listing := mustList(t, s)
	for name, v := range versions {
		if listing.Heartbeats[name] != v {
			t.Fatalf("the listing shows version %q of the heartbeat of %q, want %q", listing.Heartbeats[name], name, v)
		}
	}
	if len(listing.Heartbeats) != len(versions) || len(listing.Leases) != len(versions) {
		t.Fatalf("the listing shows %d heartbeats and %d leases, want %d of each",
			len(listing.Heartbeats), len(listing.Leases), len(versions))
	}
}
