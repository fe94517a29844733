package actors

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/actors/links"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// Locate is the opening of a shard that serves here, or the name of the other node that
// owns it; neither if it is unassigned. One that is open here but stopping or fenced is
// unassigned, whoever else may own it by now.
func (n *Node) Locate(shard int) (here *Shard, owner string) {
	switch e := n.table.get(shard); {
	case e.state == StateUnassigned:
		return nil, n.elsewhere(shard).Owner.Name
	case e.serves():
		return e.shard, ""
	}
	return nil, ""
}

// elsewhere is where a shard is that is not open here, by the strategy, whose panic is
// nobody's answer; without an owner's name no other node has it.
func (n *Node) elsewhere(shard int) (at strategy.Placement) {
	defer func() {
		if v := recover(); v != nil {
			n.config.Logger.Error("the strategy's Lookup panicked", "shard", shard, "panic", v)
			at = strategy.Placement{}
		}
	}()
	if p := n.config.Strategy.Lookup(shard); !p.Here && p.Owner.Name != n.config.Name {
		return p
	}
	return strategy.Placement{}
}

// Ask sends a message to a child of a shard and waits for its answer, for CallTimeout if
// ctx has no deadline.
func (n *Node) Ask(ctx context.Context, shard int, child string, message proto.Message, retry Retry) (answer proto.Message, err error) {
	ctx, o := n.observe.begin(ctx, methodAsk, shard, child)
	defer func() { o.end(ctx, err) }()
	patience := n.patience(ctx)
	began := clock.Now()
	answer, err = n.ask(ctx, patience, shard, child, message)
	if err == nil || !n.again(retry, 1, err) {
		return answer, err
	}
	if patience > 0 { // a context with a deadline costs more than all the rest: only who tries again pays for it
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience-clock.Since(began))
		defer cancel()
	}
	return tryAgain(ctx, n, shard, child, retry, err, func() (proto.Message, error) {
		return n.ask(ctx, 0, shard, child, message)
	})
}

// ask tries once. Patience bounds the wait if ctx does not.
func (n *Node) ask(ctx context.Context, patience time.Duration, shard int, child string, message proto.Message) (proto.Message, error) {
	if ctx.Err() != nil {
		return nil, expired(ctx, shard, child)
	}
	b, owner, err := n.inbox(shard, child)
	switch {
	case err != nil:
		return nil, err
	case b == nil:
		return n.remote(ctx, patience, owner, links.Request{Way: messages.Way_WAY_ASK, Shard: shard, Target: child, Message: message})
	}
	r := newRequest(shard, child, message)
	n.replies.add(r)
	b.ask(r)
	answer, err := r.wait(ctx, patience)
	n.replies.remove(r)
	return answer, err
}

// Call runs a handler where the shard is open and waits for its answer, for CallTimeout
// if ctx has no deadline.
func (n *Node) Call(ctx context.Context, shard int, handler string, message proto.Message, retry Retry) (answer proto.Message, err error) {
	ctx, o := n.observe.begin(ctx, methodCall, shard, handler)
	defer func() { o.end(ctx, err) }()
	return route(ctx, n, shard, handler, retry, func(ctx context.Context) (proto.Message, error) {
		s, owner, err := n.serving(shard, handler)
		switch {
		case err != nil:
			return nil, err
		case s == nil:
			return n.remote(ctx, 0, owner, links.Request{Way: messages.Way_WAY_CALL, Shard: shard, Target: handler, Message: message})
		}
		h := n.config.Handlers[handler]
		if h == nil {
			return nil, messages.NotExecuted(shard, handler, messages.ErrNoHandler, nil)
		}
		r := newRequest(shard, handler, message)
		s.call(ctx, r, h, message)
		return r.wait(ctx, 0)
	})
}

// Tell sends a message to a child of a shard without waiting for anything but the way.
func (n *Node) Tell(ctx context.Context, shard int, child string, message proto.Message, retry Retry) error {
	_, err := route(ctx, n, shard, child, retry, func(ctx context.Context) (proto.Message, error) {
		b, owner, err := n.inbox(shard, child)
		switch {
		case err != nil:
			return nil, err
		case b == nil:
			return n.remote(ctx, 0, owner, links.Request{Way: messages.Way_WAY_TELL, Shard: shard, Target: child, Message: message})
		}
		return nil, b.post(message)
	})
	return err
}

