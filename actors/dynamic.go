package actors

import (
	"context"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/supervision"
)

// StartChild starts a child that comes and goes, and returns its PID once it is ready.
// It is supervised and takes requests as the fixed children do, and counts for the same
// restart intensity; it leaves for good when it ends as its Restart allows. Errors are
// [supervision.ErrChildExists], [supervision.ErrStopping], [supervision.ErrSpec] or the
// failure of the start; when ctx ends first, the child may be started or not. Actors use
// [Shard.RequestStartChild]: they must not wait.
func (s *Shard) StartChild(ctx context.Context, spec supervision.ChildSpec) (*actor.PID, error) {
	spec, err := s.invite(spec)
	if err != nil {
		return nil, err
	}
	return s.supervisor().StartChild(ctx, spec)
}

// RequestStartChild is [Shard.StartChild] for an actor: a
// [*supervision.StartChildResult] with the tag comes as a message.
func (s *Shard) RequestStartChild(ctx actor.Context, spec supervision.ChildSpec, tag any) {
	spec, err := s.invite(spec)
	if err != nil {
		ctx.Send(ctx.Self(), &supervision.StartChildResult{Name: spec.Name, Tag: tag, Err: err})
		return
	}
	ctx.Request(s.supervisor().PID(), &supervision.StartChild{Spec: spec, Tag: tag})
}

// StopChild stops a child, a fixed one too, and returns once it is gone and its name is
// free. Errors are [supervision.ErrUnknownChild], [supervision.ErrStopping] or a
// [*supervision.AbandonedError]; when ctx ends first, it stops all the same. Actors use
// [Shard.RequestStopChild]: they must not wait.
func (s *Shard) StopChild(ctx context.Context, name string) error {
	return s.supervisor().StopChild(ctx, name)
}

// RequestStopChild is [Shard.StopChild] for an actor: a
// [*supervision.StopChildResult] with the tag comes as a message.
func (s *Shard) RequestStopChild(ctx actor.Context, name string, tag any) {
	if err := s.supervised(); err != nil {
		ctx.Send(ctx.Self(), &supervision.StopChildResult{Name: name, Tag: tag, Err: err})
		return
	}
	ctx.Request(s.supervisor().PID(), &supervision.StopChild{Name: name, Tag: tag})
}

// PID is the address of the named child in this opening, in all its incarnations; nil if
// there is no such child. Messages to it are dropped when the shard has ended.
func (s *Shard) PID(name string) *actor.PID {
	if s.inbox(name) == nil {
		return nil
	}
	return supervision.PID(s.supervisor().PID(), name)
}

// supervisor is the children's.
func (s *Shard) supervisor() supervision.Ref {
	return supervision.At(s.replies.system, supervision.PID(s.pid, childrenName))
}

// supervised says whether the children have their supervisor, not yet or no longer.
func (s *Shard) supervised() error {
	if _, there := s.replies.system.ProcessRegistry.GetLocal(s.supervisor().PID().GetId()); !there {
		return fmt.Errorf("shard %d: no child runs: %w", s.number, supervision.ErrStopping)
	}
	return nil
}

// invite is [Shard.adopt] for a child that comes while others run: without a supervisor it
// must not leave an inbox behind.
func (s *Shard) invite(spec supervision.ChildSpec) (supervision.ChildSpec, error) {
	if err := s.supervised(); err != nil {
		return spec, err
	}
	return s.adopt(spec)
}

// adopt checks the spec of a child and puts an inbox in front of it.
func (s *Shard) adopt(spec supervision.ChildSpec) (supervision.ChildSpec, error) {
	if err := (supervision.Spec{Name: childrenName, Children: []supervision.ChildSpec{spec}}).Validate(); err != nil {
		return spec, fmt.Errorf("shard %d: %w", s.number, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, exists := s.inboxes[spec.Name]; exists {
		return spec, fmt.Errorf("shard %d: child %q: %w", s.number, spec.Name, supervision.ErrChildExists)
	}
	if spec.Supervisor != nil {
		s.inboxes[spec.Name] = nil
		return spec, nil
	}
	b := &inbox{name: spec.Name, shard: s}
	spec.Props = append([]actor.PropsOption{actor.WithReceiverMiddleware(b.middleware)}, spec.Props...)
	s.inboxes[spec.Name] = b
	return spec, nil
}

// childEvent forgets the inbox of a child that is gone for good. It hears also of what is
// below the children, whose names are nobody else's concern.
func (s *Shard) childEvent(e supervision.Event) {
	if gone, ok := e.(supervision.ChildRemoved); ok && gone.Supervisor == s.supervisor().PID().GetId() {
		s.mu.Lock()
		b := s.inboxes[gone.Child]
		delete(s.inboxes, gone.Child)
		s.mu.Unlock()
		if b != nil {
			b.down(messages.ErrChildStopped)
		}
	}
	s.events(e)
}
