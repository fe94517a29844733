package actors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// Shard is one opening of a shard's database on this node, as its children see
// it. It is safe for concurrent use, at any depth below the shard, and stays
// readable after the shard's end.
type Shard struct {
	number  int
	opening string
	config  *Config
	replies *replies
	began   func(*Shard) // told before the open begins; may be nil
	events  func(supervision.Event)

	status status
	gate   *gate
	db     atomic.Pointer[slatedb.DB] // set before any child exists
	waits  waits
	replay replay

	dirty    atomic.Bool   // written to since the last flush began
	written  atomic.Uint64 // highest sequence number written here
	notifier atomic.Pointer[actor.PID]
	database atomic.Pointer[actor.PID]
	final    atomic.Pointer[lastWord]
	failure  atomic.Pointer[error] // of the open
	inFlight atomic.Bool           // an open or a close that was given up goes on

	children supervision.Spec // filled once the database is open
	pid      *actor.PID       // of the shard's supervisor
	handlers *handlers
	calls    *tally // the node's goroutines that run handlers

	confirmations confirmations

	mu      sync.RWMutex
	inboxes map[string]*inbox // of all children; nil for a supervisor, which takes no requests
}

// lastWord is what the database said at its end.
type lastWord struct {
	durable uint64
	reason  error
}

func newShard(number int, opening string, lease *strategy.Lease, c *Config, r *replies) *Shard {
	s := &Shard{
		number: number, opening: opening, config: c, replies: r,
		inboxes: map[string]*inbox{}, handlers: newHandlers(), calls: &tally{},
	}
	s.gate = &gate{status: &s.status, lease: lease}
	s.waits.d.interval = c.FlushInterval
	s.replay.found = firstLog
	return s
}

// Number is the shard's number, 0 … N−1.
func (s *Shard) Number() int { return s.number }

// name is that of the opening's subtree.
func (s *Shard) name() string { return fmt.Sprintf("%d-%s", s.number, s.opening) }

// Cluster is the cluster's name.
func (s *Shard) Cluster() string { return s.config.Cluster }

// Opening identifies this opening of the database; no two are alike.
func (s *Shard) Opening() string { return s.opening }

// Generation is the number of the lease's claim; 0 without leases.
func (s *Shard) Generation() uint64 { return s.gate.lease.Generation() }

// Options is the application's ChildOptions, as given.
func (s *Shard) Options() any { return s.config.ChildOptions }

// Status says whether the shard is running, stopping or fenced.
func (s *Shard) Status() Status {
	s.gate.valid()
	return s.status.get()
}

// DB is the shard's database. The shard opens, flushes and closes it: a child
// that closes it crashes the shard. Every write through it becomes durable,
// waited for or not.
func (s *Shard) DB() *slatedb.DB { return s.db.Load() }

// WrittenSeq is the highest sequence number written through this opening, or the
// durable one it began with. What was read so far is at or below it.
func (s *Shard) WrittenSeq() uint64 { return s.written.Load() }

// DurableSeq is the highest sequence number that is known to be durable.
func (s *Shard) DurableSeq() uint64 {
	durable, _ := s.lastWord()
	return durable
}

// NotifyWhenDurable sends [messages.Durable] with the tag once everything up to
// seq is durable, or [messages.NotDurable] if the shard ends before that is
// known. It returns at once. A shard's notifications come lowest sequence number
// first, those with the same in the order of the calls. A nil PID is told nothing.
func (s *Shard) NotifyWhenDurable(seq uint64, tag any, to *actor.PID) {
	if to == nil {
		return
	}
	root := s.replies.system.Root
	s.whenDurable(waiter{seq: seq, tell: func(durable bool, reason error) {
		if durable {
			root.Send(to, &messages.Durable{Tag: tag, Seq: seq})
			return
		}
		root.Send(to, &messages.NotDurable{Tag: tag, Seq: seq, Reason: reason})
	}})
}

// NotifyWritten makes the completion of a write in the asynchronous form: it sends
// [messages.Written] with the tag, the write's sequence number, and why it failed. A nil PID
// is told nothing.
func (s *Shard) NotifyWritten(tag any, to *actor.PID) func(seq uint64, err error) {
	if to == nil {
		return func(uint64, error) {}
	}
	root := s.replies.system.Root
	return func(seq uint64, err error) { root.Send(to, &messages.Written{Tag: tag, Seq: seq, Err: err}) }
}

