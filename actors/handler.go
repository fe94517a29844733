package actors

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/supervision"
)

// Handler is a function of the application's that runs where a shard is open, in a
// goroutine of its own. ctx ends with the caller's and when the shard stops. An error
// that is no [messages.AppError], or a panic, leaves the outcome unknown.
type Handler = func(ctx context.Context, shard *Shard, request proto.Message) (proto.Message, error)

// What becomes of a handler that says nothing at all.
var (
	errNoAnswer = errors.New("the handler returned neither an answer nor an error")
	errGone     = errors.New("the handler ended its goroutine")
)

// handlers are the calls that run on one opening of a shard.
type handlers struct {
	ledger               // of those that are not settled
	running atomic.Int32 // also those that nobody waits for any more
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

func newHandlers() *handlers {
	h := &handlers{}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	return h
}

// admit counts one more that runs, below the limit.
func (h *handlers) admit(r *request, limit int) error {
	if int(h.running.Add(1)) > limit {
		h.running.Add(-1)
		return messages.ErrOverloaded
	}
	h.mu.Lock()
	h.add(r)
	h.mu.Unlock()
	return nil
}

// end cancels what runs and settles what has no answer.
func (h *handlers) end(kind error) {
	h.cancel(kind)
	h.mu.Lock()
	open := h.open()
	h.mu.Unlock()
	endAll(open, kind)
}

// call runs the handler for the request, or refuses it.
func (s *Shard) call(ctx context.Context, r *request, h Handler, message proto.Message) {
	if kind := s.handlers.admit(r, s.config.MaxPending); kind != nil {
		r.refuse(kind, nil)
		return
	}
	if !r.begin(s) {
		s.handlers.running.Add(-1)
		return
	}
	s.gate.stay() // until the handler has returned, also when nobody waits for it any more
	s.calls.add()
	go func() {
		defer s.calls.done()
		defer s.handlers.running.Add(-1)
		defer s.gate.leave()
		s.run(ctx, r, h, message)
	}()
}

func (s *Shard) run(ctx context.Context, r *request, h Handler, message proto.Message) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.handlers.ctx, func() { cancel(context.Cause(s.handlers.ctx)) })()
	returned := false
	defer func() {
		if returned {
			return
		}
		cause := errGone
		if p := recover(); p != nil {
			cause = &supervision.PanicError{Value: p, Stack: debug.Stack()}
		}
		r.lose(messages.ErrPanicked, cause)
	}()
	answer, err := h(ctx, s, message)
	returned = true
	switch {
	case err != nil:
		r.respond(err, false)
	case answer == nil:
		r.lose(messages.ErrWrongAnswer, errNoAnswer)
	default:
		r.respond(answer, false)
	}
}
