package supervision

import (
	"errors"
)

// obey does what the core wants, and checks that it may want it.
func (w *world) obey() {
	for len(w.core.out) > 0 {
		a := w.core.out[0]
		w.core.out = w.core.out[1:]
		w.do(a)
	}
}

func (w *world) do(a action) {
	switch a.do {
	case doSpawn:
		w.note("  spawn %s", a.kid.spec.Name)
		w.maySpawn(a.kid)
		w.live[a.kid] = &life{}
	case doStop:
		w.note("  stop %s within %v", a.kid.spec.Name, a.after)
		w.mayStop(a.kid)
		w.live[a.kid].told = true
		if a.after != Infinity {
			w.arm(a)
		}
	case doArm:
		w.note("  timer %s %v", a.kid.spec.Name, a.after)
		w.arm(a)
	case doKill:
		w.note("  kill %s", a.kid.spec.Name)
		w.live[a.kid].killed = true
	case doReply:
		w.note("  answer: %v", a.reason)
		w.reply(a)
	case doReady:
		if w.ready || w.left != nil {
			w.fail("ready twice or too late")
		}
		w.ready = true
	case doLeave:
		w.note("  leave: %v", a.reason)
		w.leave(a.reason)
	case doFinish:
		w.note("  finish")
		if w.finished || len(w.live) > 0 || w.left == nil {
			w.fail("finish: twice %v, %d run, left %v", w.finished, len(w.live), w.left)
		}
		w.finished = true
	case doDisarm:
		if w.live[a.kid] != nil && w.live[a.kid].timed {
			w.fail("%s runs without its timer", a.kid.spec.Name)
		}
	case doEmit:
	}
}

// arm lets the timer of zero fire at once, as the shell does.
func (w *world) arm(a action) {
	l := w.live[a.kid]
	if l == nil {
		w.fail("timer of %s, which does not run", a.kid.spec.Name)
		return
	}
	if l.timed = true; a.after == 0 {
		w.overdue(a.kid)
	}
}

// maySpawn checks that the kid does not run and that it is its turn.
func (w *world) maySpawn(k *kid) {
	if w.live[k] != nil || w.left != nil {
		w.fail("spawn of %s, which runs: %v, or too late: %v", k.spec.Name, w.live[k] != nil, w.left)
	}
	group := w.core.strategy != OneForOne
	for _, other := range w.core.static {
		if other == k {
			return
		}
		m, l := w.model.find(other.spec.Name), w.live[other]
		if m == nil || !m.up {
			continue
		}
		if !m.begun || group && !k.dynamic && (l == nil || !l.ready) {
			w.fail("spawn of %s before %s is ready", k.spec.Name, other.spec.Name)
		}
	}
}

// mayStop checks that the kid runs and that what comes after it, and goes down too, is down.
func (w *world) mayStop(k *kid) {
	if l := w.live[k]; l == nil || l.told {
		w.fail("stop of %s, which does not run or knows", k.spec.Name)
		return
	}
	if m := w.model.find(k.spec.Name); k.dynamic || m.gone {
		return
	}
	for other := range w.live {
		m := w.model.find(other.spec.Name)
		after := other.dynamic || !k.dynamic && other.seq > k.seq
		if after && (w.left != nil || m.cycling) {
			w.fail("stop of %s before %s is down", k.spec.Name, other.spec.Name)
		}
	}
}

func (w *world) reply(a action) {
	right := w.answers[a.asked]
	if right == nil {
		w.fail("answer to nobody, or twice")
		return
	}
	delete(w.answers, a.asked)
	if !right(a.reason) {
		w.fail("wrong answer %v", a.reason)
	}
}

// leave checks that the model ends for the same reason.
func (w *world) leave(reason error) {
	if w.left != nil {
		w.fail("leave twice")
	}
	w.left = reason
	_, limit := reason.(*IntensityError)
	_, start := reason.(*StartError)
	switch {
	case w.model.ended == nil:
		w.fail("leave: %v, but the model runs", reason)
	case errors.Is(w.model.ended, ErrShutdown) == IsCrash(reason),
		errors.Is(w.model.ended, ErrIntensity) != limit,
		errors.Is(w.model.ended, ErrNotReady) != start:
		w.fail("leave: %v, but the model ended with %v", reason, w.model.ended)
	}
}
