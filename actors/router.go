package actors

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/supervision"
)

// router is where this node's actors send their requests to shards, since they must not
// wait. Each runs in a goroutine of its own, so that none waits behind another.
type router struct {
	node   *Node
	ctx    context.Context
	cancel context.CancelCauseFunc
	over   bool // what is left in the mailbox is not delivered any more
}

// router is the spec of the node's router.
func (n *Node) router() supervision.ChildSpec {
	var next *router
	return supervision.ChildSpec{
		Name: routerName,
		Mailbox: func() actor.Mailbox {
			next = &router{node: n}
			return actor.Unbounded(next)()
		},
		New: func() actor.Actor { return next },
	}
}

// Receive begins requests and, at the end, gives them up.
func (r *router) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		r.ctx, r.cancel = context.WithCancelCause(context.Background())
	case *messages.Ask:
		r.begin(ctx, m.Tag, m.Timeout, func(ctx context.Context) (proto.Message, error) {
			if err := CheckMessage(m.Shard, m.Child, m.Message); err != nil {
				return nil, err
			}
			return r.node.Ask(ctx, m.Shard, m.Child, m.Message, r.node.config.Retry)
		})
	case *messages.Call:
		r.begin(ctx, m.Tag, m.Timeout, func(ctx context.Context) (proto.Message, error) {
			if err := CheckMessage(m.Shard, m.Handler, m.Message); err != nil {
				return nil, err
			}
			return r.node.Call(ctx, m.Shard, m.Handler, m.Message, r.node.config.Retry)
		})
	case *actor.Stopping:
		r.cancel(messages.ErrNotRunning)
	case *actor.Stopped:
		r.over = true
	}
}

// MessageReceived refuses what was in the mailbox when the router ended: Proto.Actor takes
// it out and drops it.
func (r *router) MessageReceived(message any) {
	if !r.over {
		return
	}
	_, message, to := actor.UnwrapEnvelope(message)
	if to == nil {
		return
	}
	switch m := message.(type) {
	case *messages.Ask:
		r.refuse(to, m.Tag, messages.NotExecuted(m.Shard, m.Child, messages.ErrNotRunning, nil))
	case *messages.Call:
		r.refuse(to, m.Tag, messages.NotExecuted(m.Shard, m.Handler, messages.ErrNotRunning, nil))
	}
}

func (r *router) refuse(to *actor.PID, tag any, err error) {
	r.node.system.Root.Send(to, &messages.Answered{Tag: tag, Err: err})
}

// MailboxStarted does nothing.
func (r *router) MailboxStarted() {}

// MessagePosted does nothing.
func (r *router) MessagePosted(any) {}

// MailboxEmpty does nothing.
func (r *router) MailboxEmpty() {}

func (r *router) begin(c actor.Context, tag any, timeout time.Duration, do func(context.Context) (proto.Message, error)) {
	root, to := c.ActorSystem().Root, c.Sender()
	if timeout <= 0 {
		timeout = r.node.config.CallTimeout
	}
	r.node.calls.add()
	go func() {
		defer r.node.calls.done()
		ctx, cancel := context.WithTimeout(r.ctx, timeout)
		defer cancel()
		answer, err := do(ctx)
		if to != nil {
			root.Send(to, &messages.Answered{Tag: tag, Message: answer, Err: err})
		}
	}()
}
