package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// requestTimeout bounds a request that is not part of a round (P2.7).
const requestTimeout = 5 * time.Second

// request carries out what goes to the store or to another node, in a goroutine of its
// own, and sends what comes of it to the loop.
func (l *loop) request(ctx actor.Context, a action) {
	root, self, store := ctx.ActorSystem().Root, ctx.Self(), l.store
	tell := func(input any) { root.Send(self, answer{l, input}) }
	patience := l.strategy.options.patience()
	switch a := a.(type) {
	case doSetUp:
		l.run(max(patience, requestTimeout), func(ctx context.Context) { tell(setUp{l.setUp(ctx)}) })
	case doGreet:
		l.run(requestTimeout, func(ctx context.Context) {
			node, err := l.runtime.Greet(ctx, a.address)
			tell(greeted{node, err})
		})
	case doList:
		l.run(patience, func(ctx context.Context) {
			listing, err := store.List(ctx)
			tell(listed{listing, wrap(err, "list")})
		})
	case doReadLease:
		l.run(patience, func(ctx context.Context) {
			lease, err := store.ReadLease(ctx, a.shard)
			tell(leaseRead{a.shard, lease, wrap(err, "read the lease of shard %d", a.shard)})
		})
	case doReadBeat:
		l.run(patience, func(ctx context.Context) {
			beat, err := store.ReadHeartbeat(ctx, a.node)
			tell(beatRead{a.node, beat, wrap(err, "read the heartbeat of node %s", a.node)})
		})
	case doWriteBeat:
		l.run(patience, func(ctx context.Context) {
			v, err := store.WriteHeartbeat(ctx, a.beat)
			tell(beatWritten{a.beat.Heartbeat.Nonce, v, wrap(err, "write the heartbeat")})
		})
	case doWriteLease:
		l.run(patience, func(ctx context.Context) {
			v, err := store.WriteLease(ctx, a.lease)
			tell(leaseWritten{a.lease.Shard, a.lease.Record.Nonce, v, wrap(err, "%s shard %d", a.kind, a.lease.Shard)})
		})
	case doRenew:
		l.run(patience, func(ctx context.Context) { renew(ctx, store, a.leases, tell) })
	case doRemoveBeat:
		l.run(requestTimeout, func(ctx context.Context) {
			if err := store.RemoveHeartbeat(ctx, a.node); err != nil {
				l.runtime.Logger().Debug("the heartbeat of a node that is gone remains", "node", a.node, "error", err)
			}
		})
	}
}

// run runs a request, which ends with the loop.
func (l *loop) run(patience time.Duration, do func(ctx context.Context)) {
	l.requests.Add(1)
	l.runtime.Go(func(context.Context) {
		defer l.requests.Done()
		ctx, cancel := context.WithTimeout(l.ctx, patience)
		defer cancel()
		do(ctx)
	})
}

// setUp opens the store if it is not open, and asks whether it is fit.
func (l *loop) setUp(ctx context.Context) (err error) {
	defer calm(&err)
	if l.opened == nil {
		store, err := l.strategy.open(ctx, l.runtime)
		if err != nil {
			return wrap(err, "open the store of the leases")
		}
		l.opened = guarded{store}
	}
	return wrap(l.opened.Setup(ctx), "set up the store of the leases")
}

// renew tells of each lease as it is renewed.
func renew(ctx context.Context, store Store, leases []Lease, tell func(any)) {
	store.Renew(ctx, leases, func(i int, v Version, err error) {
		tell(leaseWritten{leases[i].Shard, leases[i].Record.Nonce, v, wrap(err, "renew shard %d", leases[i].Shard)})
	})
}

func wrap(err error, format string, args ...any) error {
	if err == nil || errors.Is(err, ErrMissing) {
		return err
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
