package actors

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/trace"

	"github.com/slap-go/slap/actors/links"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// errLate is why a request of another node does not begin any more.
var errLate = errors.New("the caller's deadline has passed")

// served is a request of another node. Nobody waits for it here: what settles it sends the
// reply.
type served struct {
	request

	node   *Node
	in     *links.Incoming
	method method
	span   trace.Span         // nil if nobody traces
	cancel context.CancelFunc // of what the handler runs with; nil for a child's
}

// late says whether nobody waits for the answer any more.
func (s *served) late() bool { return !s.in.Deadline.IsZero() && clock.Now().After(s.in.Deadline) }

// settled sends the reply.
func (s *served) settled() {
	if s.cancel != nil {
		s.cancel()
	} else {
		s.node.replies.remove(&s.request)
	}
	if s.span != nil {
		endSpan(s.span, outcomeOf(s.method, s.err), s.err)
	}
	if s.err != nil {
		s.in.Fail(s.err)
		return
	}
	s.in.Answer(s.answer)
}

// giveUp ends a request whose answer nobody waits for any more: one that has not begun
// never will.
func (s *served) giveUp(kind, cause error) {
	s.end(kind, kind, cause)
}

// Serve carries out a request of another node. It is never sent on: what is not served here
// is told so.
func (n *Node) Serve(in *links.Incoming) {
	s, err := n.owned(in)
	if err == nil {
		err = n.carryOut(s, in)
	}
	if err != nil {
		in.Fail(err)
	}
}

// LookNow tells the strategy that something has changed elsewhere.
func (n *Node) LookNow() {
	defer func() {
		if v := recover(); v != nil {
			n.config.Logger.Error("the strategy's LookNow panicked", "panic", v)
		}
	}()
	if s, ok := n.config.Strategy.(strategy.Watcher); ok {
		s.LookNow()
	}
}

// owned is the opening that serves the request.
func (n *Node) owned(in *links.Incoming) (*Shard, error) {
	if err := CheckShard(in.Shard, in.Target, len(n.table)); err != nil {
		return nil, err
	}
	switch e := n.table.get(in.Shard); e.state {
	case StateRunning:
		return e.shard, nil
	case StateClosing:
		return nil, messages.NotExecuted(in.Shard, in.Target, messages.ErrStopping, nil)
	default:
		return nil, messages.NotExecuted(in.Shard, in.Target, messages.ErrNotOwner, nil)
	}
}

// carryOut begins the request. An error says that it did not run; otherwise it is, or will
// be, settled.
func (n *Node) carryOut(s *Shard, in *links.Incoming) error {
	if in.Way == messages.Way_WAY_CALL {
		return n.serveCall(s, in)
	}
	b, err := s.front(in.Target)
	if err != nil {
		return err
	}
	switch in.Way {
	case messages.Way_WAY_ASK:
		n.serveAsk(b, in)
	case messages.Way_WAY_TELL:
		if err := b.post(in.Message); err != nil {
			return err
		}
		in.Answer(nil)
	case messages.Way_WAY_PID:
		if !s.gate.open() {
			return messages.NotExecuted(in.Shard, in.Target, s.gate.refusal(), nil)
		}
		in.Answer(b.address())
	default:
		return messages.NotExecuted(in.Shard, in.Target, messages.ErrInvalid, fmt.Errorf("%v is no way to reach a shard", in.Way))
	}
	return nil
}

func (n *Node) newServed(in *links.Incoming, m method) (*served, context.Context) {
	r := &served{node: n, in: in, method: m}
	r.shard, r.target, r.message, r.served = in.Shard, in.Target, in.Message, r
	ctx, span := n.observe.serve(in, m)
	r.span = span
	return r, ctx
}

func (n *Node) serveAsk(b *inbox, in *links.Incoming) {
	r, _ := n.newServed(in, methodAsk)
	n.replies.add(&r.request)
	b.ask(&r.request)
	in.OnGivenUp(r.giveUp)
}

func (n *Node) serveCall(s *Shard, in *links.Incoming) error {
	h := n.config.Handlers[in.Target]
	if h == nil {
		return messages.NotExecuted(in.Shard, in.Target, messages.ErrNoHandler, nil)
	}
	r, ctx := n.newServed(in, methodCall)
	if in.Deadline.IsZero() {
		ctx, r.cancel = context.WithCancel(ctx)
	} else {
		ctx, r.cancel = context.WithDeadline(ctx, in.Deadline)
	}
	s.call(ctx, &r.request, h, in.Message)
	in.OnGivenUp(r.giveUp)
	return nil
}