// RespondWhenDurable answers the request in the actor's hands, with a message or a
// [*messages.AppError], once everything up to seq is durable. If the shard ends before
// that is known, the caller gets an error that says unknown. It returns at once, and the
// answer is given also after the child has stopped.
func (s *Shard) RespondWhenDurable(ctx actor.Context, seq uint64, reply any) {
	s.respondWhen(ctx, reply, s.onDurable(seq))
}

// respondWhen answers the request in the actor's hands with the reply once it is proven
// true, or as unknown.
func (s *Shard) respondWhen(ctx actor.Context, reply any, when func(waiter)) {
	r := s.replies.find(ctx.Sender())
	if r == nil {
		s.sendWhen(ctx.Sender(), reply, when)
		return
	}
	r.handOver()
	_, prompt := reply.(proto.Message) // an error may have methods of the application's
	when(waiter{prompt: prompt, tell: func(proven bool, reason error) {
		if proven {
			r.respond(reply, true)
			return
		}
		r.lose(s.loss(reason), reason)
	}})
}

// sendWhen answers who is not one of our requests: a future of the actor system, or nobody.
func (s *Shard) sendWhen(to *actor.PID, reply any, when func(waiter)) {
	if to == nil {
		return
	}
	root := s.replies.system.Root
	when(waiter{tell: func(proven bool, reason error) {
		if proven {
			root.Send(to, reply)
			return
		}
		root.Send(to, &messages.NotDurable{Reason: reason})
	}})
}

// AwaitDurable returns once everything up to seq is durable, at the pace of flushes; it
// is for handlers and other goroutines. An error is an [messages.ErrOutcomeUnknown], or
// the cause of ctx, whose end ends the wait.
func (s *Shard) AwaitDurable(ctx context.Context, seq uint64) error {
	return s.await(ctx, s.onDurable(seq))
}

