package slap_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/objectlease"
	"github.com/slap-go/slap/supervision"
)

// A Register is the actor of an application: a shard's child that keeps one value.
type Register struct {
	shard *slap.Shard
}

// Receive sets the value, and answers once it is durable, or reads it, and answers once
// it is proven that no other node has taken the shard over before the read.
func (r *Register) Receive(c actor.Context) {
	db := r.shard.DB()
	switch m := c.Message().(type) {
	case *wrapperspb.StringValue:
		seq, err := db.Put(context.Background(), []byte("value"), []byte(m.GetValue()), nil)
		if err != nil {
			c.Respond(err)
			return
		}
		r.shard.RespondWhenDurable(c, seq, &emptypb.Empty{})
	case *emptypb.Empty:
		value, found, err := db.Get(context.Background(), []byte("value"), nil)
		switch {
		case err != nil:
			c.Respond(err)
		case !found:
			r.shard.RespondWhenConfirmed(c, &slap.AppError{Code: "empty", Message: "nothing was set yet"})
		default:
			r.shard.RespondWhenConfirmed(c, wrapperspb.String(string(value)))
		}
	}
}

func registers(shard *slap.Shard) []slap.ChildSpec {
	return []slap.ChildSpec{{Name: "register", New: func() actor.Actor { return &Register{shard} }}}
}

// run is a cluster that has started; the examples stop it.
func run(c slap.Config) *slap.Cluster {
	cluster, err := slap.New(c)
	if err == nil {
		err = cluster.Start(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
	return cluster
}

func stop(c *slap.Cluster) {
	if err := c.Stop(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// A shard child answers once its write is durable, and reads what is current.
func Example() {
	cluster := run(slap.Config{Store: store.Memory(), Shards: 4, ShardChildren: registers})
	defer stop(cluster)
	ctx, shard := context.Background(), cluster.ShardForString("greeting")

	_, err := slap.Ask[*wrapperspb.StringValue](ctx, cluster, shard, "register", &emptypb.Empty{})
	fmt.Println(err)
	_, err = cluster.Ask(ctx, shard, "register", wrapperspb.String("hello"))
	fmt.Println(err)
	value, err := slap.Ask[*wrapperspb.StringValue](ctx, cluster, shard, "register", &emptypb.Empty{})
	fmt.Println(value.GetValue(), err)
	// Output:
	// empty: nothing was set yet
	// <nil>
	// hello <nil>
}

// Nodes that share a store spread the shards among them. Each reaches all of them.
func ExampleConfig_severalNodes() {
	shared := store.Memory()
	node := func(name string) *slap.Cluster {
		placement, err := objectlease.New(objectlease.Options{})
		if err != nil {
			log.Fatal(err)
		}
		return run(slap.Config{
			Cluster: "example", Name: name, Listen: "127.0.0.1:0", TrustLeases: true,
			Store: shared, Shards: 8, Strategy: placement, ShardChildren: registers, Retries: 20, // while shards move
		})
	}
	a, b := node("a"), node("b")
	for len(a.LocalShards()) != 4 || len(b.LocalShards()) != 4 {
		time.Sleep(10 * time.Millisecond) // b is getting its share
	}
	for shard := range 8 {
		if _, err := a.Ask(context.Background(), shard, "register", wrapperspb.String("hello")); err != nil {
			log.Fatal(err)
		}
	}
	stop(a) // b takes over
	value, err := slap.Ask[*wrapperspb.StringValue](context.Background(), b, 7, "register", &emptypb.Empty{})
	fmt.Println(value.GetValue(), err)
	stop(b)
	// Output: hello <nil>
}

// A handler is a function that runs where the shard is open.
func ExampleCall() {
	length := func(ctx context.Context, shard *slap.Shard, key *wrapperspb.StringValue) (*wrapperspb.Int64Value, error) {
		value, found, err := shard.DB().Get(ctx, []byte(key.GetValue()), nil)
		if err == nil && !found {
			err = &slap.AppError{Code: "not_found", Message: key.GetValue()}
		}
		if err != nil {
			return nil, err
		}
		return wrapperspb.Int64(int64(len(value))), shard.Confirm(ctx)
	}
	cluster := run(slap.Config{
		Store: store.Memory(), Shards: 1, ShardChildren: registers,
		Handlers: map[string]slap.Handler{"length": slap.Handle(length)},
	})
	defer stop(cluster)
	ctx := context.Background()

	_, err := slap.Call[*wrapperspb.Int64Value](ctx, cluster, 0, "length", wrapperspb.String("value"))
	fmt.Println(err, errors.Is(err, &slap.AppError{Code: "not_found"}))
	_, _ = cluster.Ask(ctx, 0, "register", wrapperspb.String("hello"))
	n, err := slap.Call[*wrapperspb.Int64Value](ctx, cluster, 0, "length", wrapperspb.String("value"))
	fmt.Println(n.GetValue(), err)
	// Output:
	// not_found: value true
	// 5 <nil>
}

// An error says whether the request ran.
func ExampleRequestError() {
	cluster := run(slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: registers})
	defer stop(cluster)
	_, err := cluster.Ask(context.Background(), 0, "registrar", &emptypb.Empty{})
	switch {
	case errors.Is(err, slap.ErrNotExecuted):
		fmt.Println("it did not run and never will:", err)
	case errors.Is(err, slap.ErrOutcomeUnknown):
		fmt.Println("it may have run:", err)
	}
	// Output:
	// it did not run and never will: shard 0, registrar: not executed: the shard has no such child: it has ["register"]
}

// Children may come and go: one for each session, say.
func ExampleShard_StartChild() {
	session := func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if m, ok := c.Message().(*wrapperspb.StringValue); ok {
				c.Respond(wrapperspb.String("welcome, " + m.GetValue()))
			}
		})
	}
	open := func(ctx context.Context, shard *slap.Shard, name *wrapperspb.StringValue) (*emptypb.Empty, error) {
		_, err := shard.StartChild(ctx, slap.ChildSpec{Name: name.GetValue(), New: session, Restart: supervision.Transient})
		return &emptypb.Empty{}, err
	}
	cluster := run(slap.Config{
		Store: store.Memory(), Shards: 1, Handlers: map[string]slap.Handler{"open": slap.Handle(open)},
	})
	defer stop(cluster)
	ctx := context.Background()

	_, err := cluster.Call(ctx, 0, "open", wrapperspb.String("session-7"))
	fmt.Println(err)
	greeting, err := slap.Ask[*wrapperspb.StringValue](ctx, cluster, 0, "session-7", wrapperspb.String("Ada"))
	fmt.Println(greeting.GetValue(), err)
	// Output:
	// <nil>
	// welcome, Ada <nil>
}

