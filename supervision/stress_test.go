package supervision

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCoreAgainstModel plays random histories to a core, in a world that checks the order of all that it does,
// and compares what is left with the model.
func TestCoreAgainstModel(t *testing.T) {
	histories := 3_000
	if os.Getenv("SLAP_STRESS") == "1" {
		histories = 300_000
	}
	base := uint64(time.Now().UnixNano())
	for i := range uint64(histories) {
		w := newWorld(base + i)
		if err := w.play(); err != nil {
			t.Fatalf("seed %d: %v\n%s", base+i, err, strings.Join(w.log, "\n"))
		}
	}
}

// A world is the actors of a core's children: it obeys the core and breaks what it can.
type world struct {
	rand  *rand.Rand
	core  *core
	model *model
	now   time.Time
	log   []string
	err   error

	live     map[*kid]*life
	answers  map[*request]func(error) bool // what must be answered, and whether the answer is right
	ready    bool
	left     error
	finished bool
}

// A life is a child that runs.
type life struct{ ready, leaving, told, timed, killed bool }

func newWorld(seed uint64) *world {
	w := &world{
		rand: rand.New(rand.NewPCG(seed, 0)), now: time.Unix(0, 0),
		live: make(map[*kid]*life), answers: make(map[*request]func(error) bool),
	}
	spec := Spec{
		Strategy:     Strategy(w.rand.IntN(3)),
		AutoShutdown: AutoShutdown(w.rand.IntN(3)),
		Intensity:    w.rand.IntN(6) + 1,
		Period:       5 * time.Second,
	}
	if w.rand.IntN(8) == 0 {
		spec.Intensity = NoRestarts
	}
	for i := range w.rand.IntN(6) {
		spec.Children = append(spec.Children, w.child(fmt.Sprintf("s%d", i), spec.AutoShutdown))
	}
	w.note("%v %v intensity %d", spec.Strategy, spec.AutoShutdown, spec.Intensity)
	w.core, w.model = newCore("s", spec), newModel(spec)
	return w
}

// child is a random child.
func (w *world) child(name string, auto AutoShutdown) ChildSpec {
	spec := ChildSpec{Name: name, Restart: Restart(w.rand.IntN(3)), New: newObedient}
	spec.Significant = auto != Never && spec.Restart != Permanent && w.rand.IntN(2) == 0
	spec.Shutdown = []time.Duration{0, time.Second, Infinity, Brutal}[w.rand.IntN(4)]
	if w.rand.IntN(4) == 0 {
		spec.New, spec.Supervisor = nil, &Spec{}
	}
	w.note("child %s %v significant %v shutdown %v nested %v", name, spec.Restart, spec.Significant, spec.Shutdown, spec.New == nil)
	return spec
}

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// play lets things happen, then lets all become quiet and compares.
func (w *world) play() error {
	w.core.start()
	w.obey()
	steps := w.rand.IntN(80)
	for range steps {
		if w.step(); w.err != nil {
			return w.err
		}
	}
	w.calm()
	w.compare()
	if w.err == nil && w.model.ended == nil {
		w.note("shutdown")
		w.model.ended = ErrShutdown
		w.core.shutdown(ErrShutdown)
		w.obey()
		w.calm()
		w.compare()
	}
	return w.err
}

// step is one random thing that happens.
func (w *world) step() {
	switch w.rand.IntN(40) {
	case 0, 1, 2, 3, 4:
		w.startChild()
	case 5, 6:
		w.stopChild()
	case 7, 8, 9:
		w.now = w.now.Add(time.Duration(w.rand.IntN(3000)) * time.Millisecond)
	case 10:
		if w.rand.IntN(8) == 0 {
			w.end()
		}
	default:
		if k := w.pick(); k != nil {
			w.happen(k)
		}
	}
}

// pick is a random child that runs.
func (w *world) pick() *kid {
	kids := w.running()
	if len(kids) == 0 {
		return nil
	}
	return kids[w.rand.IntN(len(kids))]
}

// running are the children that run, in a fixed order.
func (w *world) running() []*kid {
	var kids []*kid
	for k := range w.live {
		kids = append(kids, k)
	}
	slices.SortFunc(kids, func(a, b *kid) int { return int(a.seq) - int(b.seq) })
	return kids
}

// happen makes a child do one of the things that it can do.
func (w *world) happen(k *kid) {
	l := w.live[k]
	switch n := w.rand.IntN(10); {
	case l.timed && n < 2:
		w.overdue(k)
	case l.told && n < 7:
		w.down(k, ErrShutdown)
	case !l.ready && !l.told && !l.leaving && n < 7:
		w.becomeReady(k)
	case !l.told && !l.leaving && n < 8:
		w.note("leaving %s", k.spec.Name)
		l.leaving = true
		w.core.kidLeaving(k)
		w.obey()
	default:
		w.down(k, []error{nil, ErrShutdown, errors.New("boom"), &IntensityError{Reason: ErrShutdown}}[w.rand.IntN(4)])
	}
}

