package supervision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

var errFenced = errors.New("fenced")

func TestTreeStartsInOrderAndStopsInReverse(t *testing.T) {
	f := start(t, Spec{Children: []ChildSpec{
		{Name: "a", New: newObedient},
		{Name: "b", Supervisor: &Spec{Children: []ChildSpec{
			{Name: "x", New: newObedient}, {Name: "y", New: newObedient},
		}}},
		{Name: "c", New: newObedient},
	}})
	if err := f.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"s/a started", "s/b/x started", "s/b/y started", "supervisor s/b started", "s/b started", "s/c started", "supervisor s started",
		"s/c stopped: shutdown", "s/b/y stopped: shutdown", "s/b/x stopped: shutdown", "supervisor s/b stopped: shutdown",
		"s/b stopped: shutdown", "s/a stopped: shutdown", "supervisor s stopped: shutdown",
	}
	if got := f.lines(); !slices.Equal(got, want) {
		t.Errorf("events\n%q, want\n%q", got, want)
	}
	if !errors.Is(f.Err(), ErrShutdown) {
		t.Errorf("Err = %v", f.Err())
	}
	if err := f.Stop(within(t)); err != nil {
		t.Errorf("second Stop = %v", err)
	}
}

// An orderly life sends nothing to the dead.
func TestNoDeadLetters(t *testing.T) {
	system := newSystem()
	var dead atomic.Int32
	system.EventStream.Subscribe(func(event any) {
		if e, ok := event.(*actor.DeadLetterEvent); ok {
			t.Logf("%T for %v", e.Message, e.PID)
			dead.Add(1)
		}
	})
	for range 50 {
		tree, err := Start(within(t), system, Spec{Children: []ChildSpec{
			{Name: "a", New: newObedient},
			{Name: "b", Supervisor: &Spec{Children: []ChildSpec{{Name: "x", New: newObedient}}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		ref := At(system, PID(tree.PID(), "b"))
		for _, name := range []string{"c", "d", "e"} {
			if _, err := ref.StartChild(within(t), ChildSpec{Name: name, New: newObedient}); err != nil {
				t.Error(err)
			}
		}
		if err := ref.StopChild(within(t), "d"); err != nil {
			t.Error(err)
		}
		if err := tree.Stop(within(t)); err != nil {
			t.Error(err)
		}
	}
	if n := dead.Load(); n > 0 {
		t.Errorf("%d dead letters", n)
	}
}

func TestManualChildHoldsUpTheNext(t *testing.T) {
	system, self := newSystem(), make(chan actor.Context, 1)
	var began []string
	spec := Spec{Children: []ChildSpec{
		{Name: "a", Ready: Manual, New: obedientWith(func(c actor.Context) {
			if _, ok := c.Message().(*actor.Started); ok {
				began = append(began, "a")
				self <- c
			}
		})},
		{Name: "b", New: obedientWith(func(c actor.Context) {
			if _, ok := c.Message().(*actor.Started); ok {
				began = append(began, "b")
			}
		})},
	}}
	type result struct {
		tree *Tree
		err  error
	}
	done := make(chan result, 1)
	go func() {
		tree, err := Start(within(t), system, spec)
		done <- result{tree, err}
	}()
	a := <-self
	system.Root.Send(a.Self(), do(func(c actor.Context) {
		began = append(began, "a is ready")
		Ready(c)
		Ready(c)
	}))
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	if err := r.tree.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "a is ready", "b"}; !slices.Equal(began, want) {
		t.Errorf("began %q, want %q", began, want)
	}
}

func TestReasonPassesUpwardsUnchanged(t *testing.T) {
	f := start(t, Spec{})
	f.start(ChildSpec{Name: "shard", Restart: Temporary, Supervisor: &Spec{
		Strategy: OneForAll, Intensity: NoRestarts,
		Children: []ChildSpec{
			{Name: "notifier", New: newObedient},
			{Name: "deep", Supervisor: &Spec{Intensity: NoRestarts, Children: []ChildSpec{{Name: "database", New: newObedient}}}},
		},
	}})
	f.tell("shard/deep/database", func(c actor.Context) { Exit(c, fmt.Errorf("shard 1: %w", errFenced)) })
	reason := f.exited("shard").Reason
	if !errors.Is(reason, errFenced) || !errors.Is(reason, ErrIntensity) || !IsCrash(reason) {
		t.Errorf("reason %v", reason)
	}
	for _, part := range []string{"s/shard", `"deep"`, "s/shard/deep", `"database"`, "shard 1: fenced", "no restart is allowed"} {
		if !strings.Contains(reason.Error(), part) {
			t.Errorf("reason %q does not say %q", reason, part)
		}
	}
	list, err := f.Children(within(t))
	if err != nil || len(list) != 0 {
		t.Errorf("children %v, %v", list, err)
	}
}

// Proto.Actor counts restarts for each child and drops one over the limit in silence; an escalation under a
// guardian ends its process.
func TestRootOverItsLimitTellsItsOwner(t *testing.T) {
	f := start(t, Spec{Intensity: 2, Children: []ChildSpec{
		{Name: "a", New: newObedient}, {Name: "b", New: newObedient}, {Name: "c", New: newObedient},
	}})
	for _, name := range []string{"a", "b"} {
		f.tell(name, func(actor.Context) { panic("boom") })
		f.restarted(name, 1)
	}
	f.tell("c", func(actor.Context) { panic(errFenced) })
	f.await(f.Done(), "the root's end")
	var limit *IntensityError
	if err := f.Err(); !errors.As(err, &limit) || limit.Child != "c" || limit.Intensity != 2 || !errors.Is(err, errFenced) {
		t.Errorf("Err = %v", err)
	}
	if err := f.Stop(within(t)); err != nil {
		t.Errorf("Stop after the end = %v", err)
	}
	if _, err := f.StartChild(within(t), ChildSpec{Name: "late", New: newObedient}); !errors.Is(err, ErrStopping) {
		t.Errorf("StartChild after the end = %v", err)
	}
}

func TestNestedSupervisorFailsUpwardsAndIsRestarted(t *testing.T) {
	f := start(t, Spec{Children: []ChildSpec{
		{Name: "sibling", New: newObedient},
		{Name: "sub", Supervisor: &Spec{Intensity: 1, Children: []ChildSpec{{Name: "a", New: newObedient}}}},
	}})
	f.tell("sub/a", func(actor.Context) { panic("first") })
	f.restarted("a", 1)
	f.tell("sub/a", func(actor.Context) { panic("second") })
	f.restarted("sub", 1)
	f.ask("sub/a", func(actor.Context) {})
	for _, line := range f.lines() {
		if strings.HasPrefix(line, "s/sibling") && line != "s/sibling started" {
			t.Errorf("the sibling was harmed: %s", line)
		}
	}
}

func TestStartFails(t *testing.T) {
	system := newSystem()
	before := registered(system)
	var stopped []string
	note := func(name string) func() actor.Actor {
		return obedientWith(func(c actor.Context) {
			if _, ok := c.Message().(*actor.Stopped); ok {
				stopped = append(stopped, name)
			}
		})
	}
	fails := func(c actor.Context) {
		if _, ok := c.Message().(*actor.Started); ok {
			Fail(c, errFenced)
		}
	}
	_, err := Start(within(t), system, Spec{Name: "s", Children: []ChildSpec{
		{Name: "a", New: note("a")},
		{Name: "sub", Supervisor: &Spec{Children: []ChildSpec{
			{Name: "b", New: note("b")}, {Name: "c", New: obedientWith(fails)},
		}}},
		{Name: "d", New: note("d")},
	}})
	var failed *StartError
	if !errors.As(err, &failed) || failed.Child != "sub" || !errors.Is(err, errFenced) {
		t.Errorf("err = %v", err)
	}
	if want := []string{"b", "a"}; !slices.Equal(stopped, want) {
		t.Errorf("stopped %q, want %q", stopped, want)
	}
	if n := registered(system); n != before {
		t.Errorf("%d names are left in the registry", n-before)
	}
}

func TestStartIsGivenUpWithItsContext(t *testing.T) {
	system := newSystem()
	ctx, cancel := context.WithCancelCause(context.Background())
	_, err := Start(ctx, system, Spec{Children: []ChildSpec{
		{Name: "a", Ready: Manual, New: obedientWith(func(actor.Context) { cancel(errFenced) })},
	}})
	if !errors.Is(err, errFenced) {
		t.Errorf("err = %v", err)
	}
}

func TestStartUnderATakenName(t *testing.T) {
	f := start(t, Spec{})
	if _, err := Start(within(t), f.system, Spec{Name: "s"}); !errors.Is(err, actor.ErrNameExists) {
		t.Errorf("err = %v", err)
	}
}

func TestExitReasons(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		leave do
		is    error // nil for a normal exit
		crash bool
	}{
		"stop oneself":           {func(c actor.Context) { c.Stop(c.Self()) }, nil, false},
		"poison oneself":         {func(c actor.Context) { c.Poison(c.Self()) }, nil, false},
		"normal exit":            {func(c actor.Context) { Exit(c, nil) }, nil, false},
		"shutdown":               {func(c actor.Context) { Exit(c, fmt.Errorf("asked: %w", ErrShutdown)) }, ErrShutdown, false},
		"error":                  {func(c actor.Context) { Exit(c, broken) }, broken, true},
		"late failure":           {func(c actor.Context) { Fail(c, broken) }, broken, true},
		"failure without reason": {func(c actor.Context) { Fail(c, nil) }, ErrNotReady, true},
		"first reason stays":     {func(c actor.Context) { Exit(c, broken); Exit(c, errFenced) }, broken, true},
		"a crash replaces":       {func(c actor.Context) { Exit(c, nil); Exit(c, broken) }, broken, true},
		"panic":                  {func(actor.Context) { panic(broken) }, broken, true},
		"panic with a shutdown":  {func(actor.Context) { panic(ErrShutdown) }, ErrShutdown, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, Spec{})
			f.start(ChildSpec{Name: "a", New: newObedient, Restart: Temporary})
			f.tell("a", test.leave)
			reason := f.exited("a").Reason
			if (reason == nil) != (test.is == nil) || test.is != nil && !errors.Is(reason, test.is) || IsCrash(reason) != test.crash {
				t.Errorf("reason %v", reason)
			}
		})
	}
}

func TestActorWithoutASupervisor(t *testing.T) {
	system, ended := newSystem(), make(chan struct{})
	pid := system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch c.Message().(type) {
		case *actor.Started:
			Ready(c)
			if Context(c).Done() != nil {
				t.Error("its context ends")
			}
			Exit(c, errFenced)
		case *actor.Stopped:
			close(ended)
		}
	}))
	<-ended
	if pid == nil {
		t.Error("no PID")
	}
}

