package slap_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/objectlease"
)

// startPeer starts a node of two that own a shard each, with these peers.
func startPeer(t *testing.T, s store.Store, name, listen string, p peers.Source) *slap.Cluster {
	t.Helper()
	place, err := objectlease.New(objectlease.Options{Options: lease.Options{TTL: steady}})
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, slap.Config{
		Cluster: "c", Name: name, Listen: listen, Store: s, Shards: 2, Strategy: place, Peers: p, TrustLeases: p.IsZero(),
		Handlers: map[string]slap.Handler{"who": slap.Handle(
			func(context.Context, *slap.Shard, *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
				return wrapperspb.String(name), nil
			},
		)},
	})
	if err := c.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopCluster(t, c) })
	return c
}

// knows says whether the node knows the shard's owner.
func knows(c *slap.Cluster, shard int, owner string) bool {
	at, err := c.Lookup(shard)
	return err == nil && at.Node == owner
}

// who asks who owns the shard that the other node has.
func who(t *testing.T, from, owner *slap.Cluster) (string, error) {
	t.Helper()
	shard := owner.LocalShards()[0]
	answer, err := slap.Call[*wrapperspb.StringValue](within(t, time.Minute), from, shard, "who", wrapperspb.String(""))
	return answer.GetValue(), err
}

// TestP7_3 has a node whose peers lack the other, and one that trusts leases.
func TestP7_3_AnOwnerThatIsNoPeerIsNotCalled(t *testing.T) {
	tests := map[string]func(*testing.T){}
	for name, c := range map[string]struct{ peer, says string }{
		"no peer":         {"c=127.0.0.1:1", "node b at ADDRESS is no peer of this node: add b=ADDRESS to Peers, or set TrustLeases"},
		"another's":       {"c=ADDRESS", "ADDRESS is the address of peer c, but node b is said to be there: correct the name in Peers"},
		"a peer":          {"b=ADDRESS", ""},
		"a nameless peer": {"ADDRESS", ""},
		"a peer by name":  {"b=localhost:PORT", ""},
	} {
		tests[name] = func(t *testing.T) {
			s, address := store.Memory(), freeAddress(t)
			_, port, _ := strings.Cut(address, ":")
			of := strings.NewReplacer("ADDRESS", address, "PORT", port)
			a := startPeer(t, s, "a", freeAddress(t), peers.Static(of.Replace(c.peer)))
			b := startPeer(t, s, "b", address, peers.Source{})
			eventually(t, "each owns a shard, and both know it", func() bool {
				one, other := a.LocalShards(), b.LocalShards()
				return len(one) == 1 && len(other) == 1 && knows(a, other[0], "b") && knows(b, one[0], "a")
			})
			if name, err := who(t, b, a); name != "a" || err != nil {
				t.Errorf("the one that trusts leases: %q, %v", name, err)
			}
			name, err := who(t, a, b)
			switch {
			case c.says == "" && (name != "b" || err != nil):
				t.Errorf("%q, %v", name, err)
			case c.says != "" && (!errors.Is(err, slap.ErrNoConnection) || !errors.Is(err, slap.ErrNotExecuted) || !strings.Contains(err.Error(), of.Replace(c.says))):
				t.Errorf("%v; want %q", err, of.Replace(c.says))
			}
		}
	}
	atOnce(t, tests)
}
