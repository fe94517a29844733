package links

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// serves proves that a node still answers another.
func serves(t *testing.T, from, to *node) {
	t.Helper()
	eventually(t, func() error { _, err := from.ask(context.Background(), to.Self(), "x"); return err })
}

func TestP7_2_AHostileCalleeSettlesNothingElse(t *testing.T) {
	a := startNode(t, "a")
	answer := func(id uint64, text string) *messages.Reply {
		payload, _ := proto.Marshal(wrapperspb.String(text))
		return &messages.Reply{Id: id, Type: "google.protobuf.StringValue", Payload: payload}
	}
	address := rawNode(t, "evil", func(f *messages.Frames, send func(*messages.Frames) error) error {
		for _, e := range f.GetEnvelopes() {
			replies := []*messages.Reply{answer(e.GetId()+1, "early"), answer(0, "none"), answer(1<<60, "none")}
			for n := range e.GetId() {
				replies = append(replies, answer(n, "late"))
			}
			replies = append(replies, answer(e.GetId(), "right"), answer(e.GetId(), "again"))
			if err := send(&messages.Frames{Replies: replies, Hint: true, Pong: true, Envelopes: []*messages.Envelope{{Id: 1}}}); err != nil {
				return err
			}
		}
		return nil
	})
	evil := strategy.Node{Name: "evil", Address: address}
	a.connect(t, evil)
	for n := range 50 {
		if got, err := a.ask(t.Context(), evil, "x"); err != nil || got != "right" {
			t.Fatalf("%d: %q, %v", n, got, err)
		}
	}
	if a.served.Load() != 0 {
		t.Error("what came on a link of this node's own was served")
	}
}

func TestP7_2_AnswersThatCannotBeReadAreUnknown(t *testing.T) {
	a := startNode(t, "a")
	var next *messages.Reply
	address := rawNode(t, "evil", func(f *messages.Frames, send func(*messages.Frames) error) error {
		for _, e := range f.GetEnvelopes() {
			next.Id = e.GetId()
			if err := send(&messages.Frames{Replies: []*messages.Reply{next}}); err != nil {
				return err
			}
		}
		return nil
	})
	evil := strategy.Node{Name: "evil", Address: address}
	a.connect(t, evil)
	for _, c := range []struct {
		reply *messages.Reply
		kind  error
	}{
		{&messages.Reply{Type: "no.such.Type"}, messages.ErrUnknownType},
		{&messages.Reply{Type: "google.protobuf.StringValue", Payload: []byte{0xff}}, messages.ErrInvalid},
	} {
		next = c.reply
		_, err := a.ask(t.Context(), evil, "x")
		wantError(t, err, messages.ErrOutcomeUnknown, c.kind, "evil")
	}
	next = &messages.Reply{Routing: &messages.RoutingFailure{Kind: 4_000_000_000, Node: "evil"}}
	if _, err := a.ask(t.Context(), evil, "x"); !errors.Is(err, messages.ErrNotExecuted) {
		t.Errorf("a kind of a later version: %v", err)
	}
}

