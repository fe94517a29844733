package links

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// Incoming is a request of another node. It is ended once, by Answer or Fail.
type Incoming struct {
	From    strategy.Node
	Way     messages.Way
	Shard   int
	Target  string        // the child or handler
	Message proto.Message // nil for a PID

	// Deadline is when the caller gives up; zero if it does not.
	Deadline time.Time

	TraceParent, TraceState string // W3C; empty if nobody traces

	id      uint64
	through *inbound
	over    atomic.Bool
	cancel  atomic.Pointer[func(kind, cause error)]
}

// OnGivenUp calls f, from another goroutine, when nobody waits for the answer any more: the
// deadline has passed, the caller has withdrawn the request, or its connection was lost.
// The request is still to be ended. It may be called again, also after that.
func (r *Incoming) OnGivenUp(f func(kind, cause error)) {
	r.cancel.Store(&f)
	if kind, cause := r.through.gone(); kind != nil {
		f(kind, cause)
	}
}

func (r *Incoming) giveUp(kind, cause error) {
	if f := r.cancel.Load(); f != nil {
		(*f)(kind, cause)
	}
}

// Answer ends the request with a message; nil says that a message was taken. An answer
// that cannot be sent is unknown to the caller, since the request ran.
func (r *Incoming) Answer(m proto.Message) {
	reply := &messages.Reply{}
	if m != nil {
		var kind, cause error
		if reply.Type, reply.Payload, kind, cause = pack(m); kind != nil {
			r.Fail(messages.OutcomeUnknown(r.Shard, r.Target, kind, fmt.Errorf("the request ran, but its answer cannot be sent: %w", cause)))
			return
		}
	}
	r.end(reply)
}

// Fail ends the request with an error. One of the application's that is too large to be sent
// is unknown to the caller, since the request ran.
func (r *Incoming) Fail(err error) {
	node := r.through.links.self.Name
	reply := messages.NewReplyError(node, err)
	if size := proto.Size(reply); size > MaxMessage {
		reply = messages.NewReplyError(node, messages.OutcomeUnknown(r.Shard, r.Target, messages.ErrTooLarge,
			fmt.Errorf("the request ran, but its error cannot be sent: %w", tooLarge(size))))
	}
	r.end(reply)
}

func (r *Incoming) end(reply *messages.Reply) {
	if r.over.CompareAndSwap(false, true) {
		reply.Id = r.id
		r.through.reply(reply)
	}
}

// refuse ends a request that does not come to the server.
func (r *Incoming) refuse(kind, cause error) {
	r.Fail(messages.NotExecuted(r.Shard, r.Target, kind, cause))
}

var (
	errWithdrawn = errors.New("the caller has given up")
	errWrongSelf = errors.New("the request is for another start of this node")
)
