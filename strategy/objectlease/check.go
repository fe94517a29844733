package objectlease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/lease"
)

// Setup checks that the bucket honours the conditions of writes, by four writes to an
// object that stays. Others may do so at the same time: all nodes have the same object, since
// names come and go, and every listing shows what is there.
func (r *records) Setup(ctx context.Context) error {
	if err := r.identify(ctx); err != nil {
		return err
	}
	c := check{bucket: r.bucket, key: r.place.check()}
	err := c.run(ctx)
	if err == nil || errors.Is(err, lease.ErrUnsupported) {
		return err
	}
	return fmt.Errorf("check that the store can hold leases: %w", err)
}

// identify refuses leases of another cluster: each would take the other's nodes for its own.
func (r *records) identify(ctx context.Context) error {
	if r.cluster == nil {
		return nil
	}
	_, err := store.Identify(ctx, r.bucket, *r.cluster)
	if errors.Is(err, store.ErrIdentity) {
		return fmt.Errorf("%w: %w", lease.ErrUnsupported, err)
	}
	return err
}

// check is a check of a bucket on its way.
type check struct {
	bucket store.Bucket
	key    string
}

func (c check) run(ctx context.Context) error {
	replaced, err := c.put(ctx, store.Overwrite())
	if err != nil {
		return err
	}
	// Whether this write is made or another one came before it: the version is past.
	if _, err = c.put(ctx, store.IfMatch(replaced)); err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	err = c.refused(ctx, store.IfMatch(replaced), "an update whose If-Match names a version that was replaced")
	if err != nil {
		return err
	}
	return c.refused(ctx, store.IfAbsent(), "a create-if-absent (If-None-Match) of an object that exists")
}

// put writes what was never written before: equal bytes may have equal versions.
func (c check) put(ctx context.Context, condition store.Condition) (store.Version, error) {
	v, err := c.bucket.Put(ctx, c.key, []byte(rand.Text()), condition)
	if errors.Is(err, errors.ErrUnsupported) {
		return "", fmt.Errorf("%w: it has no conditional updates: %w", lease.ErrUnsupported, err)
	}
	return v, err
}

// refused makes a write that the bucket has to refuse.
func (c check) refused(ctx context.Context, condition store.Condition, what string) error {
	_, err := c.put(ctx, condition)
	switch {
	case errors.Is(err, store.ErrConflict):
		return nil
	case err == nil:
		return fmt.Errorf("%w: it accepted %s, for object %q: use a store that honours conditional writes", lease.ErrUnsupported, what, c.key)
	default:
		return err
	}
}
