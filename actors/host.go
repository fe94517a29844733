package actors

import (
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// Messages to the host.
type (
	startShard struct {
		shard   int
		lease   *strategy.Lease
		replyTo *actor.PID
	}
	stopShard struct {
		shard   int
		replyTo *actor.PID
	}
	drained struct{ shard *Shard } // nothing is inside the gate, or the drain took too long
	exited  struct {               // a shard ended by itself
		name   string
		reason error
	}
)

// host starts and stops this node's shards, for the strategy, and reports those
// that go down. Opens and closes run elsewhere; the host never waits.
type host struct {
	node  *Node
	slots []slot
	names map[string]int // of the openings that are not idle
}

// slot is what the host knows of one shard.
type slot struct {
	state    slotState
	shard    *Shard
	timer    *time.Timer
	starter  *actor.PID
	stoppers []*actor.PID
	stopping bool // a stop was asked for while it opened
}

type slotState uint8

const (
	idle slotState = iota
	opens
	runs
	drains
	closes
)

// Receive carries out requests and follows what becomes of them.
func (h *host) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		h.slots = make([]slot, h.node.config.Shards)
		h.names = map[string]int{}
		h.node.table.clear()
	case startShard:
		h.start(ctx, m)
	case *supervision.StartChildResult:
		h.started(ctx, m)
	case stopShard:
		h.stop(ctx, m)
	case drained:
		h.drained(ctx, m.shard)
	case *supervision.StopChildResult:
		h.stopped(ctx, m)
	case exited:
		h.exited(m)
	case *actor.Stopping:
		h.end()
	}
}

func (h *host) start(ctx actor.Context, m startShard) {
	err := h.refuseStart(m.shard)
	if err != nil {
		answer(ctx, m.replyTo, &strategy.Started{Shard: m.shard, Err: err})
		return
	}
	shard := h.node.newShard(m.shard, m.lease)
	h.slots[m.shard] = slot{state: opens, shard: shard, starter: m.replyTo}
	h.names[shard.name()] = m.shard
	h.node.table.set(m.shard, StateOpening, nil)
	ctx.Request(h.node.shards, &supervision.StartChild{Spec: shard.spec()})
}

func (h *host) refuseStart(n int) error {
	if n < 0 || n >= len(h.slots) {
		return fmt.Errorf("%w: %d is not in 0..%d", strategy.ErrInvalidShard, n, len(h.slots)-1)
	}
	switch h.slots[n].state {
	case idle:
		if h.node.leaving.Load() || h.node.inFlight(n) {
			return strategy.ErrClosing
		}
		return nil
	case opens, runs:
		if h.slots[n].stopping {
			return strategy.ErrClosing
		}
		return strategy.ErrAlreadyStarted
	default:
		return strategy.ErrClosing
	}
}

// started says how an open ended. After a stop the supervisor's answer to that
// decides when the shard is idle again.
func (h *host) started(ctx actor.Context, m *supervision.StartChildResult) {
	n, known := h.names[m.Name]
	if !known {
		return
	}
	s := &h.slots[n]
	err := startError(m.Err)
	if s.stopping && (err == nil || errors.Is(err, strategy.ErrStopped)) {
		return // the opener is answered after the close
	}
	starter := s.starter
	s.starter = nil
	switch {
	case s.stopping:
	case err == nil:
		s.state = runs
		h.node.table.set(n, StateRunning, s.shard)
	default:
		h.free(n, err)
	}
	answer(ctx, starter, &strategy.Started{Shard: n, Err: err})
}

// startError is the failure of an open as the strategy sees it.
func startError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrFenced):
		return strategy.ErrFenced
	case errors.Is(err, supervision.ErrShutdown), errors.Is(err, supervision.ErrStopping):
		return strategy.ErrStopped
	}
	return innermost(err)
}

// innermost is why the child failed to start that took its supervisors along.
func innermost(err error) error {
	var start *supervision.StartError
	for errors.As(err, &start) && start.Reason != nil {
		err = start.Reason
	}
	return err
}

