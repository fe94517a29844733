package slatedb

import "sync"

// A writer begins the writes of a database. Writes that wait for each other go to
// the engine together, as one batch, which is cheaper than one by one. And it
// keeps the order in which a goroutine began its writes, which the engine does
// not once it makes writers wait for memory.
//
// Only a caller that does not wait can begin a write before its last one is done.
// So there are two lanes: one for callers that wait, with a few writes in flight,
// and the ordered one, with a single write in flight. As long as the ordered lane
// is in use every write takes it.
type writer struct {
	handle *handle

	mu       sync.Mutex
	parallel lane
	ordered  lane
	spare    *writeGroup
}

// parallelFlights lets the engine apply one group while the next one is made.
const parallelFlights = 2

// A lane is a queue of groups and the writes that are in flight before them. The
// writer's lock guards it.
type lane struct {
	flights int
	groups  []*writeGroup
}

func (l *lane) busy() bool { return l.flights > 0 || len(l.groups) > 0 }

// A writeGroup is what goes to the engine together.
type writeGroup struct {
	batch Batch
	ops   []*op // one for each write, in the same order
	alone bool  // nothing may join
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

// aloneWrites is from how many writes on joining others gains a batch nothing.
const aloneWrites = 16

// alone tells whether nothing may join a write: one that may fail by itself, as a
// merge does without an operator, and a large one.
func (x *write) alone() bool {
	if x.batch != nil {
		return x.batch.merges || x.batch.count >= aloneWrites
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
	c.objects, c.writer = w.handle.objects, w
	if err := x.check(); err != nil {
		return c.fail(w.handle.objects, err)
	}
	if w.enter(c, &x) {
		return x.start(c, w.handle)
	}
	return false
}

// enter finds the write's lane. It tells whether the write begins at once; else
// it has joined a group.
func (w *writer) enter(c *op, x *write) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, limit := &w.parallel, parallelFlights
	if w.ordered.busy() || c.mode.Load() == detached {
		l, limit = &w.ordered, 1
	}
	c.lane = l
	if len(l.groups) == 0 && l.flights < limit || l == &w.parallel && x.alone() {
		l.flights++
		return true
	}
	c.joined = true
	g := w.open(l, x.alone())
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
func (w *writer) open(l *lane, alone bool) *writeGroup {
	if n := len(l.groups); n > 0 && !alone {
		last := l.groups[n-1]
		if !last.alone && last.batch.Size() < groupBytes && last.batch.Len() < groupWrites {
			return last
		}
	}
	g := w.spare
	w.spare = nil
	if g == nil {
		g = &writeGroup{}
	}
	g.alone = alone
	l.groups = append(l.groups, g)
	return g
}

func (g *writeGroup) add(x *write) {
	if x.batch != nil {
		g.batch.append(x.batch)
		return
	}
	g.batch.add(x.kind, x.key, x.value, x.ttl)
}

// hold lets an abandoned write of the parallel lane count as one in flight in the
// ordered lane: its caller waits no more.
func (w *writer) hold() {
	w.mu.Lock()
	w.ordered.flights++
	w.mu.Unlock()
}

// advance is called when a write of a lane is done: the next group begins.
func (w *writer) advance(l *lane) {
	w.mu.Lock()
	l.flights--
	if len(l.groups) == 0 || l == &w.ordered && l.flights > 0 {
		w.mu.Unlock()
		return
	}
	g := l.groups[0]
	l.groups = append(l.groups[:0], l.groups[1:]...)
	l.flights++
	w.mu.Unlock()
	launch((*op).sequence, func(seq uint64, err error) { w.end(g, seq, err) }, func(c *op) bool {
		c.writer, c.lane = w, l
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
