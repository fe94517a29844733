package lease

import (
	"context"
	"fmt"
	"sync/atomic"
)

// guarded is a store whose panics are errors of its requests, which run in goroutines that
// nobody else guards. What a write that panicked did is unknown.
type guarded struct{ Store }

func calm(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the store panicked: %v", p)
	}
}

func calmWrite(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: the store panicked: %v", ErrUnknownOutcome, p)
	}
}

func (g guarded) Setup(ctx context.Context) (err error) {
	defer calm(&err)
	return g.Store.Setup(ctx)
}

func (g guarded) List(ctx context.Context) (_ Listing, err error) {
	defer calm(&err)
	return g.Store.List(ctx)
}

func (g guarded) ReadLease(ctx context.Context, shard int) (_ Lease, err error) {
	defer calm(&err)
	return g.Store.ReadLease(ctx, shard)
}

func (g guarded) ReadHeartbeat(ctx context.Context, node string) (_ Beat, err error) {
	defer calm(&err)
	return g.Store.ReadHeartbeat(ctx, node)
}

func (g guarded) WriteLease(ctx context.Context, l Lease) (_ Version, err error) {
	defer calmWrite(&err)
	return g.Store.WriteLease(ctx, l)
}

func (g guarded) WriteHeartbeat(ctx context.Context, b Beat) (_ Version, err error) {
	defer calmWrite(&err)
	return g.Store.WriteHeartbeat(ctx, b)
}

func (g guarded) RemoveHeartbeat(ctx context.Context, node string) (err error) {
	defer calm(&err)
	return g.Store.RemoveHeartbeat(ctx, node)
}

// Renew tells of each lease once, also of those that the store says nothing of.
func (g guarded) Renew(ctx context.Context, list []Lease, done func(i int, v Version, err error)) {
	told := make([]atomic.Bool, len(list))
	once := func(i int, v Version, err error) {
		if told[i].CompareAndSwap(false, true) {
			done(i, v, err)
		}
	}
	err := g.renew(ctx, list, once)
	for i := range list {
		once(i, "", err)
	}
}

func (g guarded) renew(ctx context.Context, list []Lease, done func(i int, v Version, err error)) (err error) {
	defer calmWrite(&err)
	g.Store.Renew(ctx, list, done)
	return fmt.Errorf("%w: the store says nothing of it", ErrUnknownOutcome)
}

func (g guarded) Close() (err error) {
	defer calm(&err)
	return g.Store.Close()
}
