package store

import (
	"context"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/slap-go/slap/internal/clock"
)

// request is one call, tried until its effect is known or its context ends.
type request struct {
	write     bool
	hasty     bool // a server that cannot be reached, or is none of S3, ends it
	condition Condition
	try       func(context.Context) error
}

func (b *s3Bucket) do(ctx context.Context, r request) error {
	if b.life.Err() != nil {
		return ErrClosed
	}
	ctx, cancel := b.bound(ctx)
	defer cancel()
	t := tries{write: r.write, hasty: r.hasty}
	var last error
	for n := 0; ctx.Err() == nil; n++ {
		err, sent := b.once(ctx, r.try)
		if err != nil && last != nil && !r.write && ctx.Err() != nil {
			break // the end of the time says less than the tries before
		}
		e := judge(err, sent, r.condition)
		final, result := t.add(e, sent, explain(b.at, err))
		if final && (e != postponed || ctx.Err() == nil) { // else the time is what ended it
			return result
		}
		b.recover(e)
		last = result
		if clock.Sleep(ctx, pause(n, b.random())) != nil {
			break
		}
	}
	return ended(ctx, last)
}

// bound ends the request with the bucket, and by the request timeout if the
// caller has set no deadline.
func (b *s3Bucket) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.life, func() { end(context.Cause(b.life)) })
	cancel := func() { stop(); end(nil) }
	if _, ok := ctx.Deadline(); ok {
		return ctx, cancel
	}
	ctx, expire := context.WithTimeout(ctx, b.at.RequestTimeout)
	return ctx, func() { expire(); cancel() }
}

// once tries once and tells whether the request may have reached the server.
func (b *s3Bucket) once(ctx context.Context, try func(context.Context) error) (err error, sent bool) {
	ctx, cancel := context.WithTimeout(ctx, b.at.RequestTimeout)
	defer cancel()
	var watch atomic.Bool
	err = try(context.WithValue(ctx, sentKey{}, &watch))
	return err, watch.Load()
}

// recover makes the next try meet something new: other connections after a reply
// that did not come, other credentials after some that were out of date.
func (b *s3Bucket) recover(e effect) {
	switch e {
	case unclear:
		b.transport.CloseIdleConnections()
	case outdated:
		if cache, ok := b.at.Credentials.(*aws.CredentialsCache); ok {
			cache.Invalidate()
		}
	}
}
