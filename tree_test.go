package slap_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// noting is a strategy that notes when it starts and stops.
type noting struct {
	strategy.Strategy
	notes chan string
	seen  func() string // what there is as it starts
}

func (n *noting) Child(r strategy.Runtime) supervision.ChildSpec {
	n.notes <- "strategy starts with " + n.seen()
	spec := n.Strategy.Child(r)
	fresh := spec.New
	spec.New = func() actor.Actor {
		inner := fresh()
		return actor.ReceiveFunc(func(c actor.Context) {
			if _, ok := c.Message().(*actor.Stopping); ok {
				n.notes <- "strategy stops"
			}
			inner.Receive(c)
		})
	}
	return spec
}

func existing(t *testing.T, s store.Store, key string) bool {
	t.Helper()
	bucket, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bucket.Close() }()
	_, err = bucket.Get(t.Context(), key)
	return err == nil
}

func TestSUP1_TheOrderOfTheStartAndItsReverse(t *testing.T) {
	dir := t.TempDir()
	s := store.Dir(dir)
	notes := make(chan string, 100)
	var shard *slap.Shard
	cluster := newCluster(t, slap.Config{
		Store: s, Shards: 1,
		Strategy: &noting{newLocal(t), notes, func() string {
			identity := existing(t, s, "_cluster/cluster")
			_, data := os.Stat(filepath.Join(dir, "shard-000"))
			return fmt.Sprintf("identity %v, shards %v", identity, data == nil)
		}},
		ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
			shard = s
			return []slap.ChildSpec{{Name: "a", New: func() actor.Actor {
				return actor.ReceiveFunc(func(c actor.Context) {
					switch c.Message().(type) {
					case *actor.Started:
						notes <- "child starts"
					case *actor.Stopping:
						_, _, err := s.DB().Get(context.Background(), []byte("k"), nil)
						notes <- fmt.Sprintf("child stops %v, %v", s.Status(), err)
					}
				})
			}}}
		},
	})
	if err := cluster.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	stopCluster(t, cluster)
	for _, want := range []string{
		"strategy starts with identity true, shards false", "child starts", "strategy stops", "child stops stopping, <nil>",
	} {
		if got := receive(t, notes); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if reason := shard.DB().Status().CloseReason; reason != slatedb.ReasonClean {
		t.Errorf("stopped with the database %v", reason)
	}
}

func TestSUP1_WithoutAFitStoreNothingOfTheTreeStarts(t *testing.T) {
	s := store.Memory()
	first := startCluster(t, slap.Config{Store: s, Shards: 2})
	stopCluster(t, first)
	hand := newHand(t)
	second := newCluster(t, slap.Config{Store: s, Shards: 3, Strategy: hand})
	if err := second.Start(within(t, time.Minute)); !errors.Is(err, store.ErrIdentity) {
		t.Errorf("started: %v", err)
	}
	if hand.runtime != nil {
		t.Error("the strategy was asked")
	}
}

// TestSUP4 has one shard that never opens.
func TestSUP4_TheStartReturnsOnceEveryShardWasAttempted(t *testing.T) {
	cluster := newCluster(t, slap.Config{
		Store: store.Memory(), Shards: 20, Strategy: newLocal(t),
		ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
			if s.Number() == 3 {
				panic("as told")
			}
			return counters(s)
		},
	})
	if err := cluster.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	defer stopCluster(t, cluster)
	for _, a := range cluster.Assignments() {
		if a.Shard == 3 && a.Err == nil || a.Shard != 3 && a.State != slap.StateRunning {
			t.Errorf("shard %d is %v, %v", a.Shard, a.State, a.Err)
		}
	}
	if cluster.Ready() {
		t.Error("ready without a shard")
	}
}

// TestLOC5 ends the database as a fault in it would.
func TestLOC5_ACrashedShardIsReopenedAndGoesOnWithItsData(t *testing.T) {
	cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, Strategy: newLocal(t), ShardChildren: counters})
	defer stopCluster(t, cluster)
	if n, err := increment(within(t, time.Minute), cluster, "k"); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	at, err := cluster.Lookup(0)
	if err != nil || !at.Local() {
		t.Fatalf("%v, %v", at, err)
	}
	if err := at.Shard.DB().Close(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is opened anew", func() bool {
		now, err := cluster.Lookup(0)
		return err == nil && now.Local() && now.Shard.Opening() != at.Shard.Opening()
	})
	answer, err := slap.Ask[*wrapperspb.UInt64Value](within(t, time.Minute), cluster, 0, "counter", wrapperspb.String("k"))
	if answer.GetValue() != 2 || err != nil {
		t.Errorf("%d, %v, want 2", answer.GetValue(), err)
	}
}

func TestP1_2_EveryStartIsANewIncarnation(t *testing.T) {
	s, seen := store.Memory(), map[string]bool{}
	for range 3 {
		cluster := startCluster(t, slap.Config{Store: s, Shards: 2, Name: "A.b_c-1"})
		var here []string
		for n := range 2 {
			at, err := cluster.Lookup(n)
			if err != nil || !at.Local() || at.Node != "A.b_c-1" {
				t.Fatalf("%v, %v", at, err)
			}
			incarnation, counter, ok := strings.Cut(at.Shard.Opening(), ".")
			if !ok || incarnation == "" || counter == "" {
				t.Errorf("opening %q", at.Shard.Opening())
			}
			here = append(here, incarnation)
		}
		if here[0] != here[1] || seen[here[0]] {
			t.Errorf("incarnations %q", here)
		}
		seen[here[0]] = true
		stopCluster(t, cluster)
	}
}
