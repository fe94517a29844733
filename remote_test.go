package slap_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/static"
)

// nobody is at a port that no program is given.
const nobody = "127.0.0.1:1"

// lastPort is the last one that was given to a node of this process.
var lastPort atomic.Int32

func init() { lastPort.Store(10_000 + rand.Int32N(9_000)) }

// freeAddress is one on loopback for a node: below the ports that the system gives to
// whoever listens or connects, so that nobody takes it before the node does.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", lastPort.Add(1))
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

func TestCALL1_AnyNodeReachesEveryShard(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := store.Memory()
	a, b := freeAddress(t), freeAddress(t)
	start := func(name, listen string) *slap.Cluster {
		place, err := static.New(static.Options{Nodes: []string{"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := slap.New(slap.Config{
			Cluster: "c", Name: name, Listen: listen, Peers: peers.Static("a="+a, "b="+b), Store: s, Shards: 4, Strategy: place,
			Handlers: map[string]slap.Handler{
				"who": slap.Handle(func(_ context.Context, shard *slap.Shard, m *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
					if m.GetValue() == "no" {
						return nil, &slap.AppError{Code: "no", Message: "as asked"}
					}
					return wrapperspb.String(name), nil
				}),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := c.Stop(ctx); err != nil {
				t.Error(err)
			}
		})
		return c
	}
	nodes := map[string]*slap.Cluster{"a": start("a", a), "b": start("b", b)}
	for from, c := range nodes {
		for shard := range 4 {
			want := []string{"a", "b"}[shard%2]
			got, err := slap.Call[*wrapperspb.StringValue](ctx, c, shard, "who", wrapperspb.String("x"))
			if err != nil || got.GetValue() != want {
				t.Errorf("from %s, shard %d: %v, %v", from, shard, got, err)
			}
			_, err = c.Call(ctx, shard, "who", wrapperspb.String("no"))
			if !errors.Is(err, &slap.AppError{Code: "no"}) {
				t.Errorf("from %s, shard %d: %v", from, shard, err)
			}
		}
	}
}
