package links

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/internal/oneshot"
	"github.com/slap-go/slap/messages"
)

// The life of a request on its way to another node: queued → sent → settled, or queued →
// settled. What is settled while it is queued was never sent.
const (
	queued uint32 = iota
	sent
	settled
)

// outgoing is a request on its way.
type outgoing struct {
	envelope messages.Envelope
	shard    int
	target   string
	node     string
	deadline time.Time // of the caller; zero if it has none
	conn     *conn     // that it goes through
	state    atomic.Uint32
	done     oneshot.Signal // sent when settled; the fields below are valid then
	reply    *messages.Reply
	err      *messages.RequestError
}

// wait waits for the end of the request, at most until ctx ends or, above 0, patience. It is
// to be called once.
func (o *outgoing) wait(ctx context.Context, patience time.Duration) {
	o.done.Wait(ctx, patience, func(cause error) { o.end(messages.ErrTimeout, messages.ErrTimeout, cause) })
}

// send marks the request as sent, which it is from then on. False: nobody waits for it.
func (o *outgoing) send() bool { return o.state.CompareAndSwap(queued, sent) }

// answered settles a request with what the other node says. A reply to what was not sent
// is none.
func (o *outgoing) answered(reply *messages.Reply) {
	if o.state.CompareAndSwap(sent, settled) {
		o.reply = reply
		o.done.Send()
	}
}

// end settles the request without an answer: one that was not sent was not executed, of
// the other nothing is known.
func (o *outgoing) end(unsent, lost, cause error) {
	switch {
	case o.state.CompareAndSwap(queued, settled):
		o.err = messages.NotExecuted(o.shard, o.target, unsent, cause)
	case o.state.CompareAndSwap(sent, settled):
		o.err = messages.OutcomeUnknown(o.shard, o.target, lost, cause)
	default:
		return
	}
	o.err.Node = o.node
	o.done.Send()
}

// answer is what the other node said.
func (o *outgoing) answer() (proto.Message, error) {
	if err := messages.ReplyError(o.reply, o.shard, o.target); err != nil {
		return nil, err
	}
	if o.reply.GetType() == "" {
		return nil, nil
	}
	m, kind, cause := unpack(o.reply.GetType(), o.reply.GetPayload())
	if kind == nil {
		return m, nil
	}
	err := messages.OutcomeUnknown(o.shard, o.target, kind, fmt.Errorf("the answer cannot be read: %w", cause))
	err.Node = o.node
	return nil, err
}
