package lease_test

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/fakenode"
	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/objectlease"
)

// Wall clocks that are hours apart, and jump at each look, change no owner.
func TestP2_4_NoOwnerChangesBecauseOfWallClocks(t *testing.T) {
	for name, s := range map[string]store.Store{"memory": store.Memory(), "directory": store.Dir(t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			system := actor.NewActorSystem(
				actor.WithDeadLetterThrottleInterval(time.Millisecond),
				actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
			t.Cleanup(system.Shutdown)
			var nodes []*fakenode.Node
			placements := map[string]*lease.Strategy{}
			for _, name := range []string{"a", "b", "c"} {
				placements[name] = wandering(t, 6*time.Second)
				nodes = append(nodes, startNode(t, system, s, name, placements[name]))
			}
			before := awaitShares(t, nodes, 9)
			time.Sleep(9 * time.Second) // four rounds, more than a TTL, in which nothing may happen
			if after := claims(nodes); !maps.Equal(after, before) || len(ownersBy(placements, 9)) != 9 {
				t.Errorf("a quiet cluster: the claims %v became %v, owners %v", before, after, ownersBy(placements, 9))
			}
		})
	}
}

// wandering is a strategy whose wall clock is somewhere else at each look.
func wandering(t *testing.T, ttl time.Duration) *lease.Strategy {
	t.Helper()
	s, err := objectlease.New(objectlease.Options{Options: lease.Options{TTL: ttl}})
	if err != nil {
		t.Fatal(err)
	}
	s.SetWall(func() time.Time { return time.Now().Add(rand.N(16*time.Hour) - 8*time.Hour) })
	return s
}

func startNode(t *testing.T, system *actor.ActorSystem, s store.Store, name string, placement *lease.Strategy) *fakenode.Node {
	t.Helper()
	node := fakenode.New(fakenode.Options{
		System: system, Name: name, Address: name + ":1", Incarnation: "of " + name, Shards: 9, Store: s,
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := node.Start(ctx, placement); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return node
}

func ownersBy(placements map[string]*lease.Strategy, shards int) map[int]string {
	all := map[int]string{}
	for name, p := range placements {
		for shard := range shards {
			if p.Lookup(shard) == (strategy.Placement{Here: true}) {
				all[shard] = name
			}
		}
	}
	return all
}

// awaitShares waits until each node has told that it has its share of the shards, and gives
// who has which.
func awaitShares(t *testing.T, nodes []*fakenode.Node, shards int) map[int]claim {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		all, shares := claims(nodes), map[int]int{}
		for _, c := range all {
			shares[c.node]++
		}
		even := len(all) == shards
		for _, n := range shares {
			even = even && n == shards/len(nodes)
		}
		switch {
		case even:
			return all
		case time.Now().After(deadline):
			t.Fatalf("the shares are %v", shares)
		}
	}
}

// claim says which node owns a shard.
type claim struct {
	node       int
	generation uint64
}

// claims are the newest that the nodes have told of, by shard.
func claims(nodes []*fakenode.Node) map[int]claim {
	all := map[int]claim{}
	for i, node := range nodes {
		for _, e := range node.Events() {
			if c, ok := e.(messages.LeaseClaimed); ok && c.Generation > all[c.Shard].generation {
				all[c.Shard] = claim{i, c.Generation}
			}
		}
	}
	return all
}
