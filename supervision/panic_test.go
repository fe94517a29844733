package supervision

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// A panicky actor runs the function for the message's type and is obedient otherwise.
type panicky struct {
	on func(actor.Context)
}

func (p panicky) Receive(c actor.Context) {
	obedient(c)
	p.on(c)
}

// strategist is an actor whose own supervision panics.
type strategist struct{ panicky }

func (strategist) HandleFailure(
	*actor.ActorSystem, actor.Supervisor, *actor.PID, *actor.RestartStatistics, any, any,
) {
	panic("boom")
}

// panicOn panics at messages of type M.
func panicOn[M any](c actor.Context) {
	if _, ok := c.Message().(M); ok {
		panic("boom")
	}
}

func newPanicky(on func(actor.Context)) func() actor.Actor {
	return func() actor.Actor { return panicky{on} }
}

// TestPanicInACallbackIsACrash: whatever panics in a child, the child crashes and is restarted, its sibling has
// nothing to do with it, and the tree stops. Proto.Actor revives an actor that panics in Stopping, and one that
// panics in Stopped hangs its parent for ever.
func TestPanicInACallbackIsACrash(t *testing.T) {
	quiet := func(actor.Context) {}
	boom := func(actor.Context) { panic("boom") }
	for name, test := range map[string]struct {
		spec    ChildSpec
		provoke do // what makes it panic; it ends by itself afterwards
	}{
		"message":  {ChildSpec{New: newObedient}, boom},
		"Stopping": {ChildSpec{New: newPanicky(panicOn[*actor.Stopping])}, func(c actor.Context) { c.Stop(c.Self()) }},
		"Stopped":  {ChildSpec{New: newPanicky(panicOn[*actor.Stopped])}, func(c actor.Context) { Exit(c, nil) }},
		"both": {
			ChildSpec{New: newPanicky(func(c actor.Context) { panicOn[*actor.Stopping](c); panicOn[*actor.Stopped](c) })}, boom,
		},
		"ReceiveTimeout": {
			ChildSpec{New: newPanicky(panicOn[*actor.ReceiveTimeout])},
			func(c actor.Context) { c.SetReceiveTimeout(time.Millisecond) },
		},
		"Restarting": {
			ChildSpec{New: newPanicky(panicOn[*actor.Restarting])},
			func(c actor.Context) { system(c, &actor.Restart{}) },
		},
		"restarted by Proto.Actor": {ChildSpec{New: newObedient}, func(c actor.Context) { system(c, &actor.Restart{}) }},
		"child of its own terminated": {
			ChildSpec{New: newPanicky(panicOn[*actor.Terminated])},
			func(c actor.Context) { c.Stop(c.Spawn(actor.PropsFromFunc(quiet))) },
		},
		"its own supervision": {
			ChildSpec{New: func() actor.Actor { return strategist{panicky{quiet}} }},
			func(c actor.Context) { c.Send(c.Spawn(actor.PropsFromFunc(obedient)), do(boom)) },
		},
		"continuation": {ChildSpec{New: newObedient}, func(c actor.Context) {
			done := actor.NewFuture(c.ActorSystem(), patience)
			c.ReenterAfter(done, func(any, error) { panic("boom") })
			c.Send(done.PID(), "done")
		}},
		"escalated by its own strategy": {
			ChildSpec{New: func() actor.Actor { return escalating{panicky{quiet}} }},
			func(c actor.Context) { c.Send(c.Spawn(actor.PropsFromFunc(obedient)), do(boom)) },
		},
		"middleware": {
			ChildSpec{New: newObedient, Props: []actor.PropsOption{middleware(func(_ actor.ReceiverContext, msg any) {
				if _, ok := msg.(do); ok {
					panic("boom")
				}
			})}}, quiet,
		},
		"middleware at Stopped": {
			ChildSpec{New: newObedient, Props: []actor.PropsOption{middleware(func(_ actor.ReceiverContext, msg any) {
				if _, ok := msg.(*actor.Stopped); ok {
					panic("boom")
				}
			})}}, func(c actor.Context) { Exit(c, nil) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := test.spec
			spec.Name, spec.Restart = "a", Transient
			f := start(t, Spec{Children: []ChildSpec{{Name: "sibling", New: newObedient}, spec}})
			f.tell("a", test.provoke)
			if e := f.exited("a"); !IsCrash(e.Reason) || e.Asked || !e.Ready {
				t.Errorf("exit %+v", e)
			}
			f.restarted("a", 1)
			f.ask("sibling", quiet)
			if err := f.Stop(within(t)); err != nil {
				t.Errorf("Stop = %v", err)
			}
			for _, line := range f.lines() {
				if strings.HasPrefix(line, "s/sibling") && line != "s/sibling started" && line != "s/sibling stopped: shutdown" {
					t.Errorf("the sibling was harmed: %s", line)
				}
			}
		})
	}
}

