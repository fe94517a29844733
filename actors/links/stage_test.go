package links

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

const (
	someTime = 30 * time.Second // enough on any machine
	nobody   = "127.0.0.1:1"    // a port that no program is given
)

func newSystem() *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
}

// book lets everybody be called, but for those with an error.
type book struct {
	mu        sync.Mutex
	addresses map[string]string
	refused   error
}

func (b *book) Address(name string) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	address, ok := b.addresses[name]
	return address, ok
}

func (b *book) Allows(string, string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// node is a node with a server that does what the test says.
type node struct {
	*Links

	system *actor.ActorSystem
	book   *book
	hints  chan struct{}
	served atomic.Int64
	does   atomic.Pointer[func(*Incoming)]
	mu     sync.Mutex
	events []messages.Event
}

func (n *node) Serve(r *Incoming) {
	n.served.Add(1)
	(*n.does.Load())(r)
}

func (n *node) LookNow() {
	select {
	case n.hints <- struct{}{}:
	default:
	}
}

func (n *node) do(f func(*Incoming)) { n.does.Store(&f) }

func echo(r *Incoming) { r.Answer(r.Message) }

var starts atomic.Int64

// startNode starts a node, which ends with the test.
func startNode(t *testing.T, name string, options ...func(*Config)) *node {
	t.Helper()
	n, err := tryNode(name, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.close(t) })
	return n
}

func tryNode(name string, options ...func(*Config)) (*node, error) {
	n := &node{system: newSystem(), book: &book{addresses: map[string]string{}}, hints: make(chan struct{}, 1)}
	n.do(echo)
	c := Config{
		Cluster: "the cluster", Node: name, Incarnation: fmt.Sprintf("%s-%d", name, starts.Add(1)), Tree: "slap",
		System: n.system, Listen: "127.0.0.1:0", Peers: n.book, Logger: slog.New(slog.DiscardHandler),
		Publish: func(e messages.Event) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.events = append(n.events, e)
		},
		Origin: func() messages.Origin { return messages.Origin{Cluster: "test", Time: time.Now()} },
	}
	for _, o := range options {
		o(&c)
	}
	var err error
	n.Links, err = Start(c)
	if err != nil {
		n.system.Shutdown()
		return nil, err
	}
	n.Links.Serve(n)
	return n, nil
}

func (n *node) close(t *testing.T) {
	t.Helper()
	if n.system.IsStopped() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), someTime)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		t.Error(err)
	}
	n.system.Shutdown()
}

// told waits for events of these names, in order, and no others.
func (n *node) told(t *testing.T, want ...string) {
	t.Helper()
	names := func() (names []string) {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, e := range n.events {
			names = append(names, e.Name())
		}
		return names
	}
	eventually(t, func() error {
		if got := names(); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("events %v, want %v", got, want)
		}
		return nil
	})
}

func eventually(t *testing.T, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(someTime); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// connect has a connection made, however long that takes: a request waits a second for it.
func (n *node) connect(t *testing.T, to strategy.Node) {
	t.Helper()
	eventually(t, func() error { _, err := n.link(to).await(t.Context(), 0); return err })
}

// connected are two nodes, of which the first has a connection to the second.
func connected(t *testing.T) (a, b *node) {
	t.Helper()
	a, b = startNode(t, "a"), startNode(t, "b")
	a.connect(t, b.Self())
	return a, b
}

// ask sends a text to a node and returns the text that comes back.
func (n *node) ask(ctx context.Context, to strategy.Node, text string) (string, error) {
	answer, err := n.Do(ctx, someTime, to, request(messages.Way_WAY_ASK, wrapperspb.String(text)))
	if err != nil {
		return "", err
	}
	return answer.(*wrapperspb.StringValue).GetValue(), nil
}

func request(way messages.Way, m proto.Message) Request {
	return Request{Way: way, Shard: 7, Target: "kv", Message: m}
}

func listenLoopback(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// strange is a message of a type that the program does not know.
func strange(t *testing.T) proto.Message {
	t.Helper()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("strange.proto"), Package: proto.String("strange"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Strange")}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dynamicpb.NewMessage(file.Messages().Get(0))
}

// scaled is a number of rounds, and the larger one with SLAP_STRESS=1.
func scaled(short, long int) int {
	if os.Getenv("SLAP_STRESS") == "1" {
		return long
	}
	return short
}
