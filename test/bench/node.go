package main

import (
	"context"
	"encoding/binary"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

// childName is the child that is asked.
const childName = "child"

// A site makes a store without objects.
type site func() (store.Store, error)

func inMemory() (store.Store, error) { return store.Memory(), nil }

// startNode starts a node and returns once its shards are open.
func startNode(ctx context.Context, c slap.Config) (*slap.Cluster, error) {
	node, err := newNode(c)
	if err != nil {
		return nil, err
	}
	return node, open(ctx, node)
}

// newNode makes a node that logs nothing and does not probe its store.
func newNode(c slap.Config) (*slap.Cluster, error) {
	c.Logger, c.Probe = slog.New(slog.DiscardHandler), slap.ProbeOff
	return slap.New(c)
}

func open(ctx context.Context, node *slap.Cluster) error {
	if err := node.Start(ctx); err != nil {
		return err
	}
	return node.AwaitReady(ctx)
}

// counting is a child that counts the requests, and answers each with the count once
// that is durable.
func counting(s *slap.Shard) []slap.ChildSpec {
	return []slap.ChildSpec{{Name: childName, New: func() actor.Actor { return &counter{shard: s} }}}
}

type counter struct {
	shard *slap.Shard
	count uint64
}

// Receive counts.
func (c *counter) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*emptypb.Empty); !ok {
		return
	}
	c.count++
	seq, err := c.shard.DB().Put(context.Background(), []byte("count"), binary.BigEndian.AppendUint64(nil, c.count), nil)
	if err != nil {
		ctx.Respond(err)
		return
	}
	c.shard.RespondWhenDurable(ctx, seq, wrapperspb.UInt64(c.count))
}

// echo is the behaviour that answers a string with itself.
func echo(ctx actor.Context) {
	if m, ok := ctx.Message().(*wrapperspb.StringValue); ok {
		ctx.Respond(m)
	}
}

// echoing is a child that does that.
func echoing(*slap.Shard) []slap.ChildSpec {
	return []slap.ChildSpec{{Name: childName, New: func() actor.Actor { return actor.ReceiveFunc(echo) }}}
}
