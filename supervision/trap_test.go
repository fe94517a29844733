package supervision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// The tests of this file are about what Proto.Actor does and a supervisor must not let through; panic_test.go and
// abandon_test.go are about its panics and stops.

// Proto.Actor registers a name before the mailbox is set up: what is sent to the name at that moment ends its
// sender with a panic or comes before Started.
func TestNoMessageComesBeforeStarted(t *testing.T) {
	var early atomic.Int32
	f := start(t, Spec{Intensity: 1_000_000})
	f.start(ChildSpec{Name: "a", New: func() actor.Actor {
		started := false
		return actor.ReceiveFunc(func(c actor.Context) {
			switch c.Message().(type) {
			case *actor.Started:
				started = true
			case string:
				if !started {
					early.Add(1)
				}
				c.Stop(c.Self())
			}
		})
	}})
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for ctx.Err() == nil {
				f.system.Root.Send(f.child("a"), "by name")
			}
		})
	}
	f.restarted("a", 100)
	cancel()
	all.Wait()
	if n := early.Load(); n > 0 {
		t.Errorf("%d messages came before Started", n)
	}
}

// What comes while a child is spawned is kept in its order, behind Started.
func TestMailboxKeepsWhatIsEarly(t *testing.T) {
	var got []any
	inner := &listMailbox{posted: &got}
	m := &mailbox{owner: &child{}, inner: inner}
	m.PostUserMessage(1)
	m.PostSystemMessage(&actor.Watch{})
	m.PostUserMessage(2)
	m.RegisterHandlers(nil, nil)
	m.PostSystemMessage(&actor.Started{})
	m.Start()
	m.PostUserMessage(3)
	if want := "[*actor.Started 1 *actor.Watch 2 3]"; fmt.Sprint(got) != want {
		t.Errorf("posted %v, want %v", got, want)
	}
}

// A listMailbox lists what is posted to it.
type listMailbox struct {
	actor.Mailbox

	posted *[]any
}

func (m *listMailbox) RegisterHandlers(actor.MessageInvoker, actor.Dispatcher) {}
func (m *listMailbox) Start()                                                  {}
func (m *listMailbox) PostUserMessage(msg any)                                 { *m.posted = append(*m.posted, msg) }

func (m *listMailbox) PostSystemMessage(msg any) {
	*m.posted = append(*m.posted, fmt.Sprintf("%T", msg))
}

// Spawning under a taken name runs the producer all the same in Proto.Actor.
func TestTakenNameMakesNoActor(t *testing.T) {
	f := start(t, Spec{})
	foreign := f.system.Root.SpawnPrefix(actor.PropsFromFunc(obedient), "s/a")
	defer func() { _ = f.system.Root.StopFuture(foreign).Wait() }()
	name := foreign.Id[len("s/"):]
	_, err := f.StartChild(within(t), ChildSpec{Name: name, New: func() actor.Actor {
		t.Error("an actor was made")
		return newObedient()
	}})
	if !errors.Is(err, actor.ErrNameExists) {
		t.Errorf("StartChild = %v", err)
	}
}

// A watched child terminates twice for a parent that watches it.
func TestWatchedChildExitsOnce(t *testing.T) {
	f := start(t, Spec{Intensity: 1, Children: []ChildSpec{{Name: "a", New: newObedient}}})
	f.ask("a", func(c actor.Context) { system(c, &actor.Watch{Watcher: f.PID()}) })
	f.tell("a", func(actor.Context) { panic("boom") })
	f.restarted("a", 1)
	f.ask("a", func(actor.Context) {})
	if list, err := f.Children(within(t)); err != nil || list[0].Restarts != 1 {
		t.Errorf("children %v, %v", list, err)
	}
}

// Watchers of a child hear of its end as in Proto.Actor.
func TestWatcherOfAChildIsTold(t *testing.T) {
	f := start(t, Spec{})
	a := newAsker(t, f.system)
	pid := f.start(ChildSpec{Name: "x", New: newObedient})
	watching := make(chan struct{})
	f.system.Root.Send(a.pid, do(func(c actor.Context) {
		c.Watch(pid)
		close(watching)
	}))
	<-watching
	if err := f.StopChild(within(t), "x"); err != nil {
		t.Fatal(err)
	}
	if who := next[*actor.Terminated](t, a).Who; !who.Equal(pid) {
		t.Errorf("terminated: %v", who)
	}
}

// Also when it is abandoned, and then once.
func TestWatcherOfAnAbandonedChildIsTold(t *testing.T) {
	f := start(t, Spec{})
	a, h := newAsker(t, f.system), newHang(is[*actor.Stopping])
	pid := f.start(ChildSpec{Name: "x", New: h.new, Shutdown: time.Millisecond})
	watching := make(chan struct{})
	f.system.Root.Send(a.pid, do(func(c actor.Context) {
		c.Watch(pid)
		close(watching)
	}))
	f.await(watching, "the watch")
	if err := f.StopChild(within(t), "x"); !errors.Is(err, ErrAbandoned) {
		t.Errorf("StopChild = %v", err)
	}
	if who := next[*actor.Terminated](t, a).Who; !who.Equal(pid) {
		t.Errorf("terminated: %v", who)
	}
	close(h.release)
	f.await(h.released, "its last callback")
	f.start(ChildSpec{Name: "x", New: newObedient})
	f.ask("x", func(actor.Context) {})
	if len(a.answers) > 0 {
		t.Errorf("told again: %v", <-a.answers)
	}
}

