package actors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// Locate is the opening of a shard that serves here, or the name of the other node that
// owns it; neither if it is unassigned. One that is open here but stopping or fenced is
// unassigned, whoever else may own it by now.
func (n *Node) Locate(shard int) (here *Shard, owner string) {
	switch e := n.table.get(shard); {
	case e.state == StateUnassigned:
		if p := n.placement(shard); !p.Here {
			return nil, p.Node
		}
	case e.state == StateRunning && e.shard.gate.open():
		return e.shard, ""
	}
	return nil, ""
}

// placement asks the strategy, whose panic is nobody's answer.
func (n *Node) placement(shard int) (p strategy.Placement) {
	defer func() {
		if v := recover(); v != nil {
			n.config.Logger.Error("the strategy's Lookup panicked", "shard", shard, "panic", v)
			p = strategy.Placement{}
		}
	}()
	return n.config.Strategy.Lookup(shard)
}

// Ask sends a message to a child of a shard and waits for its answer.
func (n *Node) Ask(ctx context.Context, shard int, child string, message proto.Message, retry Retry) (answer proto.Message, err error) {
	ctx, o := n.observe.begin(ctx, methodAsk, shard, child)
	defer func() { o.end(ctx, err) }()
	return route(ctx, n, shard, child, retry, func() (proto.Message, error) {
		b, err := n.inbox(shard, child)
		if err != nil {
			return nil, err
		}
		r := newRequest(shard, child, message)
		n.replies.add(r)
		defer n.replies.remove(r)
		b.ask(r)
		return r.wait(ctx)
	})
}

// Call runs a handler where the shard is open and waits for its answer.
func (n *Node) Call(ctx context.Context, shard int, handler string, message proto.Message, retry Retry) (answer proto.Message, err error) {
	ctx, o := n.observe.begin(ctx, methodCall, shard, handler)
	defer func() { o.end(ctx, err) }()
	return route(ctx, n, shard, handler, retry, func() (proto.Message, error) {
		s, err := n.serving(shard, handler)
		if err != nil {
			return nil, err
		}
		h := n.config.Handlers[handler]
		if h == nil {
			return nil, messages.NotExecuted(shard, handler, messages.ErrNoHandler, nil)
		}
		r := newRequest(shard, handler, message)
		s.call(ctx, r, h, message)
		return r.wait(ctx)
	})
}

// Tell sends a message to a child of a shard without waiting for anything but the way.
func (n *Node) Tell(ctx context.Context, shard int, child string, message any, retry Retry) error {
	_, err := route(ctx, n, shard, child, retry, func() (struct{}, error) {
		b, err := n.inbox(shard, child)
		if err == nil {
			if kind := b.tell(message); kind != nil {
				err = messages.NotExecuted(shard, child, kind, nil)
			}
		}
		return struct{}{}, err
	})
	return err
}

// PID is the address of a child in the shard's current opening.
func (n *Node) PID(ctx context.Context, shard int, child string, retry Retry) (*actor.PID, error) {
	return route(ctx, n, shard, child, retry, func() (*actor.PID, error) {
		b, err := n.inbox(shard, child)
		if err != nil {
			return nil, err
		}
		return supervision.PID(b.shard.supervisor().PID(), child), nil // it may be gone by now
	})
}

// route tries until the request is settled, or is no longer worth another try.
func route[T any](ctx context.Context, n *Node, shard int, target string, retry Retry, try func() (T, error)) (T, error) {
	for tries := 1; ; tries++ {
		if ctx.Err() != nil {
			var none T
			return none, messages.NotExecuted(shard, target, messages.ErrTimeout, context.Cause(ctx))
		}
		answer, err := try()
		if err == nil || n.leaving.Load() || !retry.again(tries, err) {
			return answer, err
		}
		if clock.Sleep(ctx, retry.pause(tries, rand.Int64N)) != nil {
			return answer, messages.NotExecuted(shard, target, messages.ErrTimeout, errors.Join(context.Cause(ctx), err))
		}
		n.refresh(ctx)
	}
}

// refresh lets the strategy look again where the shards are.
func (n *Node) refresh(ctx context.Context) {
	s, ok := n.config.Strategy.(strategy.Refresher)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	s.Refresh(ctx)
}

// inbox is the front of a child of a shard that serves here.
func (n *Node) inbox(shard int, child string) (*inbox, error) {
	s, err := n.serving(shard, child)
	if err != nil {
		return nil, err
	}
	if b := s.inbox(child); b != nil {
		return b, nil
	}
	return nil, messages.NotExecuted(shard, child, messages.ErrNoChild, fmt.Errorf("it has %q", s.childNames()))
}

// serving is the opening of the shard that requests go to, or why there is none.
func (n *Node) serving(shard int, target string) (*Shard, error) {
	if shard < 0 || shard >= len(n.table) {
		return nil, messages.NotExecuted(shard, target, messages.ErrInvalid,
			fmt.Errorf("there is no shard %d: shards are 0 to %d", shard, len(n.table)-1))
	}
	e := n.table.get(shard)
	switch e.state {
	case StateRunning:
		return e.shard, nil
	case StateClosing:
		return nil, messages.NotExecuted(shard, target, messages.ErrStopping, nil)
	case StateUnassigned:
		if p := n.placement(shard); !p.Here && p.Node != "" {
			err := messages.NotExecuted(shard, target, messages.ErrNoConnection, errAlone)
			err.Node = p.Node
			return nil, err
		}
	}
	return nil, messages.NotExecuted(shard, target, messages.ErrUnassigned, e.err)
}

// errAlone is why a node reaches no other.
var errAlone = errors.New("this node does not connect to others")

// wait waits for the end of the request, at most until ctx ends.
func (r *request) wait(ctx context.Context) (proto.Message, error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		r.end(messages.ErrTimeout, messages.ErrTimeout, context.Cause(ctx))
		<-r.done
	}
	return r.answer, r.err
}
