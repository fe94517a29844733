package actors

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

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
	s.hurry(s.WrittenSeq())
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
