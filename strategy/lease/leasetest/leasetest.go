// Package leasetest checks that a [lease.Store] keeps its contract. Whoever brings a store
// of their own calls [Run] from a test:
//
//	func TestConformance(t *testing.T) {
//		leasetest.Run(t, func(t *testing.T) lease.Store { return mine.Open(t.TempDir()) })
//	}
//
// Run it with -race, too.
package leasetest

import (
	"context"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy/lease"
)

// patience bounds each check. It is generous, for stores far away and machines under load.
const patience = 2 * time.Minute

// Run checks the contract on stores that open returns, each on a place of its own without
// records. It sets them up, and closes them. Only what a store does when it cannot be
// reached, or with records that make no sense, is left to tests of its own.
func Run(t *testing.T, open func(t *testing.T) lease.Store) {
	t.Helper()
	checks := []struct {
		name  string
		check func(t *testing.T, s lease.Store)
	}{
		{"Setup", checkSetup},
		{"Missing", checkMissing},
		{"Create", checkCreate},
		{"Replace", checkReplace},
		{"Versions", checkVersions},
		{"LeaseFields", checkLeaseFields},
		{"HeartbeatFields", checkHeartbeatFields},
		{"Shards", checkShards},
		{"Names", checkNames},
		{"List", checkList},
		{"Remove", checkRemove},
		{"Renew", checkRenew},
		{"RenewPartly", checkRenewPartly},
		{"RenewNothing", checkRenewNothing},
		{"RaceCreate", checkRaceCreate},
		{"RaceReplace", checkRaceReplace},
		{"RaceHeartbeat", checkRaceHeartbeat},
		{"Counters", checkCounters},
		{"EndedBefore", checkEndedBefore},
		{"EndedWhile", checkEndedWhile},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			defer func() {
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}()
			if err := s.Setup(timeout(t)); err != nil {
				t.Fatalf("Setup: %v", err)
			}
			c.check(t, s)
		})
	}
}

func timeout(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// checkSetup sets up again, twice at once as two processes of one name do.
func checkSetup(t *testing.T, s lease.Store) {
	mustWrite(t, s, 1, "", record("a", 1))
	results := make(chan error, 2)
	for range cap(results) {
		go func() { results <- s.Setup(timeout(t)) }()
	}
	for range cap(results) {
		if err := <-results; err != nil {
			t.Errorf("Setup once more: %v", err)
		}
	}
	listing := mustList(t, s)
	if len(listing.Leases) != 1 || len(listing.Heartbeats) != 0 {
		t.Errorf("Setup left records behind: %v", listing)
	}
}
