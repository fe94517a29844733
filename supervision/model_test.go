package supervision

import (
	"slices"
	"time"
)

// A model says what a supervisor's decisions must come to, as if each took no time: which children are wanted
// and why the supervisor ends. It knows nothing of orders, timers and phases.
type model struct {
	spec     Spec
	list     []*wanted
	restarts []time.Time // all that ever were
	ended    error
}

// A wanted is a child of the model.
type wanted struct {
	ChildSpec

	dynamic bool
	up      bool // is to run when all is quiet
	begun   bool // was ready once
	cycling bool // goes down with its group
	gone    bool // was asked to stop for good
}

func newModel(spec Spec) *model {
	m := &model{spec: spec}
	for _, child := range spec.Children {
		m.list = append(m.list, &wanted{ChildSpec: child, up: true})
	}
	return m
}

func (m *model) find(name string) *wanted {
	for _, w := range m.list {
		if w.Name == name {
			return w
		}
	}
	return nil
}

func (m *model) forget(w *wanted) {
	m.list = slices.DeleteFunc(m.list, func(other *wanted) bool { return other == w })
}

// startChild is the answer to a start: nil when it will come later.
func (m *model) startChild(spec ChildSpec) error {
	switch {
	case m.ended != nil:
		return ErrStopping
	case m.find(spec.Name) != nil:
		return ErrChildExists
	}
	m.list = append(m.list, &wanted{ChildSpec: spec, dynamic: true, up: true})
	return nil
}

// stopChild tells whether there is such a child; live says whether it runs.
func (m *model) stopChild(name string, live bool) bool {
	w := m.find(name)
	if w == nil {
		return false
	}
	if w.gone, w.up = true, false; !live {
		m.forget(w)
	}
	return true
}

// exit is a child's end. Told says that the supervisor had stopped it, ready that it was ready, live which others
// run.
func (m *model) exit(now time.Time, name string, told, ready bool, reason error, live func(string) bool) {
	w := m.find(name)
	switch {
	case m.ended != nil:
	case w.gone:
		m.forget(w)
	case told || w.cycling:
		w.cycling = false
		if w.Restart == Temporary && w.begun {
			m.forget(w)
		}
	case !w.begun && w.dynamic:
		m.forget(w)
	case !w.begun:
		m.ended = ErrNotReady
	case w.Restart == Permanent || w.Restart == Transient && (!ready || IsCrash(reason)):
		m.restart(now, w, live)
	default:
		m.retire(w, live)
	}
}

func (m *model) retire(w *wanted, live func(string) bool) {
	w.up = false
	if w.dynamic || w.Restart == Temporary {
		m.forget(w)
	}
	others := slices.ContainsFunc(m.list, func(o *wanted) bool {
		return o != w && o.Significant && (o.up || live(o.Name))
	})
	if w.Significant && (m.spec.AutoShutdown == AnySignificant || m.spec.AutoShutdown == AllSignificant && !others) {
		m.ended = ErrShutdown
	}
}

func (m *model) restart(now time.Time, w *wanted, live func(string) bool) {
	recent := 0
	for _, t := range m.restarts {
		if now.Sub(t) <= m.spec.Period {
			recent++
		}
	}
	if recent >= max(m.spec.Intensity, 0) {
		m.ended = ErrIntensity
		return
	}
	m.restarts = append(m.restarts, now)
	at := slices.Index(m.list, w)
	for i, other := range m.list {
		switch {
		case other == w || other.gone:
		case m.spec.Strategy == OneForAll, m.spec.Strategy == RestForOne && !w.dynamic && (i > at || other.dynamic):
			other.up = true
			other.cycling = other.cycling || live(other.Name)
		}
	}
}
