package supervision

import (
	"github.com/asynkron/protoactor-go/actor"
)

// StartChild asks a supervisor to start a dynamic child: an actor calls ctx.Request(supervisor, &StartChild{…}). The
// answer, a [*StartChildResult], comes when the child is ready or has failed. Dynamic children start side by side, and stop
// all at the same time when the supervisor stops. One that ends for good leaves the table. A supervisor that
// ends with the request in its mailbox does not answer: watch it.
type StartChild struct {
	// Spec describes the child.
	Spec ChildSpec
	// Tag comes back with the answer.
	Tag any
}

// StartChildResult is the answer to [StartChild].
type StartChildResult struct {
	// Name is the child's.
	Name string
	// Tag is the request's.
	Tag any
	// PID is the child's, nil when it did not start.
	PID *actor.PID
	// Err says why it did not: a [StartError], [ErrChildExists], [ErrStopping] or [ErrSpec]; [ErrShutdown] when
	// it was stopped before it was ready.
	Err error
}

// StopChild asks a supervisor, like [StartChild], to stop a child, dynamic or not, and to take it out of its table.
// The answer, a [*StopChildResult], comes when it is gone and its name can be used again.
type StopChild struct {
	// Name is the child's.
	Name string
	// Tag comes back with the answer.
	Tag any
}

// StopChildResult is the answer to [StopChild].
type StopChildResult struct {
	// Name is the child's.
	Name string
	// Tag is the request's.
	Tag any
	// Err is nil, [ErrUnknownChild], or an [AbandonedError] when the child, or one below it, did not stop in time.
	Err error
}

// ListChildren asks a supervisor, like [StartChild], for its table. The answer is a [*ListChildrenResult].
type ListChildren struct {
	// Tag comes back with the answer.
	Tag any
}

// ListChildrenResult is the answer to [ListChildren].
type ListChildrenResult struct {
	// Children are the static ones in their order, then the dynamic ones in the order of their first start.
	Children []Child
	// Tag is the request's.
	Tag any
}

// A Child is an entry of a supervisor's table.
type Child struct {
	// Name is the child's.
	Name string
	// PID is the child's, nil while it does not run.
	PID *actor.PID
	// State is idle, starting, running, leaving (ends by itself) or stopping.
	State string
	// Restarts counts how often it was started again.
	Restarts int
	// Dynamic children were started by [StartChild].
	Dynamic bool
}

// A request waits for its answer. The core only passes it on.
type request struct {
	from *actor.PID
	name string
	tag  any
	stop bool
}

// ask notes a request and who waits for its answer.
func (s *supervisor) ask(ctx actor.Context, name string, tag any, stop bool) *request {
	if ctx.Sender() == nil {
		return nil
	}
	return &request{from: ctx.Sender(), name: name, tag: tag, stop: stop}
}

// startChild checks the spec and hands it to the core.
func (s *supervisor) startChild(ctx actor.Context, msg *StartChild) {
	if err := msg.Spec.check(s.core.auto); err != nil {
		s.respond(ctx.Sender(), &StartChildResult{Name: msg.Spec.Name, Tag: msg.Tag, Err: err})
		return
	}
	s.core.startChild(&msg.Spec, s.ask(ctx, msg.Spec.Name, msg.Tag, false))
}

// reply answers the request that the action names.
func (s *supervisor) reply(a action) {
	r := a.asked
	if r.stop {
		s.respond(r.from, &StopChildResult{Name: r.name, Tag: r.tag, Err: a.reason})
		return
	}
	result := &StartChildResult{Name: r.name, Tag: r.tag, Err: a.reason}
	if a.reason == nil {
		result.PID = a.kid.run.pid
	}
	s.respond(r.from, result)
}

func (s *supervisor) respond(to *actor.PID, answer any) {
	if to != nil {
		s.ctx.Send(to, answer)
	}
}

// children is the table for people.
func (s *supervisor) children() []Child {
	kids := s.core.all()
	list := make([]Child, len(kids))
	for i, k := range kids {
		list[i] = Child{Name: k.spec.Name, State: k.phase.String(), Restarts: k.restarts, Dynamic: k.dynamic}
		if k.phase != idle {
			list[i].PID = PID(s.self, k.spec.Name)
		}
	}
	return list
}
