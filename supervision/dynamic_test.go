package supervision

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// An asker is an actor of a test that sends requests and keeps the answers.
type asker struct {
	system  *actor.ActorSystem
	pid     *actor.PID
	answers chan any
}

func newAsker(t *testing.T, system *actor.ActorSystem) *asker {
	t.Helper()
	a := &asker{system: system, answers: make(chan any, 20_000)}
	stopped := make(chan struct{})
	a.pid = system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch msg := c.Message().(type) {
		case do:
			msg(c)
		case *StartChildResult, *StopChildResult, *ListChildrenResult, *actor.Terminated:
			a.answers <- msg
		case *actor.Stopped:
			close(stopped)
		}
	}))
	t.Cleanup(func() {
		system.Root.Stop(a.pid)
		<-stopped
	})
	return a
}

// ask sends a request from the actor.
func (a *asker) ask(to *actor.PID, msg any) { a.system.Root.RequestWithCustomSender(to, msg, a.pid) }

// next is the next answer, which is of type T.
func next[T any](t *testing.T, a *asker) T {
	t.Helper()
	select {
	case got := <-a.answers:
		answer, ok := got.(T)
		if !ok {
			t.Fatalf("answer %T %+v", got, got)
		}
		return answer
	case <-time.After(patience):
		t.Fatal("no answer")
		panic("unreachable")
	}
}

func TestActorsAskASupervisor(t *testing.T) {
	f := start(t, Spec{Children: []ChildSpec{{Name: "a", New: newObedient}}})
	a := newAsker(t, f.system)

	a.ask(f.PID(), &StartChild{Spec: ChildSpec{Name: "x", New: newObedient}, Tag: 1})
	if r := next[*StartChildResult](t, a); r.Name != "x" || r.Tag != 1 || r.Err != nil || !r.PID.Equal(PID(f.PID(), "x")) {
		t.Errorf("start: %+v", r)
	}
	a.ask(f.PID(), &StartChild{Spec: ChildSpec{Name: "x", New: newObedient}, Tag: 2})
	if r := next[*StartChildResult](t, a); r.Tag != 2 || !errors.Is(r.Err, ErrChildExists) || r.PID != nil {
		t.Errorf("start again: %+v", r)
	}
	a.ask(f.PID(), &StartChild{Spec: ChildSpec{Name: "y"}, Tag: 3})
	if r := next[*StartChildResult](t, a); r.Tag != 3 || !errors.Is(r.Err, ErrSpec) {
		t.Errorf("bad spec: %+v", r)
	}
	a.ask(f.PID(), &ListChildren{Tag: 4})
	r := next[*ListChildrenResult](t, a)
	if got := fmt.Sprint(r.Children); r.Tag != 4 || len(r.Children) != 2 || !r.Children[1].Dynamic || r.Children[0].State != "running" {
		t.Errorf("list: %s", got)
	}
	a.ask(f.PID(), &StopChild{Name: "x", Tag: 5})
	if r := next[*StopChildResult](t, a); r.Name != "x" || r.Tag != 5 || r.Err != nil {
		t.Errorf("stop: %+v", r)
	}
	f.system.Root.Send(f.PID(), &StopChild{Name: "a"}) // nobody waits for the answer
	f.exited("a")
}

// A stop of the supervisor drops what is in its mailbox; the blocking form is answered all the same.
func TestRequestsToAStoppingSupervisorAreAnswered(t *testing.T) {
	for range 8 {
		f := start(t, Spec{})
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for {
					_, err := f.StartChild(within(t), ChildSpec{Name: fmt.Sprint(i), New: newObedient})
					if errors.Is(err, ErrStopping) {
						return
					}
					if err != nil && !errors.Is(err, ErrChildExists) {
						t.Errorf("StartChild = %v", err)
						return
					}
				}
			})
		}
		if err := f.Stop(within(t)); err != nil {
			t.Error(err)
		}
		all.Wait()
	}
}

// TestTenThousandDynamicChildren: each is killed once, in random order and in every way; all are back in their
// order, and nothing is left behind: a second round finds the goroutines, names and memory as the first left them.
func TestTenThousandDynamicChildren(t *testing.T) {
	const n = 10_000
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	f := start(t, Spec{Intensity: n, Period: time.Hour, Children: []ChildSpec{{
		Name: "pool", Supervisor: &Spec{Intensity: n, Period: time.Hour, Children: []ChildSpec{{Name: "static", New: newObedient}}},
	}}})
	a := newAsker(t, f.system)
	goroutines, names := runtime.NumGoroutine(), registered(f.system)
	var heap [2]int64
	for round := range heap {
		killAndStop(t, f, a, random, n)
		f.forget()
		if got := registered(f.system); got != names {
			t.Errorf("round %d: %d names, %d before", round, got, names)
		}
		if got := settled(runtime.NumGoroutine, goroutines); got > goroutines {
			t.Errorf("round %d: %d goroutines, %d before", round, got, goroutines)
		}
		heap[round] = heapInUse()
	}
	if grown := heap[1] - heap[0]; grown > 8<<20 { // ten thousand actors are more
		t.Errorf("the heap has grown by %d KiB", grown>>10)
	}
}

