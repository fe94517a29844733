package leasetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/slap-go/slap/strategy/lease"
)

const (
	racers = 8
	races  = 15
)

func checkRaceCreate(t *testing.T, s lease.Store) {
	for n := range races {
		raceForLease(t, s, n, "")
	}
}

func checkRaceReplace(t *testing.T, s lease.Store) {
	v := mustWrite(t, s, 1, "", record("a", 1))
	for range races {
		raceForLease(t, s, 1, v)
		v = mustRead(t, s, 1).Version
	}
}

func raceForLease(t *testing.T, s lease.Store, shard int, replaced lease.Version) {
	t.Helper()
	records := make([]lease.Record, racers)
	for i := range records {
		records[i] = record(fmt.Sprint("node-", i), 2)
	}
	winner := race(t, func(ctx context.Context, i int) (lease.Version, error) {
		return s.WriteLease(ctx, lease.Lease{Shard: shard, Version: replaced, Record: records[i]})
	}, func() (lease.Version, string) {
		l := mustRead(t, s, shard)
		return l.Version, l.Record.Nonce
	}, func(i int) string { return records[i].Nonce })
	if winner >= 0 {
		mustHold(t, s, shard, mustRead(t, s, shard).Version, records[winner])
	}
}

// checkRaceHeartbeat is of processes that have one name.
func checkRaceHeartbeat(t *testing.T, s lease.Store) {
	var v lease.Version
	for range races {
		beats := make([]lease.Heartbeat, racers)
		for i := range beats {
			beats[i] = heartbeat("a")
		}
		race(t, func(ctx context.Context, i int) (lease.Version, error) {
			return s.WriteHeartbeat(ctx, lease.Beat{Version: v, Heartbeat: beats[i]})
		}, func() (lease.Version, string) {
			b := mustReadBeat(t, s, "a")
			return b.Version, b.Heartbeat.Nonce
		}, func(i int) string { return beats[i].Nonce })
		v = mustReadBeat(t, s, "a").Version
	}
}

// race lets all write a record over the same version at once, and checks that one of them
// did and knows it, and that the others know that they did not. It returns the one that
// was told so; less than 0 if nobody was, since the outcome is unknown.
func race(t *testing.T, write func(context.Context, int) (lease.Version, error),
	read func() (lease.Version, string), nonce func(int) string,
) (winner int) {
	t.Helper()
	ctx := timeout(t)
	versions, errs, start := make([]lease.Version, racers), make([]error, racers), make(chan struct{})
	var group sync.WaitGroup
	for i := range racers {
		group.Go(func() {
			<-start
			versions[i], errs[i] = write(ctx, i)
		})
	}
	close(start)
	group.Wait()
	version, holds := read()
	winner = -1
	for i, err := range errs {
		won := nonce(i) == holds
		switch {
		case err == nil && (!won || versions[i] != version):
			t.Fatalf("writer %d was told that it won by version %q, but version %q is another's", i, versions[i], version)
		case err == nil:
			winner = i
		case errors.Is(err, lease.ErrConflict) && won:
			t.Fatalf("writer %d won, but was told that it lost", i)
		case !errors.Is(err, lease.ErrConflict) && !errors.Is(err, lease.ErrUnknownOutcome):
			t.Fatalf("writer %d: %v", i, err)
		}
	}
	return winner
}
