package actors

import (
	"context"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/store/slatedb"
)

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
		s.hurry(seq)
	})
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

// hurry begins a flush without waiting for the pace, unless all up to seq is durable.
func (s *Shard) hurry(seq uint64) { s.do(s.waits.hurry(seq, clock.Now())) }

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