func TestSignificantChildEndsTheTree(t *testing.T) {
	f := start(t, Spec{AutoShutdown: AnySignificant, Children: []ChildSpec{
		{Name: "a", New: newObedient},
		{Name: "job", New: newObedient, Restart: Transient, Significant: true},
	}})
	f.tell("job", func(c actor.Context) { Exit(c, nil) })
	f.await(f.Done(), "the root's end")
	var by *SignificantError
	if err := f.Err(); !errors.As(err, &by) || by.Child != "job" || !errors.Is(err, ErrShutdown) || IsCrash(err) {
		t.Errorf("Err = %v", err)
	}
}

func TestOneForAllAndRestForOneOnActors(t *testing.T) {
	for strategy, want := range map[Strategy][]string{
		OneForAll:  {"stop d", "stop c", "stop a", "start a", "start b", "start c", "start d"},
		RestForOne: {"stop d", "stop c", "start b", "start c", "start d"},
		OneForOne:  {"start b"},
	} {
		t.Run(strategy.String(), func(t *testing.T) {
			var trace []string // one actor at a time: each start and stop waits for the one before
			child := func(name string) ChildSpec {
				return ChildSpec{Name: name, New: obedientWith(func(c actor.Context) {
					switch c.Message().(type) {
					case *actor.Started:
						trace = append(trace, "start "+name)
					case *actor.Stopping:
						trace = append(trace, "stop "+name)
					}
				})}
			}
			f := start(t, Spec{Strategy: strategy, Children: []ChildSpec{child("a"), child("b"), child("c"), child("d")}})
			f.tell("b", func(actor.Context) { trace = nil; panic("boom") })
			last := strings.TrimPrefix(want[len(want)-1], "start ")
			f.restarted(last, 1)
			if trace = slices.DeleteFunc(trace, func(s string) bool { return s == "stop b" }); !slices.Equal(trace, want) {
				t.Errorf("trace %q, want %q", trace, want)
			}
		})
	}
}