func TestSPEC8_AHostileCallerHarmsNothing(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	self := a.Self()
	good := func(id uint64) *messages.Envelope {
		return &messages.Envelope{Id: id, Way: messages.Way_WAY_ASK, Target: "kv", Type: "google.protobuf.StringValue"}
	}
	for what, e := range map[string]*messages.Envelope{
		"an unknown type":       {Id: 1, Way: messages.Way_WAY_ASK, Type: "no.such.Type", Payload: []byte("x")},
		"a malformed message":   {Id: 1, Way: messages.Way_WAY_ASK, Type: "google.protobuf.StringValue", Payload: []byte{0xff}},
		"no message":            {Id: 1, Way: messages.Way_WAY_ASK},
		"a message for a PID":   {Id: 1, Way: messages.Way_WAY_PID, Type: "google.protobuf.StringValue"},
		"a type of a long name": {Id: 1, Way: messages.Way_WAY_ASK, Type: string(bytes.Repeat([]byte("x"), 1<<20))},
	} {
		s := newRawPeer(t, self.Address).linked(t)
		answer := s.exchange(t, &messages.Frames{Cluster: "the cluster", Callee: self.Incarnation, Envelopes: []*messages.Envelope{e}})
		if len(answer.GetReplies()) != 1 || messages.ReplyError(answer.GetReplies()[0], 0, "") == nil {
			t.Errorf("%s: %v", what, answer)
		} else if err := messages.ReplyError(answer.GetReplies()[0], 0, ""); !errors.Is(err, messages.ErrNotExecuted) || len(err.Error()) > 1000 {
			t.Errorf("%s: %v", what, err)
		}
	}
	if a.served.Load() != 0 {
		t.Errorf("%d of them were served", a.served.Load())
	}

	// Two requests of one number end the link.
	a.do(func(*Incoming) {})
	s := newRawPeer(t, self.Address).linked(t)
	_ = s.SendMsg(&messages.Frames{Cluster: "the cluster", Callee: self.Incarnation, Envelopes: []*messages.Envelope{good(1), good(1)}})
	if err := s.RecvMsg(new(messages.Frames)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("two of one number: %v", err)
	}
	// So does a piece that is too large, and a second greeting is nothing.
	s = newRawPeer(t, self.Address).linked(t)
	_ = s.SendMsg(&messages.Frames{Envelopes: []*messages.Envelope{{Payload: make([]byte, maxPiece+1)}}})
	if err := s.RecvMsg(new(messages.Frames)); err == nil {
		t.Error("a huge piece was taken")
	}
	s = newRawPeer(t, self.Address).linked(t)
	if answer := s.exchange(t, &messages.Frames{Hello: &messages.Hello{}, Ping: true, Pong: true, Replies: []*messages.Reply{{Id: 1}}}); !answer.GetPong() {
		t.Errorf("a ping: %v", answer)
	}
	a.do(echo)
	serves(t, b, a)
}

func TestSPEC8_ACallerThatTakesNoAnswersIsCutOff(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	large := wrapperspb.Bytes(make([]byte, 8<<20))
	a.do(func(r *Incoming) { r.Answer(large) })
	s := newRawPeer(t, a.Self().Address).linked(t)
	e := &messages.Envelope{Way: messages.Way_WAY_ASK, Type: "google.protobuf.StringValue"}
	var err error
	for id := uint64(1); err == nil && s.Context().Err() == nil; id++ {
		e.Id = id
		err = s.SendMsg(&messages.Frames{Cluster: "the cluster", Callee: a.Self().Incarnation, Envelopes: []*messages.Envelope{e}})
		time.Sleep(time.Millisecond)
	}
	if s.Context().Err() != nil { // of this side: the time is over
		t.Error("it was not")
	}
	a.do(echo)
	serves(t, b, a)
}

func TestSPEC8_GarbageAndManyConnections(t *testing.T) {
	t.Parallel()
	a, b := startNode(t, "a"), startNode(t, "b")
	var wg sync.WaitGroup
	for n := range scaled(300, 5000) {
		c, err := net.Dial("tcp", a.Self().Address)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer c.Close()
			switch n % 3 {
			case 0:
				garbage := make([]byte, 4096)
				_, _ = rand.Read(garbage)
				_, _ = c.Write(garbage)
			case 1:
				_, _ = c.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\x04\x00\x00\x00\x00\x00"))
			}
			_ = c.SetReadDeadline(time.Now().Add(10 * handshakeTime))
			if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a connection that says nothing of use stays open")
			}
		})
		if n%100 == 0 {
			serves(t, b, a)
		}
	}
	serves(t, b, a)
	wg.Wait() // the node closes them
	serves(t, b, a)
}