func (w *world) becomeReady(k *kid) {
	w.note("ready %s", k.spec.Name)
	w.live[k].ready = true
	w.model.find(k.spec.Name).begun = true
	w.core.kidReady(k)
	w.obey()
}

func (w *world) down(k *kid, reason error) {
	w.note("down %s: %s", k.spec.Name, reasonText(reason))
	w.ended(k, reason)
	w.core.kidDown(w.now, k, reason, nil)
	w.obey()
}

// overdue lets a child's timer fire.
func (w *world) overdue(k *kid) {
	w.note("overdue %s", k.spec.Name)
	reason := errors.New("late")
	if k.spec.Supervisor == nil {
		w.ended(k, reason)
	} else {
		w.live[k].timed = false
	}
	w.core.kidOverdue(w.now, k, reason)
	w.obey()
	if k.spec.Supervisor == nil {
		return
	}
	if l := w.live[k]; l == nil || !l.killed {
		w.fail("%s is a supervisor, overdue and not killed", k.spec.Name)
	}
}

// ended tells the model that a child has ended.
func (w *world) ended(k *kid, reason error) {
	l := w.live[k]
	delete(w.live, k)
	w.model.exit(w.now, k.spec.Name, l.told, l.ready, reason, w.runs)
}

// runs tells whether a child with this name runs.
func (w *world) runs(name string) bool {
	k := w.core.names[name]
	return k != nil && w.live[k] != nil
}

func (w *world) startChild() {
	name := fmt.Sprintf("d%d", w.rand.IntN(6))
	w.note("start %s", name)
	spec := w.child(name, w.core.auto)
	want := w.model.startChild(spec)
	w.core.startChild(&spec, w.ask(func(err error) bool { return want == nil || errors.Is(err, want) }))
	w.obey()
}

func (w *world) stopChild() {
	name := fmt.Sprintf("%c%d", "sd"[w.rand.IntN(2)], w.rand.IntN(6))
	w.note("stop %s", name)
	known := w.model.stopChild(name, w.runs(name))
	w.core.stopChild(name, w.ask(func(err error) bool { return known != errors.Is(err, ErrUnknownChild) }))
	w.obey()
}

// end shuts the supervisor down, or kills it.
func (w *world) end() {
	if w.model.ended == nil {
		w.model.ended = ErrShutdown
	}
	if w.rand.IntN(2) == 0 {
		w.note("shutdown")
		w.core.shutdown(ErrShutdown)
	} else {
		w.note("kill")
		w.core.kill(ErrShutdown)
	}
	w.obey()
}

func (w *world) ask(right func(error) bool) *request {
	r := new(request)
	w.answers[r] = right
	return r
}

// calm lets all that the core waits for happen.
func (w *world) calm() {
	w.note("calm")
	for moves := 0; ; moves++ {
		i := slices.IndexFunc(w.running(), func(k *kid) bool { l := w.live[k]; return l.told || l.leaving || !l.ready })
		if i < 0 || w.err != nil {
			return
		}
		if moves > 1000 {
			w.fail("never quiet")
			return
		}
		k := w.running()[i]
		if l := w.live[k]; l.told || l.leaving {
			w.down(k, ErrShutdown)
		} else {
			w.becomeReady(k)
		}
	}
}

// compare holds what is left against the model.
func (w *world) compare() {
	if w.err != nil {
		return
	}
	if len(w.answers) > 0 {
		w.fail("%d requests without an answer", len(w.answers))
	}
	if w.model.ended != nil {
		if !w.finished || len(w.live) > 0 {
			w.fail("the model has ended (%v); finished %v, %d run", w.model.ended, w.finished, len(w.live))
		}
		return
	}
	if w.left != nil || !w.ready {
		w.fail("the model runs; left %v, ready %v", w.left, w.ready)
	}
	names := make([]string, 0, len(w.model.list))
	for _, m := range w.model.list {
		names = append(names, m.Name)
		if m.up != w.runs(m.Name) {
			w.fail("%s runs: %v, the model says %v", m.Name, w.runs(m.Name), m.up)
		}
	}
	for i, k := range w.core.all() {
		if i >= len(names) || names[i] != k.spec.Name {
			w.fail("child %d is %s, the model has %v", i, k.spec.Name, names)
			return
		}
	}
	if len(w.core.names) != len(names) {
		w.fail("%d children, the model has %v", len(w.core.names), names)
	}
}
