package slatedb

import (
	"sync/atomic"

	"golang.org/x/sys/cpu"
)

// A lifetime counts the uses of something and says when the last one has ended
// after it was closed.
type lifetime struct{ state atomic.Int64 }

const (
	lifetimeClosed int64 = 1 << 62
	lifetimeEnded  int64 = 1 << 61
)

// use begins a use. It fails once the thing is closed.
func (l *lifetime) use() (ok, last bool) {
	if l.state.Add(1)&lifetimeClosed == 0 {
		return true, false
	}
	return false, l.release()
}

// retain begins a use within another one.
func (l *lifetime) retain() { l.state.Add(1) }

// release ends a use and tells whether it was the last one.
func (l *lifetime) release() bool { return l.state.Add(-1) == lifetimeClosed && l.end() }

// close refuses new uses. It tells whether it was the first close and whether
// nothing is in use.
func (l *lifetime) close() (first, last bool) {
	old := l.state.Or(lifetimeClosed)
	return old&lifetimeClosed == 0, old == 0 && l.end()
}

// end is true once: refused uses pass zero again.
func (l *lifetime) end() bool {
	return l.state.CompareAndSwap(lifetimeClosed, lifetimeClosed|lifetimeEnded)
}

// A handle is one of the engine's objects. Every operation on it holds it, so
// that it is freed only when it is closed and nothing uses it.
type handle struct {
	objects *ObjectStore
	kind    objectKind
	id      uint64
	_       cpu.CacheLinePad // every operation writes to life and reads the rest
	life    lifetime
	_       cpu.CacheLinePad
	gone    atomic.Pointer[Error] // what a use after the close gives
	written *written              // inherited by what the object makes; nil where nothing is written
}

// newHandle takes over an object of the engine. The caller holds objects.
func newHandle(objects *ObjectStore, kind objectKind, id uint64) *handle {
	objects.life.retain()
	objects.opened[kind].Add(1)
	return &handle{objects: objects, kind: kind, id: id}
}

func (h *handle) acquire() bool {
	ok, last := h.life.use()
	if last {
		h.free()
	}
	return ok
}

func (h *handle) release() {
	if h.life.release() {
		h.free()
	}
}

// close refuses new operations with the error and frees the object when those
// that run are done. It tells whether it was the first close.
func (h *handle) close(e *Error) bool {
	h.gone.CompareAndSwap(nil, e)
	first, last := h.life.close()
	if last {
		h.free()
	}
	return first
}

func (h *handle) free() {
	freeObject(h.kind, h.id)
	h.objects.opened[h.kind].Add(-1)
	h.objects.release()
}

// start begins an operation and tells whether it is done already.
func (h *handle) start(o *op, m method, a, b, c []byte) bool {
	if !h.prepare(o, m) {
		return true
	}
	return o.begin(h.objects.completions.queue, m, h.id, a, b, c)
}

// startNumber is start for the functions that take a number.
func (h *handle) startNumber(o *op, m method, n uint64) bool {
	if !h.prepare(o, m) {
		return true
	}
	return o.beginNumber(h.objects.completions.queue, m, h.id, n)
}

func (h *handle) prepare(o *op, m method) bool {
	o.objects, o.method = h.objects, m
	if !h.acquire() {
		o.failed = h.gone.Load()
		return false
	}
	o.owner = h
	if h.written != nil && m.writes() {
		h.written.begun()
	}
	return true
}

// discard ends an object that nobody has seen. A database or a reader is closed
// first, without a flush: freeing an open one leaves its tasks running for ever.
func (h *handle) discard(done func()) {
	m, options := readerShutdown, []byte(nil)
	switch h.kind {
	case objectDB:
		m, options = dbShutdown, (&CloseOptions{SkipFlush: true}).encode()
	case objectReader:
	default:
		h.close(closed(ReasonClean, "abandoned"))
		done()
		return
	}
	launch((*op).nothing, func(struct{}, error) {
		h.close(closed(ReasonClean, "abandoned"))
		done()
	}, func(o *op) bool { return h.start(o, m, options, nil, nil) })
}