// The asynchronous form of a write does not hold up the actor: its end is a message.
func ExampleShard_NotifyWritten() {
	sequences := make(chan uint64, 1)
	children := func(shard *slap.Shard) []slap.ChildSpec {
		receive := func(c actor.Context) {
			switch m := c.Message().(type) {
			case *wrapperspb.StringValue:
				shard.DB().PutAsync([]byte("log"), []byte(m.GetValue()), nil, shard.NotifyWritten("log", c.Self()))
			case *slap.Written:
				shard.NotifyWhenDurable(m.Seq, m.Tag, c.Self())
			case *slap.Durable:
				sequences <- m.Seq
			}
		}
		return []slap.ChildSpec{{Name: "log", New: func() actor.Actor { return actor.ReceiveFunc(receive) }}}
	}
	cluster := run(slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: children})
	defer stop(cluster)
	err := cluster.Tell(context.Background(), 0, "log", wrapperspb.String("started"))
	fmt.Println(err, <-sequences > 0)
	// Output: <nil> true
}

// What happens on a node can be read as it happens.
func ExampleCluster_Events() {
	cluster, err := slap.New(slap.Config{Store: store.Memory(), Shards: 2, ShardChildren: registers})
	if err != nil {
		log.Fatal(err)
	}
	events := cluster.Events(context.Background(), 1000)
	if err := cluster.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	stop(cluster)
	started, stopped := 0, 0
	for e := range events {
		switch e.(type) {
		case slap.ShardStarted:
			started++
		case slap.ShardStopped:
			stopped++
		}
	}
	fmt.Println(started, "started,", stopped, "stopped")
	// Output: 2 started, 2 stopped
}

// A configuration has layers: the application's defaults, a file and the environment,
// and what is given at start. Settings are merged by key.
func ExampleSources() {
	dir, err := os.MkdirTemp("", "slap")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "slap.yaml")
	text := "shards: 8\ncall_timeout: 5s\nsettings:\n  flush_interval: 10ms\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	config, err := slap.Sources{
		Defaults: slap.Config{
			Store: store.Memory(), Shards: 1, CallTimeout: time.Minute,
			Settings: map[string]any{"l0_sst_size_bytes": 1 << 20, "flush_interval": "1s"},
		},
		File:    file,
		Env:     "MYAPP", // MYAPP_CALL_TIMEOUT=10s, for one
		Options: slap.Config{Shards: 16},
	}.Load()
	fmt.Println(config.Shards, config.CallTimeout, config.Settings, err)
	// Output: 16 5s map[flush_interval:10ms l0_sst_size_bytes:1048576] <nil>
}
