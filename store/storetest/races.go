package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/slap-go/slap/store"
)

const (
	racers = 16
	races  = 20
)

func checkRaceCreate(t *testing.T, b store.Bucket) {
	for i := range races {
		key := fmt.Sprintf("race/%d", i)
		race(t, b, key, i, store.IfAbsent())
	}
}

func checkRaceMatch(t *testing.T, b store.Bucket) {
	v := mustPut(t, b, "key", "start", store.IfAbsent())
	for i := range races {
		race(t, b, "key", i, store.IfMatch(v))
		v = mustGet(t, b, "key").Version
	}
}

// race lets all write the key under the same condition at once and checks that
// exactly one of them did, and that it knows.
func race(t *testing.T, b store.Bucket, key string, round int, condition store.Condition) {
	t.Helper()
	ctx := timeout(t)
	var group sync.WaitGroup
	start := make(chan struct{})
	versions := make([]store.Version, racers)
	errs := make([]error, racers)
	for i := range racers {
		group.Go(func() {
			<-start
			versions[i], errs[i] = b.Put(ctx, key, raceBody(round, i), condition)
		})
	}
	close(start)
	group.Wait()
	o := mustGet(t, b, key)
	for i, err := range errs {
		wrote := string(o.Data) == string(raceBody(round, i))
		switch {
		case err == nil && (!wrote || o.Version != versions[i]):
			t.Fatalf("writer %d was told that it won, but the object is %.40q %s", i, o.Data, o.Version)
		case errors.Is(err, store.ErrConflict) && wrote:
			t.Fatalf("writer %d won, but was told that it lost", i)
		case err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrUnknownOutcome):
			t.Fatalf("writer %d: %v", i, err)
		}
	}
}

// raceBody differs between races too: on a store whose versions are made from
// the body, an older race's version must not come back.
func raceBody(round, i int) []byte { return fmt.Appendf(nil, "round %d by %d", round, i) }
