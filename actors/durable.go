package actors

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/messages"
)

// DurableSeq is the highest sequence number that is known to be durable.
func (s *Shard) DurableSeq() uint64 {
	durable, _ := s.lastWord()
	return durable
}

// WrittenSeq is the highest sequence number written through this opening, or the
// durable one it began with. What was read so far is at or below it.
func (s *Shard) WrittenSeq() uint64 { return s.written.Load() }

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
