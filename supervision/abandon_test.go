package supervision

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// is makes a predicate for messages of type M.
func is[M any](msg any) bool {
	_, ok := msg.(M)
	return ok
}

// hang waits until it is released, when the message is of the kind that it hangs at. Only the first actor hangs.
type hang struct {
	at       func(any) bool
	hung     chan struct{} // closed when it hangs
	release  chan struct{}
	released chan struct{} // closed when the actor has seen its Stopped afterwards
	context  chan context.Context
	made     int
}

func newHang(at func(any) bool) *hang {
	return &hang{
		at: at, hung: make(chan struct{}), release: make(chan struct{}), released: make(chan struct{}),
		context: make(chan context.Context, 1),
	}
}

// new makes the actors of the child.
func (h *hang) new() actor.Actor {
	if h.made++; h.made > 1 {
		return newObedient()
	}
	return actor.ReceiveFunc(func(c actor.Context) {
		obedient(c)
		if is[*actor.Started](c.Message()) {
			h.context <- Context(c)
		}
		if h.at(c.Message()) {
			close(h.hung)
			<-h.release
			c.Stop(c.Self()) // all this must not reach its successor
			c.Poison(c.Self())
			Exit(c, errFenced)
			Ready(c)
		}
		if is[*actor.Stopped](c.Message()) {
			close(h.released)
		}
	})
}

// A child that hangs while it stops is abandoned when its time is over: its context ends, its name is free, its
// sibling has not noticed, and when it comes back its successor is not harmed.
func TestHangIsAbandoned(t *testing.T) {
	for name, at := range map[string]func(any) bool{
		"message":  is[string],
		"Started":  is[*actor.Started],
		"Stopping": is[*actor.Stopping],
		"Stopped":  is[*actor.Stopped],
	} {
		for _, props := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " with props"}[props], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testHang(t, newHang(at), props) })
			})
		}
	}
}

func testHang(t *testing.T, h *hang, props bool) {
	f := start(t, Spec{Children: []ChildSpec{{Name: "sibling", New: newObedient}}})
	spec := ChildSpec{Name: "a", New: h.new}
	if props {
		spec.Props = []actor.PropsOption{middleware(func(actor.ReceiverContext, any) {})}
	}
	f.system.Root.Request(f.PID(), &StartChild{Spec: spec})
	ctx := <-h.context
	f.system.Root.Send(f.child("a"), "work")
	synctest.Wait()

	began := time.Now()
	err := f.StopChild(within(t), "a")
	var lost *AbandonedError
	if !errors.As(err, &lost) || !slices.Equal(lost.Children, []string{"s/a"}) || !errors.Is(err, ErrAbandoned) {
		t.Errorf("StopChild = %v", err)
	}
	if took := time.Since(began); took != DefaultShutdown {
		t.Errorf("abandoned after %v, want %v", took, DefaultShutdown)
	}
	if cause := context.Cause(ctx); !errors.Is(cause, ErrAbandoned) {
		t.Errorf("the context's cause is %v", cause)
	}
	f.ask("sibling", func(actor.Context) {})

	f.start(ChildSpec{Name: "a", New: h.new})
	f.ask("a", func(actor.Context) {})
	close(h.release)
	f.await(h.released, "the late Stopped")
	synctest.Wait()
	f.ask("a", func(actor.Context) {})
	want := []string{
		"s/a abandoned after 5s", "s/a stopped: abandoned: did not stop in time", "s/a removed", "s/a started",
	}
	got := f.lines()
	if !slices.Equal(got[len(got)-4:], want) {
		t.Errorf("events %q, want at the end %q", got, want)
	}
	if err := f.Stop(within(t)); err != nil {
		t.Errorf("Stop = %v", err)
	}
}

// A child that ends by itself has a limited time, too: it is restarted beside what hangs.
func TestHangAfterACrashIsAbandonedAndRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHang(is[*actor.Stopping])
		f := start(t, Spec{})
		f.start(ChildSpec{Name: "a", New: h.new, Shutdown: 20 * time.Second, Restart: Transient})
		began := time.Now()
		f.tell("a", func(actor.Context) { panic(errFenced) })
		f.restarted("a", 1)
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("restarted after %v", took)
		}
		if e := f.exited("a"); !errors.Is(e.Reason, errFenced) {
			t.Errorf("exit %+v", e)
		}
		close(h.release)
		<-h.released
	})
}

