package links

import (
	"io"
	"slices"
	"strings"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// sieved is a stream of Proto.Actor's messages without those that would harm the node. It
// ends in good order with the node.
type sieved struct {
	grpc.ServerStream

	door *door
	came chan *remote.RemoteMessage // closed at the end
	err  error                      // why it ended; set before came is closed
}

// sieved is the stream as Proto.Actor gets it; one of a link stays as it is.
func (d *door) sieved(stream grpc.ServerStream) grpc.ServerStream {
	if called, _ := grpc.MethodFromServerStream(stream); called == method {
		return stream
	}
	s := &sieved{ServerStream: stream, door: d, came: make(chan *remote.RemoteMessage)}
	go s.pump() // ends with the stream
	return s
}

// pump takes messages from the stream until that ends, with its handler at the latest.
func (s *sieved) pump() {
	defer close(s.came)
	for {
		m := new(remote.RemoteMessage)
		if s.err = s.ServerStream.RecvMsg(m); s.err != nil {
			return
		}
		s.door.sieve(m.GetMessageBatch())
		select {
		case s.came <- m:
		case <-s.Context().Done():
			s.err = s.Context().Err()
			return
		}
	}
}

// RecvMsg gives the next message that may come through.
func (s *sieved) RecvMsg(m any) error {
	select {
	case <-s.door.ctx.Done():
		return io.EOF
	case next, ok := <-s.came:
		if !ok {
			return s.err
		}
		into, is := m.(*remote.RemoteMessage)
		if !is {
			return status.Error(codes.Unimplemented, "there is no such method")
		}
		into.MessageType = next.GetMessageType()
		return nil
	}
}

// sieve takes out of a batch what Proto.Actor would panic at, and what is for nobody.
func (d *door) sieve(batch *remote.MessageBatch) {
	if batch == nil {
		return
	}
	before := len(batch.GetEnvelopes())
	batch.Envelopes = slices.DeleteFunc(batch.GetEnvelopes(), func(e *remote.MessageEnvelope) bool { return !d.lets(batch, e) })
	if dropped := before - len(batch.GetEnvelopes()); dropped > 0 {
		if l := d.links.Load(); l != nil {
			l.config.Logger.Debug("messages of another node are for nobody, or of no known type", "count", dropped)
		}
	}
}

func (d *door) lets(batch *remote.MessageBatch, e *remote.MessageEnvelope) bool {
	within := func(i int32, n int) bool { return i >= 0 && int(i) < n }
	if !within(e.GetTarget(), len(batch.GetTargets())) || !within(e.GetTypeId(), len(batch.GetTypeNames())) ||
		e.GetSender() != 0 && !within(e.GetSender()-1, len(batch.GetSenders())) || e.GetSerializerId() != remote.DefaultSerializerID {
		return false
	}
	name := protoreflect.FullName(batch.GetTypeNames()[e.GetTypeId()])
	known, err := protoregistry.GlobalTypes.FindMessageByName(name)
	if err != nil {
		return false
	}
	return d.open(batch.GetTargets()[e.GetTarget()], name) && whole(known, e.GetMessageData())
}

// Process ids that are not for others.
const (
	endpointsID = "EndpointSupervisor"
	activatorID = "activator"
)

// open says whether others may send such a message to the process, which must be here:
// nothing is sent on. Inside the node's tree only the shards' children take some: nobody else
// may stop or answer anything there.
func (d *door) open(to *actor.PID, name protoreflect.FullName) bool {
	id := to.GetId()
	if under(id, endpointsID) || d.own && id == activatorID {
		return false
	}
	l := d.links.Load()
	switch {
	case l == nil:
		return true
	case to.GetAddress() != l.config.System.Address():
		return false
	case strings.HasPrefix(id, l.config.Tree+"-"): // where children answer
		return false
	case !under(id, l.config.Tree):
		return true
	}
	return under(id, l.config.Tree+"/shards") && strings.Contains(id, "/children/") && !controls(name)
}

// controls says whether a message of the type would be taken as the actor system's own.
func controls(name protoreflect.FullName) bool {
	switch name {
	case "actor.Stop", "actor.PoisonPill", "actor.Terminated", "actor.DeadLetterResponse":
		return true
	}
	return false
}

func under(id, root string) bool { return id == root || strings.HasPrefix(id, root+"/") }

// whole says whether a message of the actor system's own has the PIDs that it stands on.
func whole(t protoreflect.MessageType, data []byte) bool {
	if t.Descriptor().FullName().Parent() != "actor" {
		return true
	}
	m := t.New().Interface()
	if proto.Unmarshal(data, m) != nil {
		return false
	}
	switch m := m.(type) {
	case *actor.Watch:
		return m.GetWatcher() != nil
	case *actor.Unwatch:
		return m.GetWatcher() != nil
	case *actor.Terminated:
		return m.GetWho() != nil
	}
	return true
}