func (h *host) stop(ctx actor.Context, m stopShard) {
	if m.shard < 0 || m.shard >= len(h.slots) || h.slots[m.shard].state == idle {
		answer(ctx, m.replyTo, &strategy.Closed{Shard: m.shard, Err: strategy.ErrNotStarted})
		return
	}
	s := &h.slots[m.shard]
	s.stoppers = append(s.stoppers, m.replyTo)
	h.node.table.set(m.shard, StateClosing, nil)
	switch s.state {
	case opens:
		if !s.stopping {
			s.stopping = true
			s.shard.stop()
			h.close(ctx, s)
		}
	case runs:
		s.state = drains
		if !s.shard.gate.valid() { // it must serve no more
			s.shard.stop()
			h.close(ctx, s)
			return
		}
		h.drain(ctx, s)
	default: // it stops already
	}
}

// drain shuts the gate and waits, elsewhere, for what has begun.
func (h *host) drain(ctx actor.Context, s *slot) {
	root, self, shard := ctx.ActorSystem().Root, ctx.Self(), s.shard
	s.timer = clock.AfterFunc(h.node.config.DrainTimeout, func() { root.Send(self, drained{shard}) })
	shard.onDrained(func() { root.Send(self, drained{shard}) })
	shard.stop()
}

func (h *host) drained(ctx actor.Context, shard *Shard) {
	s := &h.slots[shard.number]
	if s.shard != shard || s.state != drains {
		return
	}
	s.timer.Stop()
	h.close(ctx, s)
}

func (h *host) close(ctx actor.Context, s *slot) {
	s.shard.handlers.cancel(messages.ErrStopping)
	if s.state == drains {
		s.state = closes
	}
	ctx.Request(h.node.shards, &supervision.StopChild{Name: s.shard.name()})
}

func (h *host) stopped(ctx actor.Context, m *supervision.StopChildResult) {
	n, known := h.names[m.Name]
	if !known {
		return
	}
	s := h.slots[n]
	h.free(n, nil)
	if s.starter != nil {
		answer(ctx, s.starter, &strategy.Started{Shard: n, Err: s.shard.stoppedOpen()})
	}
	err := s.shard.closeError()
	for _, to := range s.stoppers {
		answer(ctx, to, &strategy.Closed{Shard: n, Err: err})
	}
	h.node.config.Strategy.HandleShardDown(n, strategy.Stopped)
}

// stoppedOpen is how an open ended that a stop waited for.
func (s *Shard) stoppedOpen() error {
	if failure := s.failure.Load(); failure != nil {
		return startError(*failure)
	}
	return strategy.ErrStopped
}

// exited reports a shard that ended by itself. One that is stopping is reported
// as stopped, by the answer to the stop.
func (h *host) exited(m exited) {
	n, known := h.names[m.name]
	if !known || h.slots[n].state != runs {
		return
	}
	reason := h.slots[n].shard.downReason(m.reason)
	h.free(n, rootReason(m.reason))
	h.node.config.Strategy.HandleShardDown(n, reason)
}

// rootReason is why the actor ended that took the supervisors above it along.
func rootReason(err error) error {
	for {
		limit, ok := errors.AsType[*supervision.IntensityError](err)
		if !ok || limit.Reason == nil {
			return err
		}
		err = limit.Reason
	}
}

// free makes the shard startable again; why says what it ended with, unless that
// was asked for.
func (h *host) free(n int, why error) {
	delete(h.names, h.slots[n].shard.name())
	h.slots[n] = slot{}
	h.node.table.fail(n, why)
}

// end marks every shard, so that children can tell a shutdown from a fence. None of
// them is open once the host is there again.
func (h *host) end() {
	for n := range h.slots {
		if s := &h.slots[n]; s.state != idle {
			if s.timer != nil {
				s.timer.Stop()
			}
			s.shard.stop()
			h.node.table.set(n, StateClosing, nil)
		}
	}
}

func answer(ctx actor.Context, to *actor.PID, message any) {
	if to != nil {
		ctx.Send(to, message)
	}
}
