package slap_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

func wantAt(t *testing.T, c *slap.Cluster, shard int, want string) {
	t.Helper()
	at, err := c.Lookup(shard)
	if err != nil || at.String() != want {
		t.Errorf("shard %d is %v, %v, want %s", shard, at, err, want)
	}
}

func TestAPI2_LookupIsHereElsewhereOrUnassigned(t *testing.T) {
	cluster, hand := runByHand(t, slap.Config{Store: store.Memory(), Shards: 3, Name: "me"})
	hand.open(1)
	wantAt(t, cluster, 0, "unassigned")
	at, err := cluster.Lookup(1)
	if err != nil || !at.Local() || at.Shard.Number() != 1 || at.Shard.DB() == nil || at.Node != "me" {
		t.Errorf("%+v, %v", at, err)
	}
	other := "another"
	hand.elsewhere.Store(&other)
	wantAt(t, cluster, 0, "remote(another)")
	wantAt(t, cluster, 1, "local") // whatever the strategy says
	for _, n := range []int{-1, 3} {
		if _, err := cluster.Lookup(n); !errors.Is(err, slap.ErrInvalid) || !strings.Contains(err.Error(), "0 to 2") {
			t.Errorf("shard %d: %v", n, err)
		}
	}
	unborn := newCluster(t, slap.Config{Store: store.Memory(), Shards: 1})
	wantAt(t, unborn, 0, "unassigned")
	stopCluster(t, unborn)
	if _, err := unborn.Lookup(0); !errors.Is(err, slap.ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}

// TestAPI3 looks while a child holds up the end of its shard.
func TestAPI3_StoppingOrFencedHereIsUnassignedAndNeverElsewhere(t *testing.T) {
	for _, end := range []string{"stop", "fence"} {
		t.Run(end, func(t *testing.T) {
			s, children := store.Memory(), newHeld()
			children.stop = make(chan struct{})
			cluster, hand := runByHand(t, slap.Config{
				Store: s, Shards: 1, ShardChildren: children.children, Settings: map[string]any{"manifest_poll_interval": "20ms"},
			})
			hand.open(0)
			other := "another"
			hand.elsewhere.Store(&other)
			wantAt(t, cluster, 0, "local")
			if end == "stop" {
				hand.end(0)
			} else {
				fence(t, s, "shard-000")
			}
			receive(t, children.stopping)
			wantAt(t, cluster, 0, "unassigned")
			if err := say(within(t, 50*time.Millisecond), cluster, "a", "echo"); !errors.Is(err, slap.ErrNotExecuted) || errors.Is(err, slap.ErrNoConnection) {
				t.Errorf("a request: %v", err)
			}
			close(children.stop)
			receive(t, hand.downs)
			eventually(t, "it is seen elsewhere", func() bool {
				at, err := cluster.Lookup(0)
				return err == nil && at.String() == "remote(another)"
			})
		})
	}
}

func TestAPI4_AShardIsVisibleOnceItsChildrenHaveStarted(t *testing.T) {
	children := newHeld()
	children.start = make(chan struct{})
	cluster, hand := runByHand(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: children.children})
	hand.begin(0)
	receive(t, children.started) // the database is open
	wantAt(t, cluster, 0, "unassigned")
	if all := cluster.LocalShards(); len(all) != 0 {
		t.Errorf("local: %v", all)
	}
	if _, err := cluster.Ask(t.Context(), 0, "a", wrapperspb.String("x"), slap.WithRetries(0)); !errors.Is(err, slap.ErrUnassigned) {
		t.Errorf("a request: %v", err)
	}
	close(children.start)
	receive(t, hand.replies)
	wantAt(t, cluster, 0, "local")
}

func TestAPI5_LocalShardsAreThoseThatServeInOrder(t *testing.T) {
	children := newHeld()
	children.stop = make(chan struct{})
	cluster, hand := runByHand(t, slap.Config{Store: store.Memory(), Shards: 12, ShardChildren: children.children})
	want := func(when string, shards ...int) {
		t.Helper()
		if got := cluster.LocalShards(); !slices.Equal(got, shards) {
			t.Errorf("%s: %v, want %v", when, got, shards)
		}
	}
	want("at first")
	hand.open(11, 2, 10, 0)
	want("opened", 0, 2, 10, 11)
	hand.end(10)
	receive(t, children.stopping)
	want("one is stopping", 0, 2, 11)
	close(children.stop)
	hand.closed(10)
	want("one is closed", 0, 2, 11)
	stopCluster(t, cluster)
	want("at last")
}

func TestAPI6_AssignmentsTellOfEveryShard(t *testing.T) {
	children := newHeld()
	children.start, children.stop = make(chan struct{}, 3), make(chan struct{})
	cluster, hand := runByHand(t, slap.Config{
		Store: store.Memory(), Shards: 5, Name: "me",
		ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
			if s.Number() == 3 {
				panic("as told")
			}
			return children.children(s)
		},
	})
	children.start <- struct{}{}
	children.start <- struct{}{}
	hand.open(0, 1)
	hand.end(1)
	receive(t, children.stopping)
	hand.begin(3)
	receive(t, hand.replies)
	hand.begin(2)
	for receive(t, children.started) != 2 {
	}
	var got []string
	for _, a := range cluster.Assignments() {
		got = append(got, fmt.Sprintf("%d %v %q %v", a.Shard, a.State, a.Owner, a.Err != nil))
	}
	want := []string{`0 running "me" false`, `1 closing "me" false`, `2 opening "me" false`, `3 unassigned "" true`, `4 unassigned "" false`}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	other := "another"
	hand.elsewhere.Store(&other)
	for _, a := range cluster.Assignments()[3:] {
		if a.State != slap.StateRemote || a.Owner != "another" {
			t.Errorf("shard %d: %v of %q", a.Shard, a.State, a.Owner)
		}
	}
	close(children.stop)
	close(children.start)
}

func TestAPI7_AChildIsNamedWithinItsShard(t *testing.T) {
	cluster := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 3,
		ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
			var all []slap.ChildSpec
			for _, name := range []string{"a", "b"} {
				all = append(all, slap.ChildSpec{Name: name, New: func() actor.Actor {
					return actor.ReceiveFunc(func(c actor.Context) {
						if _, ok := c.Message().(*wrapperspb.StringValue); ok {
							c.Respond(wrapperspb.String(fmt.Sprint(s.Number(), name)))
						}
					})
				}})
			}
			return all
		},
	})
	defer stopCluster(t, cluster)
	pids := map[string]bool{}
	for n := range 3 {
		for _, name := range []string{"a", "b"} {
			answer, err := slap.Ask[*wrapperspb.StringValue](within(t, time.Minute), cluster, n, name, wrapperspb.String("who"))
			if want := fmt.Sprint(n, name); err != nil || answer.GetValue() != want {
				t.Errorf("%q, %v, want %s", answer.GetValue(), err, want)
			}
			pid, err := cluster.PID(within(t, time.Minute), n, name)
			if err != nil || pids[pid.GetId()] {
				t.Errorf("%v, %v", pid, err)
			}
			pids[pid.GetId()] = true
		}
	}
}