// PID is the address of a child in the shard's current opening.
func (n *Node) PID(ctx context.Context, shard int, child string, retry Retry) (*actor.PID, error) {
	return route(ctx, n, shard, child, retry, func(ctx context.Context) (*actor.PID, error) {
		b, owner, err := n.inbox(shard, child)
		switch {
		case err != nil:
			return nil, err
		case b == nil:
			answer, err := n.remote(ctx, 0, owner, links.Request{Way: messages.Way_WAY_PID, Shard: shard, Target: child})
			pid, _ := answer.(*actor.PID)
			return pid, err
		}
		return b.address(), nil
	})
}

// route tries until the request is settled, or is no longer worth another try, with a
// context that ends.
func route[T any](
	ctx context.Context, n *Node, shard int, target string, retry Retry, try func(context.Context) (T, error),
) (T, error) {
	if patience := n.patience(ctx); patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	if ctx.Err() != nil {
		var none T
		return none, expired(ctx, shard, target)
	}
	answer, err := try(ctx)
	if err == nil {
		return answer, nil
	}
	return tryAgain(ctx, n, shard, target, retry, err, func() (T, error) { return try(ctx) })
}

// tryAgain goes on after a first try that ended with err.
func tryAgain[T any](
	ctx context.Context, n *Node, shard int, target string, retry Retry, err error, try func() (T, error),
) (answer T, _ error) {
	for tries := 1; err != nil && n.again(retry, tries, err); tries++ {
		if clock.Sleep(ctx, retry.pause(tries, rand.Int64N)) == nil {
			n.refresh(ctx, shard)
		}
		if ctx.Err() != nil {
			return answer, messages.NotExecuted(shard, target, messages.ErrTimeout, errors.Join(context.Cause(ctx), err))
		}
		answer, err = try()
	}
	return answer, err
}

func (n *Node) again(retry Retry, tries int, err error) bool {
	return !n.leaving.Load() && retry.again(tries, err)
}

// patience is how long a request waits that has no deadline of its own; 0 if it has one.
func (n *Node) patience(ctx context.Context) time.Duration {
	if _, ok := ctx.Deadline(); ok {
		return 0
	}
	return n.config.CallTimeout
}

func expired(ctx context.Context, shard int, target string) error {
	return messages.NotExecuted(shard, target, messages.ErrTimeout, context.Cause(ctx))
}

// refresh lets the strategy look again where the shards are.
func (n *Node) refresh(ctx context.Context, shard int) {
	s, ok := n.config.Strategy.(strategy.Refresher)
	if !ok {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			n.config.Logger.Error("the strategy's Refresh panicked", "panic", v)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	s.Refresh(ctx, shard)
}

// inbox is the front of a child of a shard that serves here, or, if it is nil, the node
// that the request goes to.
func (n *Node) inbox(shard int, child string) (*inbox, strategy.Node, error) {
	s, owner, err := n.serving(shard, child)
	if s == nil {
		return nil, owner, err
	}
	b, err := s.front(child)
	return b, owner, err
}

// serving is the opening of the shard that requests go to, or, if it is nil, the node that
// they go to; or why there is neither.
func (n *Node) serving(shard int, target string) (*Shard, strategy.Node, error) {
	if err := CheckShard(shard, target, len(n.table)); err != nil {
		return nil, strategy.Node{}, err
	}
	e := n.table.get(shard)
	switch e.state {
	case StateRunning:
		return e.shard, strategy.Node{}, nil
	case StateClosing:
		return nil, strategy.Node{}, messages.NotExecuted(shard, target, messages.ErrStopping, nil)
	case StateUnassigned:
		if owner := n.elsewhere(shard).Owner; owner.Name != "" {
			return nil, owner, nil
		}
	}
	return nil, strategy.Node{}, messages.NotExecuted(shard, target, messages.ErrUnassigned, e.err)
}
