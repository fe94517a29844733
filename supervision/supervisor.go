package supervision

import (
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
)

// abandonRetry is the wait before another look at a child that ended just when its time was over.
const abandonRetry = 10 * time.Millisecond

// A supervisor is the actor around a [core]: it feeds it with what happens and does what it says.
//
// Proto.Actor stops all children of a stopping actor at once and ends the actor when they are gone. So it
// knows of one child only, which is the supervisor itself: a supervisor that is stopped, by whomever, stays
// until it tells itself that this child has terminated.
type supervisor struct {
	spec   Spec
	run    *child // itself, as its parent's child
	events func(Event)

	core  *core
	props *actor.Props // of all children that have none of their own
	next  *child       // what these props produce: the child that is being spawned
	ctx   actor.Context
	self  *actor.PID
}

// A signal is a child's word to its supervisor. It travels as the reason of a Failure, which is a system
// message.
type signal struct {
	from     *child
	what     signalKind
	envelope actor.Failure
}

// A killOrder tells a nested supervisor to end without waiting for its children.
type killOrder struct{}

func newSupervisor(spec Spec, run *child) *supervisor {
	s := &supervisor{spec: spec, run: run, events: spec.Events}
	if s.events == nil {
		s.events = run.parent.inherited()
	}
	return s
}

func (s *supervisor) inherited() func(Event) { return s.events }

func (s *supervisor) signal(from *child, what signalKind) {
	if what == hasEnded {
		return // Proto.Actor's Terminated follows
	}
	word := &signal{from: from, what: what}
	word.envelope.Reason = word
	s.run.post(&word.envelope)
}

// Receive handles the supervisor's own life and the requests.
func (s *supervisor) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		s.begin(ctx)
	case *actor.Stopping:
		s.core.shutdown(ErrShutdown)
	case *actor.Terminated:
		if k := s.kidOf(msg.GetWho()); k != nil {
			s.core.kidDown(clock.Now(), k, k.run.exitReason(), k.run.getLost())
		}
	case *StartChild:
		s.startChild(ctx, msg)
	case *StopChild:
		s.core.stopChild(msg.Name, s.ask(ctx, msg.Name, msg.Tag, true))
	case *ListChildren:
		s.respond(ctx.Sender(), &ListChildrenResult{Children: s.children(), Tag: msg.Tag})
	default:
		return
	}
	s.perform()
}

// HandleFailure handles the signals, and the failures that Proto.Actor reports.
func (s *supervisor) HandleFailure(
	_ *actor.ActorSystem, _ actor.Supervisor, who *actor.PID, _ *actor.RestartStatistics, reason, _ any,
) {
	switch word := reason.(type) {
	case *signal:
		if word.from.kid.run == word.from { // else it is of an incarnation that is over
			s.hear(word.from, word.what)
		}
	case killOrder:
		s.core.kill(ErrShutdown)
	default:
		s.escalated(who, reason)
	}
	s.perform()
}

// begin sets the supervisor up and starts its children.
func (s *supervisor) begin(ctx actor.Context) {
	self := ctx.Self()
	s.ctx, s.self = ctx, self
	s.core = newCore(self.GetId(), s.spec)
	s.core.silent = s.events == nil
	s.props = new(actor.Props).Configure(producing(func() *child { return s.next })...)
	latch := actor.PropsFromFunc(func(actor.Context) {}, actor.WithSpawnFunc(
		func(*actor.ActorSystem, string, *actor.Props, actor.SpawnerContext) (*actor.PID, error) {
			return self, nil
		}))
	if _, err := ctx.SpawnNamed(latch, "self"); err != nil {
		panic(err)
	}
	s.core.start()
}

// hear feeds a child's signal to the core.
func (s *supervisor) hear(from *child, what signalKind) {
	switch what {
	case isReady:
		s.core.kidReady(from.kid)
	case isLeaving:
		s.core.kidLeaving(from.kid)
	case hasVanished:
		from.abandon(s.ctx.ActorSystem())
		s.core.kidDown(clock.Now(), from.kid, from.exitReason(), nil)
	case isOverdue:
		s.overdue(from)
	case hasEnded:
	}
}

// kidOf is the kid whose present incarnation has this very PID, or nil: also for one of an earlier incarnation.
func (s *supervisor) kidOf(pid *actor.PID) *kid {
	name, _ := strings.CutPrefix(pid.GetId()[min(len(s.core.id), len(pid.GetId())):], "/")
	k := s.core.names[name]
	if k == nil || k.run == nil || k.run.pid != pid {
		return nil
	}
	return k
}

// escalated treats a failure that an actor hands upwards, from one of its own children, as its crash.
func (s *supervisor) escalated(who *actor.PID, reason any) {
	k := s.kidOf(who)
	if k == nil {
		return
	}
	k.run.leave(&PanicError{Value: reason})
	k.run.quit()
	s.core.kidLeaving(k)
}

// overdue abandons a child, except a supervisor, which the core kills.
func (s *supervisor) overdue(run *child) {
	if run.spec.Supervisor == nil && !run.abandon(s.ctx.ActorSystem()) {
		s.arm(run, abandonRetry)
		return
	}
	s.core.kidOverdue(clock.Now(), run.kid, run.exitReason())
}

// perform does what the core wants, and what comes of that.
func (s *supervisor) perform() {
	for i := 0; i < len(s.core.out); i++ { // it grows meanwhile
		s.do(s.core.out[i])
	}
	clear(s.core.out)
	s.core.out = s.core.out[:0]
}

func (s *supervisor) do(a action) {
	switch a.do {
	case doSpawn:
		s.spawn(a.kid)
	case doStop:
		a.kid.run.stop()
		s.arm(a.kid.run, a.after)
	case doArm:
		s.arm(a.kid.run, a.after)
	case doDisarm:
		a.kid.run.disarm()
		a.kid.run = nil
	case doKill:
		a.kid.run.post(&actor.Failure{Reason: killOrder{}}) // it never hangs itself
	case doEmit:
		s.publish(a.event)
	case doReply:
		s.reply(a)
	case doReady:
		s.run.announce()
	case doLeave:
		Exit(s.ctx, a.reason)
	case doFinish:
		s.run.setLost(s.core.lost)
		s.run.post(&actor.Terminated{Who: s.self})
	}
}

// spawn starts a kid's next incarnation.
func (s *supervisor) spawn(k *kid) {
	k.run = &child{spec: k.spec, parent: s, kid: k}
	s.next = k.run
	if err := k.run.spawn(s.ctx, id(s.core.id, k.spec.Name), s.props); err != nil {
		s.core.kidDown(clock.Now(), k, err, nil)
	}
}

// arm reports the child as overdue after this time: right away for zero, never for Infinity.
func (s *supervisor) arm(run *child, after time.Duration) {
	switch {
	case after <= 0:
		s.overdue(run)
	case after != Infinity:
		run.arm(after)
	}
}

// publish gives an event to the user's function. A panic in it is logged and has no other effect.
func (s *supervisor) publish(e Event) {
	defer func() {
		if v := recover(); v != nil {
			s.ctx.Logger().Error("a supervisor's Events function panicked",
				slog.String("supervisor", s.core.id), slog.String("event", e.String()), slog.Any("panic", v))
		}
	}()
	s.events(e)
}
