package leasetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slap-go/slap/strategy/lease"
)

// renewed is what a renewal told of each place in its list.
type renewed struct {
	mu       sync.Mutex
	versions []lease.Version
	errs     []error
	told     []int
}

// renew renews a list and checks that each is told of once, before the end.
func renew(t *testing.T, s lease.Store, list []lease.Lease) *renewed {
	t.Helper()
	r := &renewed{versions: make([]lease.Version, len(list)), errs: make([]error, len(list)), told: make([]int, len(list))}
	var over atomic.Bool
	s.Renew(timeout(t), list, func(i int, v lease.Version, err error) {
		if over.Load() {
			t.Errorf("told of lease %d after the end", i)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.versions[i], r.errs[i] = v, err
		r.told[i]++
	})
	over.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, n := range r.told {
		if n != 1 {
			t.Fatalf("told %d times of lease %d of %d", n, i, len(list))
		}
	}
	return r
}

// mustRenew renews a list and notes the versions by shard.
func mustRenew(t *testing.T, s lease.Store, list []lease.Lease, versions map[int]lease.Version) {
	t.Helper()
	r := renew(t, s, list)
	for i, l := range list {
		versions[l.Shard] = mustVersion(t, r.versions[i], r.errs[i])
	}
}

// checkRenew renews many leases a few times. The list is not in the order of the shards.
func checkRenew(t *testing.T, s lease.Store) {
	const shards = 100
	versions, list := map[int]lease.Version{}, make([]lease.Lease, shards)
	for n := range shards {
		versions[n] = mustWrite(t, s, n, "", record("a", uint64(n)))
	}
	for range 3 {
		for i := range list {
			n := (i*37 + 11) % shards
			list[i] = lease.Lease{Shard: n, Version: versions[n], Record: record("a", uint64(n))}
		}
		mustRenew(t, s, list, versions)
		for _, l := range list {
			mustHold(t, s, l.Shard, versions[l.Shard], l.Record)
		}
	}
}

// checkRenewPartly renews leases of which some are no longer there in their versions. The
// others are renewed all the same.
func checkRenewPartly(t *testing.T, s lease.Store) {
	var list []lease.Lease
	for n := range 12 {
		v := mustWrite(t, s, n, "", record("a", 1))
		list = append(list, lease.Lease{Shard: n, Version: v, Record: record("a", 1)})
	}
	taken, takers := record("b", 2), map[int]lease.Version{}
	for _, n := range []int{0, 5, 11} {
		takers[n] = mustWrite(t, s, n, list[n].Version, taken)
	}
	gone, fresh := lease.Lease{Shard: 50, Version: list[3].Version, Record: record("a", 1)}, lease.Lease{Shard: 51, Record: record("a", 1)}
	list = append(list, gone, fresh)
	r := renew(t, s, list)
	for i, l := range list {
		if v, lost := takers[l.Shard]; lost {
			mustBeConflict(t, l.Shard, r.errs[i])
			mustHold(t, s, l.Shard, v, taken)
			continue
		}
		if l.Shard == gone.Shard {
			mustBeConflict(t, l.Shard, r.errs[i])
			mustLack(t, s, gone.Shard, "a")
			continue
		}
		mustHold(t, s, l.Shard, mustVersion(t, r.versions[i], r.errs[i]), l.Record)
	}
}

func mustBeConflict(t *testing.T, shard int, err error) {
	t.Helper()
	if !errors.Is(err, lease.ErrConflict) {
		t.Fatalf("renew the lost lease of shard %d: %v, want ErrConflict", shard, err)
	}
}

func checkRenewNothing(t *testing.T, s lease.Store) {
	renew(t, s, nil)
	if l := mustList(t, s); len(l.Leases) != 0 {
		t.Fatalf("renewing nothing left %v", l.Leases)
	}
}