// await waits for what when tells, or for the end of ctx.
func (s *Shard) await(ctx context.Context, when func(waiter)) error {
	done := make(chan error, 1)
	when(waiter{prompt: true, tell: func(proven bool, reason error) {
		if proven {
			done <- nil
			return
		}
		done <- messages.OutcomeUnknown(s.number, "", s.loss(reason), reason)
	}})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Flush makes everything written so far durable, without waiting for the pace of
// flushes. The end of ctx ends the wait, not the flush.
func (s *Shard) Flush(ctx context.Context) error {
	seq := s.WrittenSeq()
	if seq <= s.DurableSeq() {
		return nil
	}
	return s.await(ctx, func(w waiter) {
		w.seq = seq
		s.whenDurable(w)
		s.hurry()
	})
}

// onDurable registers waiters for the sequence number.
func (s *Shard) onDurable(seq uint64) func(waiter) {
	return func(w waiter) {
		w.seq = seq
		s.whenDurable(w)
	}
}

func (s *Shard) whenDurable(w waiter) {
	s.waits.on(w)
	if durable := s.DurableSeq(); w.seq <= durable && s.waits.answer(durable) {
		s.sendNotifier(reached{})
	}
}

// wrote is called after each write with its sequence number.
func (s *Shard) wrote(seq uint64) {
	for {
		old := s.written.Load()
		if seq <= old || s.written.CompareAndSwap(old, seq) {
			break
		}
	}
	if s.dirty.CompareAndSwap(false, true) {
		s.do(s.waits.wrote(clock.Now()))
	}
}

// hurry begins a flush without waiting for the pace.
func (s *Shard) hurry() { s.do(s.waits.hurry(clock.Now())) }

// do carries out what the durability state says, on any goroutine: on a quiet shard the way
// to the notifier would be a good part of the wait. The notifier has the timer.
func (s *Shard) do(next step) {
	switch {
	case next.flush:
		s.flush()
	case next.wake > 0:
		s.sendNotifier(later{next.wake})
	}
}

// flush begins the flush that the durability state asked for. What is written from now on
// is not in it.
func (s *Shard) flush() {
	s.dirty.Store(false)
	s.DB().FlushAsync(slatedb.WAL, s.flushed)
	if s.replay.flushing(clock.Now()) {
		s.flushTables()
	}
}

// flushTables lets the next opening read less of the log. Nobody waits for it.
func (s *Shard) flushTables() {
	s.DB().FlushAsync(slatedb.Memtable, func(error) { s.replay.flushed() })
}

// flushed follows the end of a flush. Those who wait for an answer are first, and the
// notifier is only troubled with what is left.
func (s *Shard) flushed(err error) {
	left := s.waits.answer(s.DurableSeq())
	s.do(s.waits.flushed(clock.Now()))
	if left {
		s.sendNotifier(reached{})
	}
	if err != nil {
		s.inspect(err)
	}
}

// inspect asks the database to look whether it has ended, and why an operation failed.
func (s *Shard) inspect(err error) {
	if pid := s.database.Load(); pid != nil {
		s.replies.system.Root.Send(pid, inspect{err})
	}
}

func (s *Shard) sendNotifier(message any) {
	if pid := s.notifier.Load(); pid != nil {
		s.replies.system.Root.Send(pid, message)
	}
}

// stop begins a planned end: the gate is shut, and what has begun is helped to
// become durable. It may be called more than once.
func (s *Shard) stop() {
	s.status.stopping()
	s.shut()
	if s.DB() == nil {
		return
	}
	s.hurry()
	if s.replay.ending(clock.Now()) {
		s.flushTables()
	}
}

// onDrained calls f once the gate is shut and nothing is inside.
func (s *Shard) onDrained(f func()) { s.gate.onDrained(f) }

// closed says that the database was never to be opened, or has ended and nothing of
// it goes on.
func (s *Shard) closed() bool {
	return s.database.Load() == nil || s.final.Load() != nil && !s.inFlight.Load()
}

// closeError is why the database is not closed; nil if it is.
func (s *Shard) closeError() error {
	if s.closed() {
		return nil
	}
	return errCloseAbandoned
}

// opens says that the database's actor is about to open it.
func (s *Shard) opens(database *actor.PID) {
	s.database.Store(database)
	if s.began != nil {
		s.began(s)
	}
}

// opened takes the database over; everything in it is durable.
func (s *Shard) opened(db *slatedb.DB) {
	s.written.Store(db.Status().DurableSeq)
	s.db.Store(db)
}

// end keeps the database's last word.
func (s *Shard) end(last lastWord) { s.final.Store(&last) }

// lastWord is how far the database came and why it ended.
func (s *Shard) lastWord() (durable uint64, reason error) {
	if last := s.final.Load(); last != nil {
		return last.durable, last.reason
	}
	if s.DB() == nil {
		return 0, messages.ErrStopping
	}
	return s.DB().Status().DurableSeq, messages.ErrStopping
}

// loss is the kind of what is not proven, for the reason.
func (s *Shard) loss(reason error) error {
	if errors.Is(reason, errUnproven) && s.status.get() != Fenced {
		return messages.ErrStopping
	}
	return s.lossKind()
}

func (s *Shard) lossKind() error {
	if s.status.get() == Fenced {
		return messages.ErrFenced
	}
	return messages.ErrNotDurable
}

// inbox is the front of the named child; nil if the shard has no such child.
func (s *Shard) inbox(name string) *inbox {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.inboxes[name]
}

// namesAtMost bounds what the error of a request to no child tells of the others: children
// that come and go may be many, and may be gone often.
const namesAtMost = 20

// others says which children take requests.
func (s *Shard) others() error {
	s.mu.RLock()
	count := len(s.inboxes)
	s.mu.RUnlock()
	if count > namesAtMost {
		return fmt.Errorf("it has %d others", count)
	}
	return fmt.Errorf("it has %q", s.childNames())
}

// childNames are the names of the children that take requests, in order.
func (s *Shard) childNames() []string {
	var names []string
	for _, b := range s.fronts() {
		names = append(names, b.name)
	}
	slices.Sort(names)
	return names
}

// fronts are the inboxes of all children.
func (s *Shard) fronts() []*inbox {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []*inbox
	for _, b := range s.inboxes {
		if b != nil {
			all = append(all, b)
		}
	}
	return all
}

// abandonRequests settles what is left in the inboxes once the children are gone.
func (s *Shard) abandonRequests() {
	for _, b := range s.fronts() {
		b.down(messages.ErrChildStopped)
	}
	s.handlers.end(s.lossKind())
}

// shut lets no request in any more and refuses those that wait.
func (s *Shard) shut() {
	s.gate.close()
	for _, b := range s.fronts() {
		b.close()
	}
}