// A supervisor that is stopped like any actor, also by a parent that stops all of its children at once, stops
// its children in reverse and one at a time.
func TestForeignStopOfASupervisorIsOrderly(t *testing.T) {
	for name, stop := range map[string]func(*actor.ActorSystem, *actor.PID){
		"stop":   func(s *actor.ActorSystem, pid *actor.PID) { s.Root.Stop(pid) },
		"poison": func(s *actor.ActorSystem, pid *actor.PID) { s.Root.Poison(pid) },
		"restart": func(s *actor.ActorSystem, pid *actor.PID) {
			p, _ := s.ProcessRegistry.GetLocal(pid.Id)
			p.SendSystemMessage(pid, &actor.Restart{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, Spec{Children: []ChildSpec{{Name: "a", New: newObedient}, {Name: "b", New: newObedient}}})
			stop(f.system, f.PID())
			f.await(f.Done(), "the end")
			want := []string{"s/b stopped: shutdown", "s/a stopped: shutdown"}
			if lines := f.lines(); !slices.Equal(lines[3:5], want) {
				t.Errorf("events %q", lines)
			}
			if f.Err() == nil {
				t.Error("no reason")
			}
		})
	}
}

// A stop by somebody else is a normal exit to the supervisor.
func TestForeignStopOfAChildIsANormalExit(t *testing.T) {
	f := start(t, Spec{Children: []ChildSpec{{Name: "a", New: newObedient}}})
	f.system.Root.Stop(f.child("a"))
	if e := f.exited("a"); e.Reason != nil || e.Asked {
		t.Errorf("exit %+v", e)
	}
	f.restarted("a", 1)
}

// The props of a child are kept: its middleware sees the messages, its decorator is the context's outermost type,
// its mailbox is used; what would break supervision is not.
func TestPropsOfAChild(t *testing.T) {
	type decorated struct{ actor.Context }
	var seen []string
	made := 0
	f := start(t, Spec{})
	f.start(ChildSpec{
		Name: "a", New: obedientWith(func(c actor.Context) {
			if _, ok := c.(*decorated); !ok {
				t.Errorf("the context is a %T", c)
			}
		}),
		Mailbox: func() actor.Mailbox {
			made++
			return actor.UnboundedLockfree()()
		},
		Props: []actor.PropsOption{
			middleware(func(_ actor.ReceiverContext, msg any) { seen = append(seen, fmt.Sprintf("%T", msg)) }),
			actor.WithContextDecorator(func(next actor.ContextDecoratorFunc) actor.ContextDecoratorFunc {
				return func(c actor.Context) actor.Context { return &decorated{next(c)} }
			}),
			actor.WithDispatcher(actor.NewSynchronizedDispatcher(1)),
			actor.WithProducer(func() actor.Actor { return nil }),
			actor.WithGuardian(actor.DefaultSupervisorStrategy()),
			actor.WithMailbox(func() actor.Mailbox { return nil }),
		},
	})
	f.ask("a", func(c actor.Context) { Ready(c) })
	if err := f.StopChild(within(t), "a"); err != nil {
		t.Fatal(err)
	}
	want := []string{"*actor.Started", "supervision.do", "*actor.Stopping", "*actor.Stopped"}
	if !slices.Equal(seen, want) || made != 1 {
		t.Errorf("seen %q, mailboxes %d", seen, made)
	}
}

// An actor's own children, without a supervisor of this package, have Proto.Actor's supervision.
func TestChildrenOfAnActorAreProtoActors(t *testing.T) {
	f, started := start(t, Spec{Children: []ChildSpec{{Name: "a", New: newObedient}}}), make(chan struct{}, 2)
	f.ask("a", func(c actor.Context) {
		c.Send(c.Spawn(actor.PropsFromFunc(func(c actor.Context) {
			obedient(c)
			if is[*actor.Started](c.Message()) {
				started <- struct{}{}
			}
		})), do(func(actor.Context) { panic("boom") }))
	})
	f.await(started, "its child")
	f.await(started, "its child's restart")
	f.ask("a", func(actor.Context) {})
	if list, err := f.Children(within(t)); err != nil || list[0].Restarts != 0 {
		t.Errorf("children %v, %v", list, err)
	}
}

// A panic in a continuation that an abandoned actor runs late must not suspend its successor.
func TestLatePanicOfAnAbandonedActor(t *testing.T) {
	f, release, returned := start(t, Spec{}), make(chan struct{}), make(chan struct{})
	f.start(ChildSpec{Name: "a", New: obedientWith(func(c actor.Context) {
		if is[*actor.Stopped](c.Message()) {
			close(returned)
		}
	}), Shutdown: 1})
	inside := make(chan struct{})
	f.tell("a", func(c actor.Context) {
		future := actor.NewFuture(c.ActorSystem(), patience)
		c.ReenterAfter(future, func(any, error) {
			close(inside)
			<-release
			panic("late")
		})
		c.Send(future.PID(), "done")
	})
	f.await(inside, "the continuation")
	if err := f.StopChild(within(t), "a"); !errors.Is(err, ErrAbandoned) {
		t.Errorf("StopChild = %v", err)
	}
	f.start(ChildSpec{Name: "a", New: newObedient})
	close(release)
	f.await(returned, "its last callback")
	f.ask("a", func(actor.Context) {})
}
