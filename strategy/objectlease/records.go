package objectlease

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/lease"
)

// records is a [lease.Store] in a bucket. It keeps nothing in memory.
type records struct {
	bucket store.Bucket
	place  place

	cluster *store.IdentityConfig // whose leases these are; nil where the node has found that out
}

var _ lease.Store = (*records)(nil)

// open opens the store below a path, which may be empty.
func open(ctx context.Context, s store.Store, path string) (*records, error) {
	bucket, err := s.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the store of the leases: %w", err)
	}
	return &records{bucket: bucket, place: placeIn(path)}, nil
}

// List is one listing: leases and heartbeats are below one folder. What else is there
// is not ours.
func (r *records) List(ctx context.Context) (lease.Listing, error) {
	entries, err := r.bucket.List(ctx, r.place.folder())
	if err != nil {
		return lease.Listing{}, fmt.Errorf("list the leases: %w", err)
	}
	l := lease.Listing{Leases: map[int]lease.Version{}, Heartbeats: map[string]lease.Version{}}
	for _, e := range entries {
		if n, ok := r.place.shardOf(e.Key); ok {
			l.Leases[n] = lease.Version(e.Version)
		}
		if name, ok := r.place.nodeOf(e.Key); ok {
			l.Heartbeats[name] = lease.Version(e.Version)
		}
	}
	return l, nil
}

// ReadLease reads the object of a shard.
func (r *records) ReadLease(ctx context.Context, shard int) (lease.Lease, error) {
	o, err := r.bucket.Get(ctx, r.place.shard(shard))
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return lease.Lease{}, failed(fmt.Sprintf("read the lease of shard %d", shard), err)
	}
	l := lease.Lease{Shard: shard, Version: lease.Version(o.Version)}
	l.Record, err = decodeLease(o.Data)
	l.Unreadable = err != nil
	return l, nil
}

// ReadHeartbeat reads the object of a node.
func (r *records) ReadHeartbeat(ctx context.Context, node string) (lease.Beat, error) {
	o, err := r.bucket.Get(ctx, r.place.node(node))
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return lease.Beat{}, failed(fmt.Sprintf("read the heartbeat of node %q", node), err)
	}
	h, err := decodeHeartbeat(node, o.Data)
	if err != nil {
		h = lease.Heartbeat{Node: node}
	}
	return lease.Beat{Version: lease.Version(o.Version), Heartbeat: h, Unreadable: err != nil}, nil
}

// WriteLease is one conditional write.
func (r *records) WriteLease(ctx context.Context, l lease.Lease) (lease.Version, error) {
	data, err := encodeLease(l.Record)
	if err == nil {
		err = checkShard(l.Shard)
	}
	var v lease.Version
	if err == nil {
		v, err = r.put(ctx, r.place.shard(l.Shard), data, l.Version)
	}
	return v, failed(fmt.Sprintf("write the lease of shard %d", l.Shard), err)
}

// Renew makes one conditional write for each lease, all of them at once. How many may be
// on their way is up to the bucket: the S3 client has 256 connections, for which the other
// writes wait, unsent, until their context ends. A thousand writes of 30 ms end in 4 waves. A
// bound here could only be below that, and then as many writes that hang would keep
// the others from a connection that is free.
func (r *records) Renew(ctx context.Context, list []lease.Lease, done func(i int, v lease.Version, err error)) {
	var writes sync.WaitGroup
	for i, l := range list {
		writes.Go(func() {
			v, err := r.WriteLease(ctx, l)
			done(i, v, err)
		})
	}
	writes.Wait()
}

// WriteHeartbeat is one conditional write.
func (r *records) WriteHeartbeat(ctx context.Context, b lease.Beat) (lease.Version, error) {
	data, err := encodeHeartbeat(b.Heartbeat)
	var v lease.Version
	if err == nil {
		v, err = r.put(ctx, r.place.node(b.Heartbeat.Node), data, b.Version)
	}
	return v, failed(fmt.Sprintf("write the heartbeat of node %q", b.Heartbeat.Node), err)
}

// RemoveHeartbeat deletes the object of a node.
func (r *records) RemoveHeartbeat(ctx context.Context, node string) error {
	return failed(fmt.Sprintf("remove the heartbeat of node %q", node), r.bucket.Delete(ctx, r.place.node(node)))
}

// Close closes the bucket.
func (r *records) Close() error { return r.bucket.Close() }

// put replaces a version; the empty one is that of an object that is missing.
func (r *records) put(ctx context.Context, key string, data []byte, v lease.Version) (lease.Version, error) {
	condition := store.IfAbsent()
	if v != "" {
		condition = store.IfMatch(store.Version(v))
	}
	written, err := r.bucket.Put(ctx, key, data, condition)
	return lease.Version(written), err
}

func checkShard(n int) error {
	if n < 0 || n >= maxShards {
		return fmt.Errorf("there is no shard %d", n)
	}
	return nil
}

// failed says what was done to which record, and of which of the loop's errors it is. An
// unknown outcome may have a conflict for its reason, so it is looked for first.
func failed(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrUnknownOutcome):
		return fmt.Errorf("%s: %w: %w", what, lease.ErrUnknownOutcome, err)
	case errors.Is(err, store.ErrConflict):
		return fmt.Errorf("%s: %w", what, lease.ErrConflict)
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%s: %w", what, lease.ErrMissing)
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}
