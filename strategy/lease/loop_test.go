package lease_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/fakenode"
)

// With intervals of twenty minutes only hints can make nodes look.
func TestP6_3_LL16_ANodeComesAndGoesByHintsAlone(t *testing.T) {
	a := newStage(t)
	b := &stage{T: t, store: a.store}
	a.strategy, b.strategy = placement(t, a.store, "a", time.Hour), placement(t, b.store, "b", time.Hour)
	a.join("a", func(strategy.Node) { b.strategy.LookNow() })
	b.join("b", func(strategy.Node) { a.strategy.LookNow() })

	a.start()
	a.await("the first node has all", a.allOpen)
	b.start()
	a.await("each has its half", func() bool { return len(a.open()) == 2 && len(b.open()) == 2 })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	a.strategy.Leave(ctx)
	if open := a.open(); len(open) > 0 || ctx.Err() != nil {
		t.Fatalf("it has left, but open are %v", open)
	}
	b.await("the other has all", b.allOpen)
	for shard := range 4 {
		if p := a.strategy.Lookup(shard); p.Here {
			t.Errorf("shard %d: %+v", shard, p)
		}
	}
}

// join makes the stage's node, whose hints are given to hint.
func (s *stage) join(name string, hint func(to strategy.Node)) {
	system := actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	s.Cleanup(system.Shutdown)
	s.node = fakenode.New(fakenode.Options{
		System: system, Name: name, Address: name + ":1", Incarnation: name + "1", Shards: 4, Hint: hint,
	})
}
