package fakenode

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

const hostName = "host"

// Messages to the host.
type (
	startShard struct {
		shard   int
		replyTo *actor.PID
	}
	stopShard struct {
		shard   int
		replyTo *actor.PID
	}
	release struct {
		shard int
		err   error
	}
	goDown struct {
		shard  int
		reason strategy.DownReason
		told   chan struct{} // closed when the strategy was told
	}
	die struct{}
)

// host answers requests in order and tells the strategy of shards that go down.
type host struct {
	node     *Node
	strategy strategy.Strategy
	crashed  bool
}

// Receive carries out one request.
func (h *host) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		h.node.begin()
	case *actor.Stopping:
		if !h.crashed { // else the strategy's actor, which is to be stopped now, still runs
			h.node.end()
		}
	case startShard:
		h.start(ctx, m)
	case stopShard:
		h.stop(ctx, m)
	case release:
		h.release(ctx, m)
	case goDown:
		h.node.close(m.shard, m.reason)
		h.strategy.HandleShardDown(m.shard, m.reason)
		close(m.told)
	case die:
		h.crashed = true
		panic("as told")
	}
}

func (h *host) start(ctx actor.Context, m startShard) {
	err := h.node.answer(m)
	if errors.Is(err, ErrHold) {
		return
	}
	h.reply(ctx, m.replyTo, m.shard, err)
}

// reply answers a start. Of a shard that was stopped meanwhile the strategy is told, too.
func (h *host) reply(ctx actor.Context, to *actor.PID, shard int, err error) {
	if to != nil {
		ctx.Send(to, &strategy.Started{Shard: shard, Err: err})
	}
	if errors.Is(err, strategy.ErrStopped) {
		h.strategy.HandleShardDown(shard, strategy.Stopped)
	}
}

func (h *host) release(ctx actor.Context, m release) {
	if to := h.node.unhold(m); to != nil {
		h.reply(ctx, to, m.shard, m.err)
	}
}

func (h *host) stop(ctx actor.Context, m stopShard) {
	was, opener := h.node.shut(m.shard)
	if was == held {
		ctx.Send(opener, &strategy.Started{Shard: m.shard, Err: strategy.ErrStopped})
	}
	closed := &strategy.Closed{Shard: m.shard}
	if was != open && was != held {
		closed.Err = strategy.ErrNotStarted
	}
	if m.replyTo != nil {
		ctx.Send(m.replyTo, closed)
	}
	if closed.Err == nil {
		h.strategy.HandleShardDown(m.shard, strategy.Stopped)
	}
}

// mortal is the middleware that lets an actor crash from outside.
func mortal(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(c actor.ReceiverContext, envelope *actor.MessageEnvelope) {
		if _, ok := envelope.Message.(die); ok {
			panic("as told")
		}
		next(c, envelope)
	}
}

// mortals lets the actor of a spec crash from outside, or the last one below a supervisor.
// It returns that actor, pid being the spec's.
func mortals(spec *supervision.ChildSpec, pid *actor.PID) *actor.PID {
	if spec.Supervisor == nil {
		spec.Props = append(slices.Clip(spec.Props), actor.WithReceiverMiddleware(mortal))
		return pid
	}
	below := *spec.Supervisor
	below.Children = slices.Clone(below.Children)
	spec.Supervisor = &below
	last := &below.Children[len(below.Children)-1]
	return mortals(last, supervision.PID(pid, last.Name))
}

// begin is a new life: every shard is closed.
func (n *Node) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alive = true
	n.lives++
	for i := range n.slots {
		n.slots[i] = slot{starts: n.slots[i].starts, script: n.slots[i].script}
	}
}

func (n *Node) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alive = false
}

// answer decides how a start ends.
func (n *Node) answer(m startShard) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if m.shard < 0 || m.shard >= len(n.slots) {
		return fmt.Errorf("%w: %d", strategy.ErrInvalidShard, m.shard)
	}
	s := &n.slots[m.shard]
	if s.state != closed {
		s.failed, s.others = clock.Now(), true
		return strategy.ErrAlreadyStarted
	}
	var err error
	if len(s.script) > 0 {
		err, s.script = s.script[0], s.script[1:]
	}
	if errors.Is(err, ErrHold) {
		s.state, s.holder = held, m.replyTo
		return err
	}
	s.opened(err)
	return err
}

// opened is the end of an open. One that was there already was opened by somebody else.
func (s *slot) opened(err error) {
	s.state, s.failed, s.holder = open, time.Time{}, nil
	s.others = errors.Is(err, strategy.ErrAlreadyStarted)
	if err != nil {
		s.failed = clock.Now()
		if !s.others {
			s.state = closed
		}
	}
}

func (n *Node) unhold(m release) *actor.PID {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &n.slots[m.shard]
	holder := s.holder
	if s.state == held {
		s.opened(m.err)
	}
	return holder
}

// close closes a shard that goes down. A shard that was stopped by hand may be opened
// again at once, by hand.
func (n *Node) close(shard int, reason strategy.DownReason) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.slots[shard].state = closed
	if reason != strategy.Stopped {
		if s := &n.slots[shard]; !s.others {
			s.failed = clock.Now()
		}
	}
}

// shut closes a shard because the strategy asks for it.
func (n *Node) shut(shard int) (was state, opener *actor.PID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if shard < 0 || shard >= len(n.slots) {
		return closed, nil
	}
	s := &n.slots[shard]
	was, opener = s.state, s.holder
	s.state, s.holder = closed, nil
	return was, opener
}
