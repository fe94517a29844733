package supervision

import (
	"context"
	"fmt"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// A Tree is a running root supervisor and all that is below it. Its owner gets the exit reason that a parent
// supervisor would get.
type Tree struct {
	Ref

	run   *child
	ready chan struct{}
	done  chan struct{}
	once  sync.Once
	err   error // set before done is closed
}

// Start starts a root supervisor and returns when all of its children are ready. An error means that nothing of
// it runs any more: the spec is bad (it is [ErrSpec]), the name is taken, a child failed to start, or ctx ended,
// in which case what had started was stopped first. What was abandoned on the way is an [AbandonedError] in it.
func Start(ctx context.Context, system *actor.ActorSystem, spec Spec) (*Tree, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	name := spec.Name
	if name == "" {
		name = "supervisor" + system.ProcessRegistry.NextId()
	}
	t := &Tree{ready: make(chan struct{}), done: make(chan struct{})}
	t.run = &child{spec: &ChildSpec{Name: name, Supervisor: &spec}, parent: t}
	if err := t.run.spawn(system.Root, name, new(actor.Props).Configure(producing(func() *child { return t.run })...)); err != nil {
		return nil, fmt.Errorf("start supervisor %q: %w", name, err)
	}
	t.Ref = At(system, t.run.pid)
	if err := t.started(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// started waits until the tree is ready, or stops it when ctx ends.
func (t *Tree) started(ctx context.Context) error {
	select {
	case <-t.ready:
		return nil
	case <-t.done:
		return t.failure(t.err)
	case <-ctx.Done():
		_ = t.Stop(context.WithoutCancel(ctx))
		return t.failure(context.Cause(ctx))
	}
}

// failure is the error of a start that failed for this reason.
func (t *Tree) failure(reason error) error {
	if lost := abandoned(t.run.getLost()); lost != nil {
		return fmt.Errorf("start supervisor %q: %w; %w", t.run.spec.Name, reason, lost)
	}
	return fmt.Errorf("start supervisor %q: %w", t.run.spec.Name, reason)
}

// Done is closed when the root supervisor has ended.
func (t *Tree) Done() <-chan struct{} { return t.done }

// Err is nil while the supervisor runs and its exit reason afterwards, never nil: [ErrShutdown] after Stop.
func (t *Tree) Err() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

// Stop stops the children in reverse order and then the supervisor. It returns an [AbandonedError] when some did
// not stop in time, and the cause of ctx when that ends first; the stop goes on all the same. A second call waits
// for the same end.
func (t *Tree) Stop(ctx context.Context) error {
	t.once.Do(t.run.quit)
	select {
	case <-t.done:
		return abandoned(t.run.getLost())
	case <-ctx.Done():
		return fmt.Errorf("stop supervisor %q: %w", t.run.spec.Name, context.Cause(ctx))
	}
}

func (t *Tree) inherited() func(Event) { return nil }

// signal takes the root supervisor's signals.
func (t *Tree) signal(from *child, what signalKind) {
	switch what {
	case isReady:
		close(t.ready)
	case hasEnded:
		t.err = from.exitReason()
		close(t.done)
	case isLeaving, hasVanished, isOverdue:
	}
}
