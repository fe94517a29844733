package actors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
)

// Retry says how often and after which time a request that was not executed is
// tried again.
type Retry struct {
	Count int
	Delay time.Duration // times the number of the try, plus up to a half
}

// Ask sends a message to a child of a shard and waits for its answer. Only what
// was not executed is tried again, and only while ctx lasts.
func (n *Node) Ask(ctx context.Context, shard int, child string, message any, retry Retry) (any, error) {
	for try := 1; ; try++ {
		answer, err := n.ask(ctx, shard, child, message)
		if err == nil || try > retry.Count || !retryable(err) || n.leaving.Load() {
			return answer, err
		}
		if clock.Sleep(ctx, pause(retry.Delay, try, rand.Int64N)) != nil {
			return nil, messages.NotExecuted(shard, child, messages.ErrTimeout, errors.Join(context.Cause(ctx), err))
		}
	}
}

// retryable says whether another try may find what this one did not.
func retryable(err error) bool {
	if !errors.Is(err, messages.ErrNotExecuted) {
		return false
	}
	for _, kind := range []error{
		messages.ErrUnassigned, messages.ErrNotOwner, messages.ErrNoConnection, messages.ErrStopping, messages.ErrFenced,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// pause before the try after this one: delay × try, plus up to a half of it.
func pause(delay time.Duration, try int, random func(int64) int64) time.Duration {
	base := delay * time.Duration(try)
	return base + time.Duration(random(max(int64(base)/2, 1)))
}

func (n *Node) ask(ctx context.Context, shard int, child string, message any) (any, error) {
	if ctx.Err() != nil {
		return nil, messages.NotExecuted(shard, child, messages.ErrTimeout, context.Cause(ctx))
	}
	b, kind, cause := n.find(shard, child)
	if kind != nil {
		return nil, messages.NotExecuted(shard, child, kind, cause)
	}
	r := newRequest(shard, child, message)
	n.replies.add(r)
	defer n.replies.remove(r)
	b.ask(r)
	select {
	case <-r.done:
	case <-ctx.Done():
		r.end(messages.ErrTimeout, messages.ErrTimeout, context.Cause(ctx))
		<-r.done
	}
	return r.answer, r.err
}

// find is the inbox of a child of a shard that is open here, or the kind of
// error and what is behind it.
func (n *Node) find(shard int, child string) (b *inbox, kind, cause error) {
	if shard < 0 || shard >= len(n.table) {
		return nil, messages.ErrInvalid, fmt.Errorf("there is no shard %d: shards are 0 to %d", shard, len(n.table)-1)
	}
	switch e := n.table.get(shard); e.state {
	case StateRunning:
		if b := e.shard.inbox(child); b != nil {
			return b, nil, nil
		}
		return nil, messages.ErrNoChild, fmt.Errorf("it has %q", e.shard.childNames())
	case StateClosing:
		return nil, messages.ErrStopping, nil
	default:
		return nil, messages.ErrUnassigned, e.err
	}
}
