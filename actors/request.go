package actors

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/internal/oneshot"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store/slatedb"
)

// The life of a request: waiting → begun → settled, or waiting → settled.
const (
	waiting uint32 = iota
	begun
	settled
)

// request is one message to a child, from the moment it is admitted until it is
// settled with an answer or an error. It travels through the child's mailbox.
type request struct {
	id      uint32 // names it in the sender's PID
	shard   int
	target  string
	message proto.Message

	state  atomic.Uint32
	home   *Shard         // whose gate it is inside of; only who settles a request that has begun may read it
	queue  *atomic.Int32  // requests in its mailbox
	done   oneshot.Signal // sent when settled; the fields below are valid then
	served *served        // of another node's, told instead; nil for one of this node's
	answer proto.Message
	err    error

	inbox      *inbox  // of a request to a child; nil if it never was admitted
	ledger     *ledger // set once, before the request is sent; nil if it never was admitted
	linked     bool    // in the ledger; guarded, as the links are, by its lock
	prev, next *request

	sender   actor.PID             // what the child answers to
	envelope actor.MessageEnvelope // what the child gets
}

func newRequest(shard int, target string, message proto.Message) *request {
	return &request{shard: shard, target: target, message: message, done: oneshot.New()}
}

// wait waits for the end of the request, at most until ctx ends or, above 0, patience. It
// is to be called once.
func (r *request) wait(ctx context.Context, patience time.Duration) (proto.Message, error) {
	r.done.Wait(ctx, patience, func(cause error) { r.end(messages.ErrTimeout, messages.ErrTimeout, cause) })
	return r.answer, r.err
}

// begin marks the request as taken from the mailbox, if the gate lets it in.
// False: it is settled, or was before.
func (r *request) begin(s *Shard) bool {
	if r.served != nil && r.served.late() {
		r.refuse(messages.ErrTimeout, errLate)
		return false
	}
	if kind := s.gate.enter(); kind != nil {
		r.refuse(kind, nil)
		return false
	}
	r.home = s
	if !r.leaveQueue(begun) {
		s.gate.leave()
		return false
	}
	return true
}

// leaveQueue ends the waiting of the request, once.
func (r *request) leaveQueue(to uint32) bool {
	if !r.state.CompareAndSwap(waiting, to) {
		return false
	}
	if r.inbox != nil {
		r.inbox.waiting.Add(-1)
	}
	return true
}

// refuse settles a request that has not begun as not executed.
func (r *request) refuse(kind, cause error) bool {
	if !r.leaveQueue(settled) {
		return false
	}
	r.message = nil // what is left may stay in the mailbox for long
	r.settle(nil, messages.NotExecuted(r.shard, r.target, kind, cause))
	return true
}

// lose settles a request that has begun as unknown.
func (r *request) lose(kind, cause error) {
	if r.state.CompareAndSwap(begun, settled) {
		r.finish(nil, messages.OutcomeUnknown(r.shard, r.target, kind, cause))
	}
}

// end settles the request by how far it got: not executed, or unknown.
func (r *request) end(waitingKind, begunKind, cause error) {
	if !r.refuse(waitingKind, cause) {
		r.lose(begunKind, cause)
	}
}

// respond settles a request that has begun with what the child or handler said: an
// answer, the application's error, or an error that leaves the outcome unknown. A
// proven answer is true whatever becomes of the shard.
func (r *request) respond(message any, proven bool) {
	answer, err := r.judge(message)
	if !r.state.CompareAndSwap(begun, settled) {
		return
	}
	if kind := r.home.gate.lets(proven); kind != nil {
		r.finish(nil, messages.OutcomeUnknown(r.shard, r.target, kind, nil))
		return
	}
	r.finish(answer, err)
	if errors.Is(err, slatedb.ErrClosed) {
		r.home.inspect(nil) // it may be another shard's
	}
}

// judge is what the caller gets for what the child or handler said. What says nothing, as a
// nil pointer in an interface does, or panics when it is asked, is no answer.
func (r *request) judge(message any) (answer proto.Message, err error) {
	defer func() {
		if recover() != nil {
			answer, err = nil, r.wrong(fmt.Errorf("the answer is a %T that panics", message))
		}
	}()
	switch m := message.(type) {
	case proto.Message:
		if !m.ProtoReflect().IsValid() {
			return nil, r.wrong(fmt.Errorf("the answer is a nil %T", message))
		}
		return m, nil
	case error:
		no, ok := errors.AsType[*messages.AppError](m)
		switch {
		case !ok:
			return nil, messages.OutcomeUnknown(r.shard, r.target, kindOf(m), m)
		case no == nil:
			return nil, r.wrong(fmt.Errorf("the answer is a nil %T", no))
		}
		return nil, no
	}
	return nil, r.wrong(fmt.Errorf("the answer is a %T, which is no protobuf message", message))
}

func (r *request) wrong(cause error) error {
	return messages.OutcomeUnknown(r.shard, r.target, messages.ErrWrongAnswer, cause)
}

// handOver takes the request out of the child's hands: the child's end no longer
// settles it.
func (r *request) handOver() {
	if r.ledger != nil {
		r.ledger.remove(r)
	}
}

// finish settles a request that had begun.
func (r *request) finish(answer proto.Message, err error) {
	r.settle(answer, err)
	r.home.gate.leave()
}

func (r *request) settle(answer proto.Message, err error) {
	r.answer, r.err = answer, err
	if r.served != nil {
		r.served.settled()
	} else {
		r.done.Send()
	}
	r.handOver()
}

// kindOf is the routing kind that an error of a child or handler stands for.
func kindOf(err error) error {
	for _, kind := range []error{messages.ErrFenced, messages.ErrNotDurable, messages.ErrWrongAnswer} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	if errors.Is(err, slatedb.ErrFenced) {
		return messages.ErrFenced
	}
	return messages.ErrChildFailed
}
