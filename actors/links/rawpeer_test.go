package links

import (
	"context"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/slap-go/slap/messages"
)

// rawPeer speaks to a node as the test says.
type rawPeer struct{ cc *grpc.ClientConn }

func newRawPeer(t *testing.T, address string) *rawPeer {
	t.Helper()
	cc, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(1<<30), grpc.MaxCallRecvMsgSize(1<<30)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return &rawPeer{cc}
}

type rawStream struct{ grpc.ClientStream }

func (p *rawPeer) stream(t *testing.T) rawStream {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), someTime)
	t.Cleanup(cancel)
	s, err := p.cc.NewStream(ctx, streamDesc, method)
	if err != nil {
		t.Fatal(err)
	}
	return rawStream{s}
}

// linked is a stream that was greeted.
func (p *rawPeer) linked(t *testing.T) rawStream {
	t.Helper()
	s := p.stream(t)
	hello := &messages.Hello{Cluster: "the cluster", Node: "raw", Address: "127.0.0.1:1", Incarnation: "raw-1", Protocol: Protocol}
	if answer := s.exchange(t, &messages.Frames{Hello: hello}); answer.GetWelcome() == nil {
		t.Fatalf("no welcome: %v", answer)
	}
	return s
}

func (s rawStream) exchange(t *testing.T, f *messages.Frames) *messages.Frames {
	t.Helper()
	if err := s.SendMsg(f); err != nil {
		t.Fatal(err)
	}
	answer := new(messages.Frames)
	if err := s.RecvMsg(answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// rawNode is a callee that does what the test says with what comes.
func rawNode(t *testing.T, name string, do func(f *messages.Frames, send func(*messages.Frames) error) error) string {
	t.Helper()
	l := listenLoopback(t)
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		first := new(messages.Frames)
		if err := s.RecvMsg(first); err != nil {
			return err
		}
		if err := s.SendMsg(&messages.Frames{Welcome: &messages.Welcome{Node: name, Incarnation: name + "-1"}}); err != nil {
			return err
		}
		for {
			f := new(messages.Frames)
			if err := s.RecvMsg(f); err != nil {
				return err
			}
			if err := do(f, func(f *messages.Frames) error { return s.SendMsg(f) }); err != nil {
				return err
			}
		}
	}))
	serve(t, l, server)
	return l.Addr().String()
}

func serve(t *testing.T, l net.Listener, server *grpc.Server) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { server.Stop(); wg.Wait() })
}
