package actors

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// ConfirmKey is the one key that applications must leave alone: its deletion, which no
// read and no scan shows, is what [Shard.Confirm] makes durable.
const ConfirmKey = "\x00slap/confirm"

// confirmations proves that this opening is the current one, for all who ask. What was
// read before is true if a write that was submitted after it became durable: a newer
// writer would have fenced that.
type confirmations struct {
	mu         sync.Mutex
	submitting bool // the write for some is on its way into memory
	next       []waiter
}

// errUnproven is why what was read may not be current.
var errUnproven = errors.New("the shard's lease did not last until the answer")

// Confirm returns once it is proven that what was read from the shard before the call
// was current, and everything read is durable. With it an answer is linearizable,
// also while another node takes the shard over. One write of a deletion serves all who
// wait; it costs a flush as any write does. With LeaseReads, under a lease, there is none:
// it returns at once if nothing was unflushed. An error is an [messages.ErrOutcomeUnknown]:
// answer with it. The end of ctx ends the wait.
func (s *Shard) Confirm(ctx context.Context) error {
	return s.await(ctx, s.confirm)
}

// RespondWhenConfirmed answers the request in the actor's hands once it is proven, as
// by [Shard.Confirm], that what was read before the call was current. If that cannot be
// proven the caller gets an error that says unknown. It returns at once, and the answer
// is given also after the child has stopped. An [messages.AppError] may be the reply too.
func (s *Shard) RespondWhenConfirmed(ctx actor.Context, reply any) {
	s.respondWhen(ctx, reply, s.confirm)
}

func (s *Shard) confirm(w waiter) {
	if s.config.LeaseReads && s.gate.lease != nil && !s.DB().Writing() {
		s.confirmByLease(w)
		return
	}
	c := &s.confirmations
	c.mu.Lock()
	c.next = append(c.next, w)
	submit := !c.submitting
	c.submitting = true
	c.mu.Unlock()
	if submit {
		s.submitConfirmation()
	}
}

// confirmByLease waits for what was written so far, which is all that a read could see as
// long as no write was on its way. That the lease still lasts then proves the read.
func (s *Shard) confirmByLease(w waiter) {
	tell := w.tell
	w.seq = s.WrittenSeq()
	w.tell = func(durable bool, reason error) {
		if durable && !s.gate.proves() {
			durable, reason = false, errUnproven
		}
		tell(durable, reason)
	}
	s.whenDurable(w)
}

// submitConfirmation writes for those who ask now. Who asks until it is in memory is
// served by the one after: its read may be later than this write.
func (s *Shard) submitConfirmation() {
	c := &s.confirmations
	c.mu.Lock()
	asked := c.next
	c.next = nil
	c.submitting = len(asked) > 0
	c.mu.Unlock()
	if len(asked) == 0 {
		return
	}
	s.DB().DeleteAsync([]byte(ConfirmKey), func(seq uint64, err error) {
		if err != nil {
			s.inspect(err)
			tell(asked, false, err)
		} else {
			s.whenDurable(together(seq, asked))
		}
		s.submitConfirmation()
	})
}

// together is one waiter in the place of all.
func together(seq uint64, all []waiter) waiter {
	return waiter{
		seq:    seq,
		prompt: !slices.ContainsFunc(all, func(w waiter) bool { return !w.prompt }),
		tell:   func(durable bool, reason error) { tell(all, durable, reason) },
	}
}
