package links

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
)

var payload = wrapperspb.Bytes(make([]byte, 100))

// BenchmarkRequest is a request of 100 bytes to another node and back: by a link, by
// Proto.Actor's own remote, and by a plain gRPC call.
func BenchmarkRequest(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("link/callers=%d", callers), func(b *testing.B) { many(b, callers, byLink(b)) })
		b.Run(fmt.Sprintf("protoactor/callers=%d", callers), func(b *testing.B) { many(b, callers, byProtoActor(b)) })
		b.Run(fmt.Sprintf("grpc/callers=%d", callers), func(b *testing.B) { many(b, callers, byUnary(b)) })
	}
}

func byLink(b *testing.B) func() error {
	from, err := tryNode("a")
	if err != nil {
		b.Fatal(err)
	}
	to, err := tryNode("b")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = from.Close(context.Background())
		_ = to.Close(context.Background())
		from.system.Shutdown()
		to.system.Shutdown()
	})
	self := to.Self()
	return func() error {
		_, err := from.Do(context.Background(), time.Minute, self, request(messages.Way_WAY_ASK, payload))
		return err
	}
}

func byProtoActor(b *testing.B) func() error {
	start := func() *actor.ActorSystem {
		s := newSystem()
		r := remote.NewRemote(s, remote.Configure("127.0.0.1", 0))
		r.Start()
		b.Cleanup(func() { r.Shutdown(false); s.Shutdown() })
		return s
	}
	from, to := start(), start()
	_, _ = to.Root.SpawnNamed(actor.PropsFromFunc(func(c actor.Context) {
		if m, ok := c.Message().(*wrapperspb.BytesValue); ok {
			c.Respond(m)
		}
	}), "echo")
	pid := actor.NewPID(to.Address(), "echo")
	return func() error {
		_, err := from.Root.RequestFuture(pid, payload, time.Minute).Result()
		return err
	}
}

func byUnary(b *testing.B) func() error {
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		m := new(wrapperspb.BytesValue)
		if err := s.RecvMsg(m); err != nil {
			return err
		}
		return s.SendMsg(m)
	}))
	l := listenLoopback(b)
	go server.Serve(l)
	b.Cleanup(server.Stop)
	cc, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cc.Close() })
	return func() error { return cc.Invoke(context.Background(), "/a/b", payload, new(wrapperspb.BytesValue)) }
}

func many(b *testing.B, callers int, call func() error) {
	if err := call(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	times := make([]time.Duration, 0, b.N)
	for n := range callers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				began := time.Now()
				if err := call(); err != nil {
					b.Error(err)
					return
				}
				if callers == 1 && n == 0 {
					times = append(times, time.Since(began))
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
	if callers == 1 {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "p50-µs")
	}
}
