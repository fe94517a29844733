package actors

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/supervision"
)

// inbox is the front of one named child of one opening, over all its restarts.
// It knows the requests in the child's mailbox and in its hands, so that none is
// forgotten when the child or the shard ends.
type inbox struct {
	name  string
	shard *Shard

	waiting atomic.Int32 // requests that have not begun and are not given up

	ledger               // its lock guards the fields below, too
	pid    *actor.PID    // the running incarnation; nil while there is none
	queue  *atomic.Int32 // messages in its mailbox that came through here, also those that nobody waits for any more
}

// told is a message that nobody waits for an answer to.
type told struct {
	message any
	queue   *atomic.Int32
}

// givenUp is how many requests that nobody waits for any more may be in a mailbox
// besides those that wait: it bounds the memory that a child which hangs costs.
const givenUp = 10_000

// limit is how many requests may wait.
func (b *inbox) limit() int { return b.shard.config.MaxPending }

// ask puts the request in front of the child, or settles it as not executed.
func (b *inbox) ask(r *request) {
	pid, kind := b.admit(r)
	if kind != nil {
		r.refuse(kind, nil)
		return
	}
	b.shard.replies.system.Root.Send(pid, r)
}

func (b *inbox) admit(r *request) (*actor.PID, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.pid == nil:
		return nil, b.shard.gate.refusal()
	case int(b.waiting.Load()) >= b.limit(), int(b.queue.Load()) >= b.limit()+givenUp:
		return nil, messages.ErrOverloaded
	}
	b.waiting.Add(1)
	b.queue.Add(1)
	r.queue, r.inbox = b.queue, b
	b.add(r)
	return b.pid, nil
}

// tell puts a message in front of the child, or returns the kind of error.
func (b *inbox) tell(message any) error {
	b.mu.Lock()
	pid, queue := b.pid, b.queue
	b.mu.Unlock()
	switch {
	case pid == nil, !b.shard.gate.open():
		return b.shard.gate.refusal()
	case int(queue.Load()) >= b.limit():
		return messages.ErrOverloaded
	}
	queue.Add(1)
	b.shard.replies.system.Root.Send(pid, told{message, queue})
	return nil
}

// post puts a message in front of the child, or says why it is not.
func (b *inbox) post(message any) error {
	if kind := b.tell(message); kind != nil {
		return messages.NotExecuted(b.shard.number, b.name, kind, nil)
	}
	return nil
}

// address is the child's, which may be gone by now.
func (b *inbox) address() *actor.PID { return supervision.PID(b.shard.supervisor().PID(), b.name) }

// up says that an incarnation of the child takes requests.
func (b *inbox) up(pid *actor.PID) {
	b.down(messages.ErrChildStopped)
	b.mu.Lock()
	b.pid, b.queue = pid, new(atomic.Int32)
	b.mu.Unlock()
}

// down says that the incarnation is gone: what waits was not executed, what has
// begun and has no answer is unknown.
func (b *inbox) down(kind error) {
	endAll(b.shut(), kind)
}

// gone is the end of an incarnation. One that was given up may end after the next is up.
func (b *inbox) gone(pid *actor.PID) {
	b.mu.Lock()
	replaced := b.pid != nil && b.pid != pid
	b.mu.Unlock()
	if !replaced {
		b.down(messages.ErrChildStopped)
	}
}

// close refuses what waits and what comes; what has begun may still be answered.
func (b *inbox) close() {
	for _, r := range b.shut() {
		r.refuse(messages.ErrStopping, nil)
	}
}

// shut lets no request in and returns those that are not settled.
func (b *inbox) shut() []*request {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pid = nil
	return b.open()
}

// middleware stands in front of the child. It marks requests begun when they
// leave the mailbox and hands on the message alone, with a sender that leads to
// the request.
func (b *inbox) middleware(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
		switch m := env.Message.(type) {
		case *request:
			b.deliver(c, m, next)
		case told:
			m.queue.Add(-1)
			next(c, &actor.MessageEnvelope{Message: m.message})
		case *actor.Started:
			next(c, env)
			b.up(c.Self())
		case *actor.Stopping:
			b.close()
			next(c, env)
		case *actor.Stopped:
			defer b.gone(c.Self())
			next(c, env)
		default:
			next(c, env)
		}
	}
}

func (b *inbox) deliver(c actor.ReceiverContext, r *request, next actor.ReceiverFunc) {
	r.queue.Add(-1)
	if !r.begin(b.shard) {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			r.lose(messages.ErrPanicked, &supervision.PanicError{Value: p, Stack: debug.Stack()})
			panic(p)
		}
	}()
	r.envelope.Message, r.envelope.Sender = r.message, b.shard.replies.sender(r)
	next(c, &r.envelope)
}
