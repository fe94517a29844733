package slatedb

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Who goes on with an operation when the engine signals it.
const (
	waiting  int32 = iota // a caller waits for the signal
	signaled              // the caller has been signaled
	detached              // the object store's completers
)

// An op is one operation of the engine: the Go half of a record. It is reused
// and never freed, like the record.
type op struct {
	record *record
	wake   chan struct{} // one signal for the caller that waits
	mode   atomic.Int32
	method method

	objects *ObjectStore // whose completions it uses
	owner   *handle      // held until the operation is done; nil if it never began
	failed  error        // why it never began
	then    func(*op)    // reads the result of a detached operation
	done    bool         // a detached operation that was done when it began
	writer  *writer      // of a write
	lane    *lane        // of a write that has begun
	held    bool         // an abandoned write, which counts in the ordered lane
	joined  bool         // a write that goes with others, in a group; the record is not used
	seq     uint64       // of a joined write
}

const opsPerSlab = 256

// pool holds the operations that are not in use.
var pool struct {
	sync.Mutex
	free  []*op
	slabs atomic.Pointer[[]*[opsPerSlab]op] // all operations, by index
}

// opAt finds an operation by its record's index.
func opAt(index uint32) *op {
	return &(*pool.slabs.Load())[index/opsPerSlab][index%opsPerSlab]
}

func newOp() *op {
	pool.Lock()
	defer pool.Unlock()
	if len(pool.free) == 0 {
		growPool()
	}
	last := len(pool.free) - 1
	o := pool.free[last]
	pool.free = pool.free[:last]
	return o
}

// growPool adds a slab. The caller holds the lock.
func growPool() {
	var slabs []*[opsPerSlab]op
	if p := pool.slabs.Load(); p != nil {
		slabs = *p
	}
	slab := new([opsPerSlab]op)
	records := newRecords(len(slabs)*opsPerSlab, opsPerSlab)
	for i := range slab {
		slab[i].record = &records[i]
		slab[i].wake = make(chan struct{}, 1)
		pool.free = append(pool.free, &slab[i])
	}
	slabs = append(slices.Clip(slabs), slab)
	pool.slabs.Store(&slabs)
}

// keptOutput is up to how many bytes a record keeps its output until it is used
// again: freeing it is a call into C.
const keptOutput = 4 << 10

// recycle gives back what the operation holds. Its output is gone afterwards.
func (o *op) recycle() {
	if o.owner != nil {
		o.report()
	}
	if o.lane != nil && !o.joined {
		o.writer.advance(o.lane) // while the handle is held
	}
	if o.held {
		o.writer.advance(&o.writer.ordered)
	}
	if o.owner != nil {
		o.owner.release()
	}
	if len(o.output()) > keptOutput {
		o.freeOutput()
	}
	o.objects, o.owner, o.failed, o.then, o.done = nil, nil, nil, nil, false
	o.writer, o.lane, o.held, o.joined = nil, nil, false, false
	o.mode.Store(waiting)
	pool.Lock()
	pool.free = append(pool.free, o)
	pool.Unlock()
}

// report tells the database's owner of a write, also of one that nobody waits for.
func (o *op) report() {
	if o.owner.written == nil || !o.method.writes() {
		return
	}
	seq := uint64(0)
	if o.code() == codeDone {
		seq = o.value()
	}
	o.owner.written.ended(seq)
}

// fail ends an operation before it began.
func (o *op) fail(objects *ObjectStore, err error) bool {
	o.objects, o.failed = objects, err
	return true
}

// await runs an operation and waits for it: the blocking form of every
// operation. start begins it and tells whether it is done already.
func await[T any](ctx context.Context, result func(*op) (T, error), start func(*op) bool) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	o := newOp()
	if !start(o) && !o.wait(ctx) {
		return none, abandoned(ctx)
	}
	value, err := result(o)
	o.recycle()
	return value, err
}

// launch runs an operation and hands its result to done: the asynchronous form
// of every operation.
func launch[T any](result func(*op) (T, error), done func(T, error), start func(*op) bool) {
	o := newOp()
	o.mode.Store(detached)
	o.then = func(o *op) {
		value, err := result(o)
		o.recycle()
		done(value, err)
	}
	if !start(o) {
		return
	}
	o.done = true
	if o.objects == nil { // a nil store has no completers
		go o.then(o)
		return
	}
	o.objects.completions.push(o)
}

// wait waits until the operation is done. It returns false if the context ended
// first; then the completers own the operation.
func (o *op) wait(ctx context.Context) bool {
	ended := ctx.Done()
	for {
		select {
		case <-o.wake:
		case <-ended:
			if o.abandon() {
				return false
			}
			<-o.wake // the signal was on its way
		}
		o.mode.Store(waiting)
		if o.joined || o.resume() {
			return true
		}
	}
}

// abandon leaves the operation to the completers, unless it has been signaled.
func (o *op) abandon() bool {
	objects := o.objects
	o.then = (*op).discard
	objects.abandoned.Add(1)
	if o.writer != nil && o.lane == &o.writer.parallel && !o.held {
		o.held = true
		o.writer.hold()
	}
	if o.mode.CompareAndSwap(waiting, detached) {
		return true
	}
	objects.abandoned.Add(-1)
	return false
}

// signal is called by the reader when the engine can go on. It tells whether the
// completers have to resume the operation.
func (o *op) signal() bool {
	if !o.mode.CompareAndSwap(waiting, signaled) {
		return true
	}
	o.wake <- struct{}{}
	return false
}

// discard ends an operation that nobody waits for any more.
func (o *op) discard() {
	objects := o.objects
	h, err := o.handle()
	o.recycle()
	if err == nil && h != nil {
		h.discard(func() { objects.abandoned.Add(-1) })
		return
	}
	objects.abandoned.Add(-1)
}

// err is how the operation ended.
func (o *op) err() error {
	if o.failed != nil || o.joined {
		return o.failed
	}
	return decodeError(o.code(), o.output())
}

// The ways to read a result.

func (o *op) nothing() (struct{}, error) { return struct{}{}, o.err() }

func (o *op) sequence() (uint64, error) {
	switch {
	case o.joined:
		return o.seq, o.failed
	case o.failed != nil || o.code() != codeDone:
		return 0, o.err()
	}
	return o.value(), nil
}

// handle wraps the handle that is the result, if it is one.
func (o *op) handle() (*handle, error) {
	if err := o.err(); err != nil {
		return nil, err
	}
	if product := methods[o.method].product; product != objectNone && !o.joined {
		h := newHandle(o.objects, product, o.value())
		if o.owner != nil {
			h.written = o.owner.written
		}
		return h, nil
	}
	return nil, nil
}

// decode reads a record. What it returns shares one copy of the record.
func decode[T any](o *op, read func(*decoder) T) (T, error) {
	var none T
	if err := o.err(); err != nil {
		return none, err
	}
	d := decoder{rest: append([]byte(nil), o.output()...)}
	value := read(&d)
	if d.short {
		return none, unreadable()
	}
	return value, nil
}
