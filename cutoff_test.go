package slap_test

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/relay"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/static"
)

// watched collects the events of a node.
func watched[E slap.Event](t *testing.T, node *slap.Cluster) <-chan E {
	t.Helper()
	found := make(chan E, 1000)
	events := node.Events(t.Context(), 10_000)
	go func() {
		for e := range events {
			if e, ok := e.(E); ok {
				found <- e
			}
		}
	}()
	return found
}

// A node that its peers cannot reach keeps what it has as long as it reaches the bucket.
func TestP6_4_ANodeThatIsCutOffFromItsPeersKeepsItsShards(t *testing.T) {
	mostlyWaits(t)
	s := newSeveral(t, 4, steady)
	listen := freeAddress(t)
	front := relay.Start(t, listen)
	s.adjust = func(name string, c *slap.Config) {
		c.CallTimeout = 5 * time.Second
		if name == "b" {
			c.Listen, c.Advertise = listen, front.Address()
		}
	}
	a, b := s.start("a"), s.start("b")
	eventually(t, "shares within one", s.balanced)
	s.settled()
	before := s.owners()
	far := b.LocalShards()[0]
	ask := func() error {
		_, err := a.Ask(within(t, time.Minute), far, "counter", wrapperspb.String("key"))
		return err
	}
	eventually(t, "b is reached", func() bool { return ask() == nil })
	lost, back := watched[slap.PeerUnreachable](t, a), watched[slap.PeerReachable](t, a)
	front.To(nobody)
	front.Cut()
	if e := <-lost; e.Node != "b" || !slices.Equal(a.Unreachable(), []string{"b"}) {
		t.Errorf("%v, unreachable are %v", e, a.Unreachable())
	}
	if err := ask(); !errors.Is(err, slap.ErrNoConnection) || !errors.Is(err, slap.ErrNotExecuted) {
		t.Errorf("a call to a node that is cut off: %v", err)
	}
	s.still(4 * s.lease.TTL / 3)
	if moved(before, s.owners()) > 0 {
		t.Errorf("owners %v, before %v", s.owners(), before)
	}
	front.To(listen)
	eventually(t, "b is reached again", func() bool { return ask() == nil })
	if e := <-back; e.Node != "b" || len(a.Unreachable()) > 0 {
		t.Errorf("%v, unreachable are %v", e, a.Unreachable())
	}
}

// Two nodes that disagree: each takes the other for the owner of shard 1.
func TestCALL11_CALL13_RemoteTriesAndStaleOwnersAreTold(t *testing.T) {
	s := newSeveral(t, 3, steady)
	addresses := map[string]string{"a": freeAddress(t), "b": freeAddress(t)}
	s.adjust = func(name string, c *slap.Config) {
		c.Listen, c.TrustLeases, c.Retries = addresses[name], false, 2
		c.Peers = peers.Static("a="+addresses["a"], "b="+addresses["b"])
		c.RetryDelay = time.Millisecond
		given := map[string]map[string]strategy.Shards{
			"a": {"a": {0}, "b": {1, 2}}, "b": {"a": {0, 1}, "b": {2}},
		}
		place, err := static.New(static.Options{Assignments: given[name]})
		if err != nil {
			t.Fatal(err)
		}
		c.Strategy = place
	}
	a := s.start("a")
	s.start("b")
	eventually(t, "b is reached", func() bool {
		_, err := a.Ask(within(t, time.Minute), 2, "counter", wrapperspb.String("key"))
		return err == nil
	})
	tries, stale := watched[slap.CallRemote](t, a), watched[slap.CallNotOwner](t, a)
	_, err := a.Ask(within(t, time.Minute), 1, "counter", wrapperspb.String("key"))
	if !errors.Is(err, slap.ErrNotOwner) || !errors.Is(err, slap.ErrNotExecuted) {
		t.Errorf("a shard that nobody serves: %v", err)
	}
	for range 3 { // the first try and two more
		if e := <-tries; e.Shard != 1 || e.Node != "b" {
			t.Errorf("a try: %+v", e)
		}
		if e := <-stale; e.Shard != 1 || e.Node != "b" {
			t.Errorf("a stale owner: %+v", e)
		}
	}
}

// An application that runs Proto.Actor's remote hands its system in.
func TestP7_4_NodesShareTheRemoteOfTheirApplication(t *testing.T) {
	s := newSeveral(t, 4, steady)
	s.adjust = func(_ string, c *slap.Config) {
		system := actor.NewActorSystem(
			actor.WithDeadLetterThrottleInterval(time.Millisecond),
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
		r := remote.NewRemote(system, remote.Configure("127.0.0.1", 0, c.RemoteOptions()...))
		r.Start()
		t.Cleanup(func() {
			r.Shutdown(true)
			system.Shutdown()
		})
		c.Listen, c.System = "", system
	}
	a, b := s.start("a"), s.start("b")
	eventually(t, "shares within one", s.balanced)
	for shard := range 4 {
		for _, node := range []*slap.Cluster{a, b} {
			if _, err := node.Ask(within(t, 30*time.Second), shard, "counter", wrapperspb.String("key")); err != nil {
				t.Error(err)
			}
		}
	}
}
