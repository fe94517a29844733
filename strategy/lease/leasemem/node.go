package leasemem

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/slap-go/slap/strategy/lease"
)

var errClosed = errors.New("the node has closed its store")

// Node is the store as one node sees it, a [lease.Store].
type Node struct {
	store  *Store
	name   string
	closed atomic.Bool
}

var _ lease.Store = (*Node)(nil)

// Node makes a view for a node of that name. Several may have one name, as processes may.
func (s *Store) Node(name string) *Node { return &Node{store: s, name: name} }

// Setup succeeds unless a rule says otherwise.
func (n *Node) Setup(ctx context.Context) error {
	return n.serve(ctx, Call{Op: Setup}).Err
}

// List tells which records there are.
func (n *Node) List(ctx context.Context) (lease.Listing, error) {
	r := n.serve(ctx, Call{Op: List})
	return r.Listing, r.Err
}

// ReadLease reads a shard's record.
func (n *Node) ReadLease(ctx context.Context, shard int) (lease.Lease, error) {
	r := n.serve(ctx, Call{Op: ReadLease, Shard: shard})
	return r.Lease, r.Err
}

// ReadHeartbeat reads a node's record.
func (n *Node) ReadHeartbeat(ctx context.Context, node string) (lease.Beat, error) {
	r := n.serve(ctx, Call{Op: ReadHeartbeat, Node: node})
	return r.Beat, r.Err
}

// WriteLease replaces a version of a shard's record.
func (n *Node) WriteLease(ctx context.Context, l lease.Lease) (lease.Version, error) {
	r := n.serve(ctx, Call{Op: WriteLease, Shard: l.Shard, Lease: l})
	return r.Version, r.Err
}

// Renew writes the leases in the order of the list, and tells of each in this goroutine,
// but for those that meet a fault which waits: nothing waits for them.
func (n *Node) Renew(ctx context.Context, list []lease.Lease, done func(i int, v lease.Version, err error)) {
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for i, l := range list {
		c := n.call(Call{Op: Renew, Shard: l.Shard, Lease: l})
		fault := n.store.arrive(c)
		renew := func() {
			r := n.meet(ctx, c, fault)
			done(i, r.Version, r.Err)
		}
		if fault.waits {
			waiting.Go(renew)
		} else {
			renew()
		}
	}
}

// WriteHeartbeat replaces a version of a node's record.
func (n *Node) WriteHeartbeat(ctx context.Context, b lease.Beat) (lease.Version, error) {
	r := n.serve(ctx, Call{Op: WriteHeartbeat, Node: b.Heartbeat.Node, Beat: own(b)})
	return r.Version, r.Err
}

// RemoveHeartbeat removes a node's record.
func (n *Node) RemoveHeartbeat(ctx context.Context, node string) error {
	return n.serve(ctx, Call{Op: RemoveHeartbeat, Node: node}).Err
}

// Close ends this view; later calls of it fail.
func (n *Node) Close() error {
	n.closed.Store(true)
	return nil
}

func (n *Node) call(c Call) Call {
	c.By, c.view = n.name, n
	return c
}

func (n *Node) serve(ctx context.Context, c Call) Reply {
	c = n.call(c)
	return n.meet(ctx, c, n.store.arrive(c))
}

// meet lets the call meet its fault, or carries it out. A context that has ended does
// nothing.
func (n *Node) meet(ctx context.Context, c Call, f Fault) Reply {
	switch {
	case n.closed.Load():
		return Reply{Err: errClosed}
	case ctx.Err() != nil:
		return Reply{Err: context.Cause(ctx)}
	case f.meet == nil:
		return n.store.apply(c)
	default:
		return f.meet(ctx, c, func() Reply { return n.store.apply(c) })
	}
}
