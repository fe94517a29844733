package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/static"
)

// payload is what is sent and comes back.
var payload = wrapperspb.String(strings.Repeat("x", 100))

// callee prepares to send a message of 100 bytes to another node of this process, which answers
// with the same, by way of the loopback interface, and says how to end.
type callee func(ctx context.Context) (call func() error, end func() error, err error)

// remotely are the benchmarks of requests between two nodes.
func remotely() []benchmark {
	var all []benchmark
	for _, callers := range []int{1, 16, 256} {
		all = append(all, benchmark{
			name: fmt.Sprintf("remote-ask%d-vs-protoactor", callers), goal: atLeast(0.9), unit: "ask/s",
			ours: rateOf(bySlap, callers), peer: rateOf(byProtoActor, callers),
		})
	}
	return append(all,
		benchmark{
			name: "remote-ask256-vs-grpc", goal: atLeast(2), unit: "ask/s",
			ours: rateOf(bySlap, 256), peer: rateOf(byGRPC, 256),
		},
		benchmark{
			name: "remote-ask1-p50-vs-grpc", goal: atMost(1.3), unit: "µs",
			ours: medianOf(bySlap), peer: medianOf(byGRPC),
		})
}

// rateOf is how many requests a second so many callers make.
func rateOf(to callee, callers int) measure {
	return func(ctx context.Context, d time.Duration) (float64, error) {
		call, end, err := to(ctx)
		if err != nil {
			return 0, err
		}
		rate, err := warmly(callers, d, func(int) error { return call() })
		return rate, errors.Join(err, end())
	}
}

// medianOf is how long one request takes, in the middle of many.
func medianOf(to callee) measure {
	return func(ctx context.Context, d time.Duration) (float64, error) {
		call, end, err := to(ctx)
		if err != nil {
			return 0, err
		}
		if _, err = warmly(1, d/5, func(int) error { return call() }); err != nil {
			return 0, errors.Join(err, end())
		}
		var times []float64
		for began := clock.Now(); err == nil && clock.Since(began) < d; {
			one := clock.Now()
			err = call()
			times = append(times, float64(clock.Since(one).Nanoseconds())/1e3)
		}
		return median(times), errors.Join(err, end())
	}
}

// bySlap asks a child of a shard that the other node owns.
func bySlap(ctx context.Context) (call func() error, end func() error, err error) {
	addresses, err := freeAddresses(ctx, 2)
	if err != nil {
		return nil, nil, err
	}
	at := peers.Static("near="+addresses[0], "far="+addresses[1])
	var nodes []*slap.Cluster
	end = func() error {
		var errs []error
		for _, node := range slices.Backward(nodes) {
			errs = append(errs, node.Stop(context.WithoutCancel(ctx)))
		}
		return errors.Join(errs...)
	}
	shared := store.Memory()
	for i, name := range []string{"near", "far"} {
		place, err := static.New(static.Options{Assignments: map[string]strategy.Shards{"near": {}, "far": {0}}})
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
		node, err := startNode(ctx, slap.Config{
			Cluster: "bench", Name: name, Listen: addresses[i], Peers: at, Strategy: place,
			Store: shared, Shards: 1, ShardChildren: echoing,
		})
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
		nodes = append(nodes, node)
	}
	return func() error {
		_, err := nodes[0].Ask(ctx, 0, childName, payload)
		return err
	}, end, nil
}

func freeAddresses(ctx context.Context, n int) (addresses []string, err error) {
	for range n {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// byProtoActor requests the same of an actor in another actor system.
func byProtoActor(context.Context) (call func() error, end func() error, err error) {
	start := func() (*actor.ActorSystem, func()) {
		system := actor.NewActorSystem(actor.WithLoggerFactory(discard))
		r := remote.NewRemote(system, remote.Configure("127.0.0.1", 0))
		r.Start()
		return system, func() {
			r.Shutdown(false)
			system.Shutdown()
		}
	}
	near, endNear := start()
	far, endFar := start()
	end = func() error {
		endNear()
		endFar()
		return nil
	}
	if _, err := far.Root.SpawnNamed(actor.PropsFromFunc(echo), childName); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	to := actor.NewPID(far.Address(), childName)
	return func() error {
		_, err := near.Root.RequestFuture(to, payload, slap.DefaultCallTimeout).Result()
		return err
	}, end, nil
}

// echoService is a gRPC service with one unary method.
var echoService = grpc.ServiceDesc{
	ServiceName: "bench.Echo", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Echo",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			m := new(wrapperspb.StringValue)
			return m, decode(m)
		},
	}},
}

// byGRPC makes a unary call.
func byGRPC(ctx context.Context) (call func() error, end func() error, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	server := grpc.NewServer()
	server.RegisterService(&echoService, new(any))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	client, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	end = func() error {
		var errs []error
		if client != nil {
			errs = append(errs, client.Close())
		}
		server.Stop()
		return errors.Join(append(errs, <-served)...)
	}
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return func() error {
		return client.Invoke(ctx, "/bench.Echo/Echo", payload, new(wrapperspb.StringValue))
	}, end, nil
}
