package slap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/actors"
)

// CallOption changes one request.
type CallOption func(*actors.Retry)

// WithRetries is how often the request is tried again if it was not executed because of
// a move; 0 is never. Default: [Config.Retries].
func WithRetries(n int) CallOption { return func(r *actors.Retry) { r.Count = n } }

// WithRetryDelay is the time before the first of the tries that follow. Default:
// [Config.RetryDelay].
func WithRetryDelay(d time.Duration) CallOption { return func(r *actors.Retry) { r.Delay = d } }

// Ask sends a message to the named child of a shard and returns its answer. The
// message is not copied: do not change it afterwards. Errors are an [*AppError],
// the child's own, or a [*RequestError] that says whether the request ran. What
// was not executed because of a move is tried again, up to Retries times and only
// while ctx lasts; what was sent never is. A child that never answers is
// [ErrOutcomeUnknown] when ctx, or CallTimeout, ends. It waits: actors use
// [Cluster.Router] instead.
func (c *Cluster) Ask(ctx context.Context, shard int, child string, request proto.Message, opts ...CallOption) (proto.Message, error) {
	node, retry, err := c.checked(shard, child, request, opts)
	if err != nil {
		return nil, err
	}
	return node.Ask(ctx, shard, child, request, retry)
}

// Call runs the handler with this name, of [Config.Handlers], where the shard is open, and
// returns its answer. Errors, retries and ctx are those of [Cluster.Ask].
func (c *Cluster) Call(ctx context.Context, shard int, handler string, request proto.Message, opts ...CallOption) (proto.Message, error) {
	node, retry, err := c.checked(shard, handler, request, opts)
	if err != nil {
		return nil, err
	}
	return node.Call(ctx, shard, handler, request, retry)
}

// Tell sends a message to the named child of a shard: at most once, without an answer.
// An error says that it was not sent, and is tried again as [Cluster.Ask] does. Without
// an error the message is on its way; it is dropped if the child or the shard ends first.
func (c *Cluster) Tell(ctx context.Context, shard int, child string, request proto.Message, opts ...CallOption) error {
	node, retry, err := c.checked(shard, child, request, opts)
	if err != nil {
		return err
	}
	return node.Tell(ctx, shard, child, request, retry)
}

// PID is the address of the named child in the shard's current opening, for plain
// messages: at most once, dropped when that opening is over, and without the gate, the
// limit and the errors of [Cluster.Ask]. While the shard moves it tries again as that does.
func (c *Cluster) PID(ctx context.Context, shard int, child string, opts ...CallOption) (*actor.PID, error) {
	node, retry, err := c.admit(shard, child, opts)
	if err != nil {
		return nil, err
	}
	return node.PID(ctx, shard, child, retry)
}

// Router is the process that actors send [messages.Ask] and [messages.Call] to, since they
// must not wait: a [messages.Answered] comes back. It is nil before the start; what is
// sent to it after the end is a dead letter.
func (c *Cluster) Router() *actor.PID {
	node := c.node.Load()
	if node == nil {
		return nil
	}
	return node.Router()
}

// Ask is [Cluster.Ask] for an answer of a known type. Another type is an error
// that is [ErrWrongAnswer]: the request ran.
func Ask[T proto.Message](ctx context.Context, c *Cluster, shard int, child string, request proto.Message, opts ...CallOption) (T, error) {
	answer, err := c.Ask(ctx, shard, child, request, opts...)
	return typed[T](shard, child, answer, err)
}

// Call is [Cluster.Call] for an answer of a known type. Another type is an error
// that is [ErrWrongAnswer]: the request ran.
func Call[T proto.Message](
	ctx context.Context, c *Cluster, shard int, handler string, request proto.Message, opts ...CallOption,
) (T, error) {
	answer, err := c.Call(ctx, shard, handler, request, opts...)
	return typed[T](shard, handler, answer, err)
}

func typed[T proto.Message](shard int, target string, answer proto.Message, err error) (T, error) {
	typed, ok := answer.(T)
	if err == nil && !ok {
		err = wrongAnswer(shard, target, answer)
	}
	return typed, err
}

func wrongAnswer(shard int, target string, answer any) error {
	return &RequestError{
		Shard: shard, Target: target, Kind: ErrWrongAnswer, Unknown: true,
		Cause: fmt.Errorf("the answer is a %T", answer),
	}
}

// WrongRequest is the code of the [AppError] of a handler made by [Handle] that was sent
// a message of another type. The function did not run.
const WrongRequest = "slap.wrong_request"

// Handle makes a handler of a function for requests of one type.
func Handle[Request, Answer proto.Message](f func(context.Context, *Shard, Request) (Answer, error)) Handler {
	return func(ctx context.Context, shard *Shard, request proto.Message) (proto.Message, error) {
		typed, ok := request.(Request)
		if !ok {
			return nil, &AppError{Code: WrongRequest, Message: fmt.Sprintf("the handler takes a %T, not a %T", typed, request)}
		}
		return f(ctx, shard, typed)
	}
}

// admit checks a request before anything is sent.
func (c *Cluster) admit(shard int, target string, opts []CallOption) (*actors.Node, actors.Retry, error) {
	retry := actors.Retry{Count: c.config.Retries, Delay: c.config.RetryDelay}
	if len(opts) > 0 {
		retry = with(retry, opts)
	}
	switch {
	case retry.Count < 0:
		return nil, retry, invalid(shard, target, "WithRetries must not be negative")
	case retry.Delay < 0 || retry.Delay > MaxTimeout:
		return nil, retry, invalid(shard, target, "WithRetryDelay must be from 0 to "+MaxTimeout.String())
	}
	node := c.node.Load()
	if node == nil || c.ended() {
		return nil, retry, c.absent(shard, target)
	}
	return node, retry, nil
}

func with(retry actors.Retry, opts []CallOption) actors.Retry {
	for _, option := range opts {
		option(&retry)
	}
	return retry
}

// checked is [Cluster.admit] of a request that has a message.
func (c *Cluster) checked(shard int, target string, request proto.Message, opts []CallOption) (*actors.Node, actors.Retry, error) {
	if err := actors.CheckMessage(shard, target, request); err != nil {
		return nil, actors.Retry{}, err
	}
	return c.admit(shard, target, opts)
}

func invalid(shard int, target, why string) error {
	return &RequestError{Shard: shard, Target: target, Kind: ErrInvalid, Cause: errors.New(why)}
}

// absent is the error of a request to a node that does not run, or not yet.
func (c *Cluster) absent(shard int, target string) error {
	if why := c.unfit.Load(); why != nil && !c.ended() {
		return &RequestError{Shard: shard, Target: target, Kind: ErrUnassigned, Cause: *why}
	}
	return &RequestError{Shard: shard, Target: target, Kind: ErrNotRunning}
}
