package slatedb

import "sync"

// A writer applies the writes of a database in the order in which they began,
// which the engine does not once it makes writers wait for memory. One write is
// in flight at a time; those that begin meanwhile go together as the next batch,
// which is also much cheaper than one by one.
type writer struct {
	handle *handle

	mu     sync.Mutex
	busy   bool // a write is in flight, and will call advance
	groups []*writeGroup
	spare  *writeGroup
}

// A writeGroup is what goes to the engine together.
type writeGroup struct {
	batch   Batch
	ops     []*op // one for each write, in the same order
	private bool  // a write that may fail by itself: nothing may join it
}

// groupBytes and groupWrites bound a group, so that the engine's one writer task
// does not serve it for long.
const (
	groupBytes  = 1 << 20
	groupWrites = 1 << 10
)

// A write is one write of a caller: a batch, or a single key.
type write struct {
	batch      *Batch
	kind       method // as in a batch, without TTL
	key, value []byte
	ttl        TTL
}

// private tells whether a write may fail by itself: merges need an operator.
func (x *write) private() bool {
	if x.batch != nil {
		return x.batch.merges
	}
	return x.kind == batchMerge
}

func (x *write) check() error {
	if x.batch == nil {
		if err := checkKey(x.key); err != nil {
			return err
		}
		return checkValue(x.value)
	}
	if x.batch.wrong == nil && x.batch.count == 0 {
		return invalid("the batch is empty")
	}
	return x.batch.wrong
}

// begin begins a write and tells whether it is done already.
func (w *writer) begin(c *op, x write) bool {
	if err := x.check(); err != nil {
		return c.fail(w.handle.objects, err)
	}
	w.mu.Lock()
	if !w.busy {
		w.busy = true
		w.mu.Unlock()
		c.writer = w
		return x.start(c, w.handle)
	}
	defer w.mu.Unlock()
	c.objects, c.joined = w.handle.objects, true
	g := w.open(x.private())
	g.add(x)
	g.ops = append(g.ops, c)
	return false
}

// start begins a write by itself.
func (x *write) start(c *op, h *handle) bool {
	if x.batch != nil {
		return h.start(c, dbWrite, x.batch.entries, nil, nil)
	}
	if x.kind == batchDelete {
		return h.start(c, dbDelete, x.key, nil, nil)
	}
	plain, withTTL := dbPut, dbPutWith
	if x.kind == batchMerge {
		plain, withTTL = dbMerge, dbMergeWith
	}
	if x.ttl == (TTL{}) {
		return h.start(c, plain, x.key, x.value, nil)
	}
	var memory [maxTTL]byte
	return h.start(c, withTTL, x.key, x.value, x.ttl.encode(memory[:0]))
}

// open is the group that the next write joins. The caller holds the lock.
func (w *writer) open(private bool) *writeGroup {
	if n := len(w.groups); n > 0 && !private {
		last := w.groups[n-1]
		if !last.private && last.batch.Size() < groupBytes && last.batch.Len() < groupWrites {
			return last
		}
	}
	g := w.spare
	w.spare = nil
	if g == nil {
		g = &writeGroup{}
	}
	g.private = private
	w.groups = append(w.groups, g)
	return g
}

func (g *writeGroup) add(x write) {
	if x.batch != nil {
		g.batch.append(x.batch)
		return
	}
	g.batch.add(x.kind, x.key, x.value, x.ttl)
}

// advance is called when the write in flight is done: the next group begins.
func (w *writer) advance() {
	w.mu.Lock()
	if len(w.groups) == 0 {
		w.busy = false
		w.mu.Unlock()
		return
	}
	g := w.groups[0]
	w.groups = append(w.groups[:0], w.groups[1:]...)
	w.mu.Unlock()
	launch((*op).sequence, func(seq uint64, err error) { w.end(g, seq, err) }, func(c *op) bool {
		c.writer = w
		return w.handle.start(c, dbWrite, g.batch.entries, nil, nil)
	})
}

// end tells the writes of a group how it went. The next group has begun.
func (w *writer) end(g *writeGroup, seq uint64, err error) {
	for _, c := range g.ops {
		c.seq, c.failed = seq, err
		if c.signal() {
			c.then(c)
		}
	}
	clear(g.ops)
	g.ops = g.ops[:0]
	g.batch.Reset()
	if cap(g.batch.entries) > groupBytes {
		return
	}
	w.mu.Lock()
	w.spare = g
	w.mu.Unlock()
}