// An actor whose own children hang is abandoned like one that hangs itself.
func TestHangBelowAnActor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHang(is[*actor.Stopping])
		f := start(t, Spec{})
		f.start(ChildSpec{Name: "a", New: newObedient})
		f.ask("a", func(c actor.Context) { c.Spawn(actor.PropsFromProducer(h.new)) })
		if err := f.StopChild(within(t), "a"); !errors.Is(err, ErrAbandoned) {
			t.Errorf("StopChild = %v", err)
		}
		f.start(ChildSpec{Name: "a", New: newObedient})
		close(h.release)
		<-h.released
		synctest.Wait()
		f.ask("a", func(actor.Context) {})
	})
}

// Its own children are told to stop when an abandoned actor comes back.
func TestChildrenOfAnAbandonedActorStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, release, ended := start(t, Spec{}), make(chan struct{}), make(chan struct{})
		f.start(ChildSpec{Name: "a", New: newObedient, Shutdown: time.Second})
		f.tell("a", func(c actor.Context) {
			c.Spawn(actor.PropsFromFunc(func(c actor.Context) {
				if is[*actor.Stopped](c.Message()) {
					close(ended)
				}
			}))
			<-release
		})
		synctest.Wait() // it hangs
		if err := f.StopChild(within(t), "a"); !errors.Is(err, ErrAbandoned) {
			t.Errorf("StopChild = %v", err)
		}
		close(release)
		<-ended
	})
}

// Brutal children are not waited for, and see their last callbacks all the same.
func TestBrutalStopWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung, idle := newHang(is[string]), newHang(is[string])
		f := start(t, Spec{Children: []ChildSpec{
			{Name: "hung", New: hung.new, Shutdown: Brutal}, {Name: "idle", New: idle.new, Shutdown: Brutal},
		}})
		f.system.Root.Send(f.child("hung"), "work")
		<-hung.hung
		began := time.Now()
		err := f.Stop(within(t))
		var lost *AbandonedError
		if !errors.As(err, &lost) || !slices.Contains(lost.Children, "s/hung") {
			t.Errorf("Stop = %v", err)
		}
		if took := time.Since(began); took > 2*abandonRetry {
			t.Errorf("stopped after %v", took)
		}
		<-idle.released
		close(hung.release)
		<-hung.released
	})
}

// A hang deep in the tree delays the stop by its own time only, and the owner gets its name.
func TestStopTellsWhatWasAbandonedAtAnyDepth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHang(is[*actor.Stopping])
		f := start(t, Spec{Children: []ChildSpec{
			{Name: "a", New: newObedient},
			{Name: "b", Supervisor: &Spec{Children: []ChildSpec{
				{Name: "c", Supervisor: &Spec{Children: []ChildSpec{{Name: "d", New: h.new, Shutdown: 7 * time.Second}}}},
			}}},
		}})
		began := time.Now()
		err := f.Stop(within(t))
		var lost *AbandonedError
		if !errors.As(err, &lost) || !slices.Equal(lost.Children, []string{"s/b/c/d"}) {
			t.Errorf("Stop = %v", err)
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("stopped after %v", took)
		}
		close(h.release)
		<-h.released
	})
}

