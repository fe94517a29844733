package supervision

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 2 * time.Minute

// throttle is the time that a goroutine of Proto.Actor's stays after a dead letter.
const throttle = time.Millisecond

func newSystem() *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(throttle),
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
}

// within is a context for what must happen soon.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// registered counts the names in the system's registry.
func registered(system *actor.ActorSystem) int {
	n := 0
	for _, bucket := range system.ProcessRegistry.LocalPIDs.LocalPIDs {
		n += bucket.Count()
	}
	return n
}

// A fixture is a root supervisor under test and what it tells. Its tree is stopped at the end of the test, and
// then nothing of it may be registered any more.
type fixture struct {
	*Tree
	*recorder

	t      testing.TB
	system *actor.ActorSystem
}

// start starts a root supervisor named s.
func start(t testing.TB, spec Spec) *fixture {
	t.Helper()
	f := &fixture{t: t, system: newSystem(), recorder: newRecorder()}
	spec.Name, spec.Events = "s", f.add
	before := registered(f.system)
	tree, err := Start(within(t), f.system, spec)
	if err != nil {
		t.Fatal(err)
	}
	f.Tree = tree
	t.Cleanup(func() {
		_ = tree.Stop(within(t))
		select {
		case <-tree.Done():
		default:
			t.Error("the tree did not stop")
		}
		if n := registered(f.system) - before; n != 0 {
			t.Errorf("%d names are left in the registry", n)
		}
		time.Sleep(2 * throttle) // a bubble of synctest must be empty at its end
	})
	return f
}

// add starts a dynamic child.
func (f *fixture) start(spec ChildSpec) *actor.PID {
	f.t.Helper()
	pid, err := f.StartChild(within(f.t), spec)
	if err != nil {
		f.t.Fatal(err)
	}
	return pid
}

// pid is the PID of the child with this name or path.
func (f *fixture) child(path string) *actor.PID { return f.system.NewLocalPID("s/" + path) }

// tell makes an obedient child run something in its Receive.
func (f *fixture) tell(path string, what do) { f.system.Root.Send(f.child(path), what) }

// ask makes an obedient child run something and waits until it has.
func (f *fixture) ask(path string, what do) {
	f.t.Helper()
	done := make(chan struct{})
	f.tell(path, func(c actor.Context) {
		defer close(done)
		what(c)
	})
	f.await(done, path+" to answer")
}

// await waits for a signal.
func (f *fixture) await(signal <-chan struct{}, what string) {
	f.t.Helper()
	select {
	case <-signal:
	case <-time.After(patience):
		f.t.Fatalf("waited in vain for %s; events %q", what, f.lines())
	}
}

// exited waits for a child's exit.
func (f *fixture) exited(name string) ChildExited {
	f.t.Helper()
	e, _ := f.wait(f.t, name+" exits", func(e Event) bool {
		x, ok := e.(ChildExited)
		return ok && x.Child == name
	}).(ChildExited)
	return e
}

// restarted waits until a child was restarted n times.
func (f *fixture) restarted(name string, n int) {
	f.t.Helper()
	f.wait(f.t, name+" restarts", func(e Event) bool {
		x, ok := e.(ChildRestarted)
		return ok && x.Child == name && x.Restarts == n
	})
}

// state waits until a child is in this state.
func (f *fixture) state(name, state string) {
	f.t.Helper()
	for ctx := within(f.t); ; {
		list, err := f.Children(ctx)
		if err != nil {
			f.t.Fatalf("waiting for %s to be %s: %v", name, state, err)
		}
		for _, c := range list {
			if c.Name == name && c.State == state {
				return
			}
		}
	}
}

// A recorder keeps events.
type recorder struct {
	mu     sync.Mutex
	events []Event
	more   chan struct{} // closed and replaced with each event
}

func newRecorder() *recorder { return &recorder{more: make(chan struct{})} }

func (r *recorder) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	close(r.more)
	r.more = make(chan struct{})
}

// forget drops all events so far.
func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

func (r *recorder) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, len(r.events))
	for i, e := range r.events {
		out[i] = e.String()
	}
	return out
}

// find is the first event from position i on that satisfies ok, the next position and a signal for more.
func (r *recorder) find(i int, ok func(Event) bool) (Event, int, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events[i:] {
		if ok(e) {
			return e, i, r.more
		}
	}
	return nil, len(r.events), r.more
}

// wait returns the first event that satisfies ok, also one of the past.
func (r *recorder) wait(t testing.TB, what string, ok func(Event) bool) Event {
	t.Helper()
	deadline := time.After(patience)
	for i := 0; ; {
		e, next, more := r.find(i, ok)
		if e != nil {
			return e
		}
		i = next
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("waited in vain for: %s; events %q", what, r.lines())
		}
	}
}

// do is a message that an obedient actor runs in its Receive.
type do func(actor.Context)

func newObedient() actor.Actor { return actor.ReceiveFunc(obedient) }

func obedient(c actor.Context) {
	if f, ok := c.Message().(do); ok {
		f(c)
	}
}

// obedientWith is an obedient actor that passes all else to more.
func obedientWith(more func(actor.Context)) func() actor.Actor {
	return func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			obedient(c)
			more(c)
		})
	}
}
