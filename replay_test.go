package slap_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

// flushOften is a handler whose writes make so many entries of the log.
func flushOften(ctx context.Context, s *slap.Shard, times *wrapperspb.UInt64Value) (*wrapperspb.UInt64Value, error) {
	for range times.Value {
		if _, err := s.DB().Put(ctx, []byte("k"), []byte("v"), nil); err != nil {
			return nil, err
		}
		if err := s.Flush(ctx); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// A shard that moves again and again, faster than the compactor works, is opened as fast as
// one that stays.
func TestShortOpeningsDoNotHandTheirLogOn(t *testing.T) {
	const openings, flushes = 40, 40
	s := store.Memory()
	cluster, hand := runByHand(t, slap.Config{
		Store: s, Shards: 1, Handlers: map[string]slap.Handler{"flush": slap.Handle(flushOften)},
	})
	for range openings {
		hand.open(0)
		if _, err := cluster.Call(within(t, time.Minute), 0, "flush", wrapperspb.UInt64(flushes)); err != nil {
			t.Fatal(err)
		}
		hand.shut(0)
		if left := logLeft(t, s, "shard-000"); left > flushes+1 { // one more for the fence
			t.Errorf("%d entries of the log are left to the next opening", left)
		}
	}
}

// logLeft is how much of the log the next opening of a database has to read.
func logLeft(t *testing.T, s store.Store, path string) uint64 {
	t.Helper()
	objects, err := slatedb.NewObjectStore(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := slatedb.OpenAdmin(objects, path)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := admin.Manifest(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	admin.Close()
	if err := objects.Close(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	return manifest.NextLogID - 1 - manifest.ReplayAfterLog
}