// killAndStop starts n dynamic children, kills each, and stops half of them by name and half with their
// supervisor, which is then started again.
func killAndStop(t *testing.T, f *fixture, a *asker, random *rand.Rand, n int) {
	t.Helper()
	pool := f.child("pool")
	names := registered(f.system)
	for i := range n {
		a.ask(pool, &StartChild{Spec: ChildSpec{Name: fmt.Sprint(i), New: newObedient}})
	}
	for range n {
		if r := next[*StartChildResult](t, a); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	ways := []do{
		func(actor.Context) { panic("boom") },
		func(c actor.Context) { Exit(c, errFenced) },
		func(c actor.Context) { Exit(c, nil) },
		func(c actor.Context) { c.Stop(c.Self()) },
		func(c actor.Context) { c.Poison(c.Self()) },
	}
	for _, i := range random.Perm(n) {
		f.tell(fmt.Sprintf("pool/%d", i), ways[random.IntN(len(ways))])
	}
	f.back("pool", n, 1)
	if got := registered(f.system) - names; got != n {
		t.Errorf("%d names for %d children", got, n)
	}
	for _, i := range random.Perm(n)[:n/2] {
		a.ask(pool, &StopChild{Name: fmt.Sprint(i)})
	}
	for range n / 2 {
		if r := next[*StopChildResult](t, a); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	f.system.Root.Stop(pool) // permanent: it comes back, without its dynamic children
	f.back("pool", 0, 0)
}

// back waits until a supervisor has these n dynamic children, all running and restarted this many times, and
// checks their order.
func (f *fixture) back(supervisor string, n, restarts int) {
	f.t.Helper()
	ref := At(f.system, f.child(supervisor))
	var list []Child
	for ctx := within(f.t); ; time.Sleep(50 * time.Millisecond) {
		if ctx.Err() != nil {
			f.t.Fatalf("not all are back: %v", list)
		}
		list, _ = ref.Children(ctx) // an error while it restarts
		if len(list) == n+1 && !slices.ContainsFunc(list[1:], func(c Child) bool { return c.State != "running" || c.Restarts != restarts }) {
			break
		}
	}
	for i, c := range list[1:] {
		if c.Name != fmt.Sprint(i) || !c.Dynamic || !c.PID.Equal(PID(ref.PID(), c.Name)) {
			f.t.Fatalf("child %d is %+v", i, c)
		}
	}
}

// settled is a count, once it is down to limit or patience has ended.
func settled(count func() int, limit int) int {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if got := count(); got <= limit || time.Now().After(deadline) {
			return got
		}
	}
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // pools keep what they have over one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTreeUnderFire: many goroutines start, stop, kill and delay children of a tree of all strategies. What
// remains in the end is what was there before.
func TestTreeUnderFire(t *testing.T) {
	rounds, seed := 3, uint64(time.Now().UnixNano())
	if os.Getenv("SLAP_STRESS") == "1" {
		rounds = 300
	}
	for i := range uint64(rounds) {
		t.Logf("seed %d", seed+i)
		underFire(t, seed+i)
	}
}

func underFire(t *testing.T, seed uint64) {
	lasting := ChildSpec{Name: "static", New: newObedient, Shutdown: 5 * time.Millisecond}
	other := lasting
	other.Name = "other"
	var spec Spec
	spec.Intensity = 1_000_000
	for _, strategy := range []Strategy{OneForOne, OneForAll, RestForOne} {
		spec.Children = append(spec.Children, ChildSpec{Name: strategy.String(), Supervisor: &Spec{
			Strategy: strategy, Intensity: 20, Period: 50 * time.Millisecond, Children: []ChildSpec{lasting, other},
		}})
	}
	f := start(t, spec)
	var all sync.WaitGroup
	for i := range uint64(6) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, i))
			for range 150 {
				fire(t, f, random, []string{"one-for-one", "one-for-all", "rest-for-one"}[random.IntN(3)])
			}
		})
	}
	all.Wait()
	if err := f.Stop(within(t)); err != nil && !errors.Is(err, ErrAbandoned) {
		t.Errorf("Stop = %v", err)
	}
	if lines := f.lines(); !strings.HasPrefix(lines[len(lines)-1], "supervisor s stopped") {
		t.Errorf("the last event is %q", lines[len(lines)-1])
	}
}

// fire does one harmful thing to a supervisor.
func fire(t *testing.T, f *fixture, random *rand.Rand, supervisor string) {
	name := []string{"static", "other", "x", "y", "z"}[random.IntN(5)]
	ref := At(f.system, f.child(supervisor))
	var err error
	switch random.IntN(6) {
	case 0, 1:
		_, err = ref.StartChild(within(t), ChildSpec{
			Name: name, New: newObedient, Restart: Restart(random.IntN(3)), Shutdown: 5 * time.Millisecond,
		})
	case 2:
		if name != "static" {
			err = ref.StopChild(within(t), name)
		}
	case 3:
		f.tell(supervisor+"/"+name, func(actor.Context) { panic("boom") })
	case 4:
		f.tell(supervisor+"/"+name, func(actor.Context) { time.Sleep(10 * time.Millisecond) })
	case 5:
		f.tell(supervisor+"/"+name, func(c actor.Context) { Exit(c, nil) })
	}
	var failed *StartError
	for _, expected := range []error{ErrStopping, ErrChildExists, ErrUnknownChild, ErrShutdown, ErrAbandoned} {
		if errors.Is(err, expected) {
			return
		}
	}
	if err != nil && !errors.As(err, &failed) {
		t.Errorf("%s %s: %v", supervisor, name, err)
	}
}