// batchTo is a piece of Proto.Actor's with one message.
func batchTo(address, target, typeName string, data []byte) *remote.RemoteMessage {
	return &remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: &remote.MessageBatch{
		TypeNames: []string{typeName}, Targets: []*actor.PID{{Address: address, Id: target}}, Envelopes: []*remote.MessageEnvelope{{MessageData: data}},
	}}}
}

func TestSPEC8_ProtoActorsMessagesHarmNothing(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	heard := make(chan any, 100)
	spawn := func(id string) {
		props := actor.PropsFromFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *wrapperspb.StringValue, *actor.Stopping, *actor.Stopped, *actor.PoisonPill:
				heard <- m
			}
		})
		if _, err := a.system.Root.SpawnNamed(props, id); err != nil {
			t.Fatal(err)
		}
	}
	spawn("slap/shards/7-x.1/children/kv")
	spawn("slap/host")
	spawn("slap-replies-1")
	peer := newRawPeer(t, a.Self().Address)
	stream := func() remote.Remoting_ReceiveClient {
		s, err := remote.NewRemotingClient(peer.cc).Receive(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	text, _ := proto.Marshal(wrapperspb.String("hello"))
	const stringType = "google.protobuf.StringValue"
	watch, _ := proto.Marshal(&actor.Watch{})
	good := stream()
	batch := func(target, typeName string, data []byte) *remote.RemoteMessage {
		return batchTo(a.Self().Address, target, typeName, data)
	}
	for n, m := range []*remote.RemoteMessage{
		batch("slap/shards/7-x.1/children/kv", "no.such.Type", text),
		batch("slap/shards/7-x.1/children/kv", "actor.Stop", nil),
		batch("slap/shards/7-x.1/children/kv", "actor.PoisonPill", nil),
		batch("slap/shards/7-x.1/children/kv", "actor.Terminated", nil),
		batch("slap/shards/7-x.1/children/kv", "actor.Watch", watch),
		batch("slap/host", "actor.Stop", nil),
		batch("slap/host", stringType, text),
		batch("slap-replies-1", stringType, text),
		batch(activatorID, "remote.ActorPidRequest", nil),
		batch(endpointsID, "actor.Stop", nil),
		batch(endpointsID+"/$1", stringType, text),
		{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: &remote.MessageBatch{Envelopes: []*remote.MessageEnvelope{
			{TypeId: 7, Target: -1, Sender: 3, SerializerId: 99},
		}}}},
		{MessageType: &remote.RemoteMessage_MessageBatch{}},
		{},
		batchTo(b.Self().Address, "slap/shards/7-x.1/children/kv", stringType, text),
		batchTo("", "slap/shards/7-x.1/children/kv", stringType, text),
		batch("slap/shards/7-x.1/children/kv", stringType, text),
	} {
		if err := good.Send(m); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
	}
	if m, ok := (<-heard).(*wrapperspb.StringValue); !ok || m.GetValue() != "hello" {
		t.Errorf("heard %v", m)
	}
	// What panics ends its own stream alone.
	for n, m := range []*remote.RemoteMessage{
		{MessageType: &remote.RemoteMessage_ConnectRequest{}},
		{MessageType: &remote.RemoteMessage_ConnectRequest{ConnectRequest: &remote.ConnectRequest{ConnectionType: &remote.ConnectRequest_ServerConnection{}}}},
	} {
		s := stream()
		_ = s.Send(m)
		_ = s.CloseSend()
		for {
			if _, err := s.Recv(); err != nil {
				break
			}
		}
		if _, err := remote.NewRemotingClient(peer.cc).ListProcesses(t.Context(), &remote.ListProcessesRequest{}); err == nil {
			t.Errorf("%d: processes are listed", n)
		}
	}
	if err := good.Send(batch("slap/shards/7-x.1/children/kv", stringType, text)); err != nil {
		t.Fatal(err)
	}
	if m, ok := (<-heard).(*wrapperspb.StringValue); !ok || len(heard) != 0 {
		t.Errorf("heard %v and %d more", m, len(heard))
	}
	_ = good.CloseSend()
	serves(t, b, a)
}
