package supervision

import (
	"context"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// A Ref asks a supervisor of this process from goroutines. Actors send it the messages [StartChild], [StopChild]
// and [ListChildren] instead: they must not block.
type Ref struct {
	system *actor.ActorSystem
	pid    *actor.PID
}

// At is the supervisor with this PID.
func At(system *actor.ActorSystem, supervisor *actor.PID) Ref {
	return Ref{system: system, pid: supervisor}
}

// PID is the supervisor's.
func (r Ref) PID() *actor.PID { return r.pid }

// StartChild starts a dynamic child and returns when it is ready; see [StartChildResult] for the errors. When
// ctx ends first, the error is its cause and the child may be started or not.
func (r Ref) StartChild(ctx context.Context, spec ChildSpec) (*actor.PID, error) {
	result, err := ask[*StartChildResult](ctx, r, &StartChild{Spec: spec})
	if err != nil {
		return nil, fmt.Errorf("start child %q: %w", spec.Name, err)
	}
	return result.PID, result.Err
}

// StopChild stops a child and returns when it is gone; see [StopChildResult] for the errors. When ctx ends
// first, the error is its cause and the child stops all the same.
func (r Ref) StopChild(ctx context.Context, name string) error {
	result, err := ask[*StopChildResult](ctx, r, &StopChild{Name: name})
	if err != nil {
		return fmt.Errorf("stop child %q: %w", name, err)
	}
	return result.Err
}

// Children is the supervisor's table.
func (r Ref) Children(ctx context.Context) ([]Child, error) {
	result, err := ask[*ListChildrenResult](ctx, r, &ListChildren{})
	if err != nil {
		return nil, fmt.Errorf("list children: %w", err)
	}
	return result.Children, nil
}

// ask sends a request and waits for the answer, the end of the supervisor or the end of ctx.
func ask[T any](ctx context.Context, r Ref, msg any) (answer T, err error) {
	registry := r.system.ProcessRegistry
	supervisor, ok := registry.GetLocal(r.pid.GetId())
	if !ok {
		return answer, ErrStopping
	}
	box := make(letterbox, 1)
	self, _ := registry.Add(box, "supervision"+registry.NextId())
	defer registry.Remove(self)

	supervisor.SendUserMessage(r.pid, &actor.MessageEnvelope{Message: msg, Sender: self})
	supervisor.SendSystemMessage(r.pid, &actor.Watch{Watcher: self})
	defer supervisor.SendSystemMessage(r.pid, &actor.Unwatch{Watcher: self})
	select {
	case got := <-box:
		if answer, ok = got.(T); !ok {
			return answer, ErrStopping
		}
		return answer, nil
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
}

// A letterbox is the process that takes one answer: what comes first, the supervisor's or its Terminated.
type letterbox chan any

// SendUserMessage takes the answer.
func (m letterbox) SendUserMessage(_ *actor.PID, msg any) { m.put(actor.UnwrapEnvelopeMessage(msg)) }

// SendSystemMessage takes the supervisor's Terminated.
func (m letterbox) SendSystemMessage(_ *actor.PID, msg any) { m.put(msg) }

// Stop has no effect.
func (letterbox) Stop(*actor.PID) {}

func (m letterbox) put(msg any) {
	select {
	case m <- msg:
	default:
	}
}