// system sends the actor a system message.
func system(c actor.Context, msg any) {
	if process, ok := c.ActorSystem().ProcessRegistry.GetLocal(c.Self().Id); ok {
		process.SendSystemMessage(c.Self(), msg)
	}
}

// middleware calls before in front of each message.
func middleware(before func(actor.ReceiverContext, any)) actor.PropsOption {
	return actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
		return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
			before(c, env.Message)
			next(c, env)
		}
	})
}

// escalating is an actor that hands its children's failures to its supervisor.
type escalating struct{ panicky }

func (escalating) HandleFailure(
	_ *actor.ActorSystem, sv actor.Supervisor, _ *actor.PID, _ *actor.RestartStatistics, reason, msg any,
) {
	sv.EscalateFailure(reason, msg)
}

// brokenMailbox panics once the actor's name is registered.
type brokenMailbox struct{ actor.Mailbox }

// TestPanicInAStartIsAFailedStart: the same before a child is ready.
func TestPanicInAStartIsAFailedStart(t *testing.T) {
	var notOne actor.PropsOption
	boom := func(actor.Context) { panic(errFenced) }
	for name, spec := range map[string]ChildSpec{
		"New":            {New: func() actor.Actor { panic(errFenced) }},
		"New is nil":     {New: func() actor.Actor { return nil }},
		"Started":        {New: newPanicky(panicOn[*actor.Started])},
		"failure":        {New: newPanicky(func(c actor.Context) { Fail(c, errFenced) })},
		"exit":           {New: newPanicky(func(c actor.Context) { Exit(c, errFenced) })},
		"manual exit":    {Ready: Manual, New: newPanicky(func(c actor.Context) { Exit(c, nil) })},
		"manual stop":    {Ready: Manual, New: newPanicky(func(c actor.Context) { c.Stop(c.Self()) })},
		"nested":         {Supervisor: &Spec{Children: []ChildSpec{{Name: "x", New: newPanicky(panicOn[*actor.Started])}}}},
		"OnInit":         {New: newObedient, Props: []actor.PropsOption{actor.WithOnInit(boom)}},
		"mailbox":        {New: newObedient, Mailbox: func() actor.Mailbox { panic(errFenced) }},
		"mailbox is nil": {New: newObedient, Mailbox: func() actor.Mailbox { return nil }},
		"broken mailbox": {New: newObedient, Mailbox: func() actor.Mailbox { return brokenMailbox{} }},
		"decorator": {New: newObedient, Shutdown: time.Millisecond, Props: []actor.PropsOption{
			actor.WithContextDecorator(func(actor.ContextDecoratorFunc) actor.ContextDecoratorFunc {
				return func(actor.Context) actor.Context { panic(errFenced) }
			}),
		}},
		"nil option": {New: newObedient, Props: []actor.PropsOption{notOne}},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, Spec{Children: []ChildSpec{{Name: "sibling", New: newObedient}}})
			spec.Name = "a"
			before := registered(f.system)
			pid, err := f.StartChild(within(t), spec)
			var failed *StartError
			if !errors.As(err, &failed) || failed.Child != "a" || pid != nil {
				t.Errorf("StartChild = %v, %v", pid, err)
			}
			f.ask("sibling", func(actor.Context) {})
			f.start(ChildSpec{Name: "a", New: newObedient}) // its name is free
			if err := f.StopChild(within(t), "a"); err != nil {
				t.Errorf("StopChild = %v", err)
			}
			if n := registered(f.system); n > before {
				t.Errorf("%d names are left in the registry", n-before)
			}
		})
	}
}

// TestLastCallbacksOfACrashedActor: after a crash an actor still sees Stopping and Stopped, to clean up, and
// nothing else.
func TestLastCallbacksOfACrashedActor(t *testing.T) {
	var seen []string
	f := start(t, Spec{})
	f.start(ChildSpec{Name: "a", Restart: Temporary, New: newPanicky(func(c actor.Context) {
		switch c.Message().(type) {
		case string:
			seen = append(seen, "message")
		case *actor.Stopping:
			seen = append(seen, "Stopping")
		case *actor.Stopped:
			seen = append(seen, "Stopped")
		}
	})})
	f.tell("a", func(c actor.Context) {
		c.Send(c.Self(), "queued")
		panic("boom")
	})
	f.exited("a")
	if got := strings.Join(seen, " "); got != "Stopping Stopped" {
		t.Errorf("seen %q", got)
	}
	if stack := reasonStack(f.exited("a").Reason); !strings.Contains(stack, "TestLastCallbacksOfACrashedActor") {
		t.Errorf("the stack does not show the panic: %s", stack)
	}
}

func reasonStack(reason error) string {
	var p *PanicError
	if errors.As(reason, &p) {
		return string(p.Stack)
	}
	return ""
}

// TestPanicInEvents: the supervisor goes on.
func TestPanicInEvents(t *testing.T) {
	tree, err := Start(within(t), newSystem(), Spec{
		Events:   func(Event) { panic("boom") },
		Children: []ChildSpec{{Name: "a", New: newObedient}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
}