// A supervisor with a time limit is not abandoned: it abandons its children, at any depth.
func TestSupervisorOverItsTimeAbandonsItsChildren(t *testing.T) {
	for name, limit := range map[string]time.Duration{"timeout": time.Second, "brutal": Brutal} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, dynamic := newHang(is[*actor.Stopping]), newHang(is[*actor.Stopping])
				f := start(t, Spec{Children: []ChildSpec{
					{Name: "b", Shutdown: limit, Supervisor: &Spec{Children: []ChildSpec{
						{Name: "c", Supervisor: &Spec{Children: []ChildSpec{{Name: "d", New: h.new, Shutdown: Infinity}}}},
					}}},
				}})
				if _, err := At(f.system, f.child("b/c")).StartChild(within(t), ChildSpec{Name: "e", New: dynamic.new}); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				err := f.StopChild(within(t), "b")
				var lost *AbandonedError
				if !errors.As(err, &lost) || !slices.Equal(lost.Children, []string{"s/b/c/e", "s/b/c/d"}) {
					t.Errorf("StopChild = %v", err)
				}
				if took := time.Since(began); took != max(limit, 0) {
					t.Errorf("stopped after %v", took)
				}
				close(h.release)
				close(dynamic.release)
				<-h.released
				<-dynamic.released
			})
		})
	}
}

// A stop takes as long as it may: Proto.Actor's own futures give up after 10 seconds.
func TestSlowStopsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(d time.Duration) func() actor.Actor {
			return obedientWith(func(c actor.Context) {
				if is[*actor.Stopping](c.Message()) {
					time.Sleep(d)
				}
			})
		}
		f := start(t, Spec{Children: []ChildSpec{
			{Name: "a", New: slow(time.Hour), Shutdown: Infinity},
			{Name: "b", New: slow(11 * time.Second), Shutdown: 12 * time.Second},
		}})
		for _, name := range []string{"x", "y", "z"} {
			f.start(ChildSpec{Name: name, New: slow(4 * time.Second)})
		}
		began := time.Now()
		if err := f.Stop(context.Background()); err != nil {
			t.Errorf("Stop = %v", err)
		}
		// The dynamic children stop side by side, the others one after the other.
		if took, want := time.Since(began), 4*time.Second+11*time.Second+time.Hour; took != want {
			t.Errorf("stopped after %v, want %v", took, want)
		}
	})
}

// A stop that the owner does not wait for goes on.
func TestStopGoesOnWithoutItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHang(is[*actor.Stopping])
		f := start(t, Spec{Children: []ChildSpec{{Name: "a", New: h.new}}})
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, errFenced)
		defer cancel()
		if err := f.Stop(ctx); !errors.Is(err, errFenced) {
			t.Errorf("Stop = %v", err)
		}
		<-f.Done()
		if err := f.Stop(within(t)); !errors.Is(err, ErrAbandoned) {
			t.Errorf("second Stop = %v", err)
		}
		close(h.release)
		<-h.released
	})
}

// A flooded child stops in time: its stop overtakes what is queued, which it never sees.
func TestFloodedChildStopsInTime(t *testing.T) {
	f := start(t, Spec{Children: []ChildSpec{{Name: "sibling", New: newObedient}}})
	handled, first, release := 0, make(chan struct{}), make(chan struct{})
	pid := f.start(ChildSpec{Name: "a", Shutdown: patience / 2, New: obedientWith(func(c actor.Context) {
		if is[int](c.Message()) {
			if handled++; handled == 1 {
				close(first)
				<-release
			}
		}
	})})
	for i := range 200_000 {
		f.system.Root.Send(pid, i)
	}
	f.await(first, "the first message")
	stopped := make(chan error, 1)
	go func() { stopped <- f.StopChild(within(t), "a") }()
	f.state("a", "stopping")
	f.ask("sibling", func(actor.Context) {})
	close(release)
	if err := <-stopped; err != nil {
		t.Errorf("StopChild = %v", err)
	}
	if handled != 1 {
		t.Errorf("%d messages were handled after the stop", handled-1)
	}
}

// A flooded supervisor hears its children and timers all the same.
func TestFloodedSupervisorSupervises(t *testing.T) {
	f := start(t, Spec{Children: []ChildSpec{{Name: "a", New: newObedient}}})
	ctx, cancel := context.WithCancel(context.Background())
	flooded := make(chan struct{})
	go func() {
		defer close(flooded)
		for ctx.Err() == nil {
			for range 1000 {
				f.system.Root.Send(f.PID(), "flood")
			}
			time.Sleep(time.Millisecond)
		}
	}()
	for i := range 3 {
		f.tell("a", func(actor.Context) { panic("boom") })
		f.restarted("a", i+1)
	}
	cancel()
	<-flooded
}
