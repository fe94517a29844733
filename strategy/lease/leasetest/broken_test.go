package leasetest_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/lease/leasemem"
)

// broken is a store for the suite to look at. Without a bug it is sound; each bug breaks
// one sentence of the contract.
type broken struct {
	*leasemem.Node
	store *leasemem.Store
	bug   string

	mu      sync.Mutex
	reads   map[int]lease.Lease   // the first of each shard
	listing *lease.Listing        // the first one with anything in it
	removed map[string]lease.Beat // heartbeats that were removed
}

func newBroken(bug string) *broken {
	s := leasemem.New()
	return &broken{Node: s.Node("a"), store: s, bug: bug, reads: map[int]lease.Lease{}, removed: map[string]lease.Beat{}}
}

func (b *broken) Setup(ctx context.Context) error {
	switch {
	case b.bug == "setup leaves a record":
		b.store.PlantHeartbeat(lease.Beat{Heartbeat: lease.Heartbeat{Node: "check"}})
	case b.bug == "sets up only once" && len(b.store.Snapshot().Leases) > 0:
		return errors.New("the store is in use")
	case b.bug == "setup ignores its context":
		ctx = context.WithoutCancel(ctx)
	}
	return b.Node.Setup(ctx)
}

func (b *broken) List(ctx context.Context) (lease.Listing, error) {
	l, err := b.Node.List(ctx)
	switch b.bug {
	case "lists only leases":
		clear(l.Heartbeats)
	case "lists only heartbeats":
		clear(l.Leases)
	case "lists no shard 0":
		delete(l.Leases, 0)
	case "lists free leases as missing":
		maps.DeleteFunc(l.Leases, func(n int, _ lease.Version) bool { return b.store.Snapshot().Leases[n].Record.Owner == "" })
	case "lists a node as a shard":
		if _, ok := l.Heartbeats["000001"]; ok {
			l.Leases[777] = "7"
		}
	case "lists what was removed":
		b.mu.Lock()
		defer b.mu.Unlock()
		for name, beat := range b.removed {
			l.Heartbeats[name] = beat.Version
		}
	case "lists the past":
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.listing != nil {
			return *b.listing, err
		}
		if len(l.Leases) > 0 {
			b.listing = &l
		}
	case "listing ignores its context":
		return b.Node.List(context.WithoutCancel(ctx))
	}
	return l, err
}

func (b *broken) ReadLease(ctx context.Context, shard int) (lease.Lease, error) {
	l, err := b.Node.ReadLease(ctx, shard)
	switch {
	case b.bug == "reads no error of what is missing" && errors.Is(err, lease.ErrMissing):
		return lease.Lease{Shard: shard}, nil
	case b.bug == "reads never end" && ctx.Err() != nil:
		time.Sleep(time.Minute)
	case err != nil:
		return l, err
	}
	switch b.bug {
	case "reads no shard number":
		l.Shard = 0
	case "reads another version":
		l.Version += "x"
	case "reads all as unreadable":
		l.Unreadable = true
	case "reads the past":
		b.mu.Lock()
		defer b.mu.Unlock()
		if old, ok := b.reads[shard]; ok {
			return old, nil
		}
		b.reads[shard] = l
	}
	return l, err
}

func (b *broken) ReadHeartbeat(ctx context.Context, node string) (lease.Beat, error) {
	beat, err := b.Node.ReadHeartbeat(ctx, node)
	switch {
	case b.bug == "reads no error of what is missing" && errors.Is(err, lease.ErrMissing):
		return lease.Beat{}, nil
	case b.bug == "forgets the name of a node":
		beat.Heartbeat.Node = ""
	case b.bug == "reads only ten shards" && len(beat.Heartbeat.Shards) > 10:
		beat.Heartbeat.Shards = beat.Heartbeat.Shards[:10]
	}
	return beat, err
}

func (b *broken) WriteLease(ctx context.Context, l lease.Lease) (lease.Version, error) {
	return b.write(ctx, l, b.Node.WriteLease)
}

func (b *broken) write(ctx context.Context, l lease.Lease, write func(context.Context, lease.Lease) (lease.Version, error)) (lease.Version, error) {
	switch b.bug {
	case "ignores versions":
		return b.store.Plant(l), nil
	case "ignores the empty version":
		if l.Version == "" && ctx.Err() == nil {
			return b.store.Plant(l), nil
		}
	case "creates whatever the version":
		if _, ok := b.store.Snapshot().Leases[l.Shard]; !ok && ctx.Err() == nil {
			return b.store.Plant(l), nil
		}
	case "shares versions between shards":
		if _, ok := b.store.Snapshot().Leases[l.Shard]; !ok && l.Version != "" {
			return b.store.Plant(l), nil
		}
	case "ignores contexts":
		ctx = context.WithoutCancel(ctx)
	case "writes although the context ended":
		if ctx.Err() != nil {
			_, _ = write(context.WithoutCancel(ctx), l)
		}
	case "writes without saying so when a context ends", "says conflict of what it wrote":
		return b.hide(ctx, l, write)
	case "keeps one shard in ten thousand":
		l.Shard %= 10_000
	case "acknowledges and forgets":
		if l.Record.Generation > 3 {
			return "forgotten", nil
		}
	}
	l.Record = b.spoil(l.Record)
	v, err := write(ctx, l)
	return b.version(v, l.Record, err)
}

// hide writes, and tells something else.
func (b *broken) hide(ctx context.Context, l lease.Lease, write func(context.Context, lease.Lease) (lease.Version, error)) (lease.Version, error) {
	v, err := write(ctx, l)
	if err != nil || l.Record.Generation%3 == 0 {
		return v, err
	}
	if b.bug == "says conflict of what it wrote" {
		return "", lease.ErrConflict
	}
	if _, ok := ctx.Deadline(); ok && l.Record.Generation > 0 && b.short(ctx) {
		return "", context.DeadlineExceeded
	}
	return v, nil
}

func (b *broken) short(ctx context.Context) bool {
	deadline, _ := ctx.Deadline()
	return time.Until(deadline) < 10*time.Second
}

// spoil loses something of a record.
func (b *broken) spoil(r lease.Record) lease.Record {
	switch b.bug {
	case "loses the generation of a free lease":
		if r.Owner == "" {
			r.Generation = 0
		}
	case "cuts generations":
		r.Generation = uint64(uint32(r.Generation))
	case "keeps whole seconds":
		r.TTL, r.ExpiresAt = r.TTL.Truncate(time.Second), r.ExpiresAt.Truncate(time.Second)
	case "loses the nonce":
		r.Nonce = ""
	case "loses the address":
		r.Address = ""
	case "loses the incarnation":
		r.Incarnation = ""
	case "folds names":
		r.Owner = strings.ToLower(r.Owner)
	}
	return r
}

// version makes versions as the bug wants them.
func (b *broken) version(v lease.Version, r lease.Record, err error) (lease.Version, error) {
	switch {
	case err != nil:
		return v, b.blur(err)
	case b.bug == "returns no version":
		return "", nil
	case b.bug == "returns versions that it never reads":
		return v + "?", nil
	case b.bug == "makes versions of owners":
		return lease.Version(r.Owner), nil
	}
	return v, nil
}

// blur makes another error of a conflict.
func (b *broken) blur(err error) error {
	if b.bug == "has its own conflicts" && errors.Is(err, lease.ErrConflict) {
		return errors.New("precondition failed")
	}
	return err
}

func (b *broken) Renew(ctx context.Context, list []lease.Lease, done func(int, lease.Version, error)) {
	switch b.bug {
	case "renews until the first failure":
		failed := false
		b.renew(ctx, list, func(i int, v lease.Version, err error) {
			if failed {
				v, err = "", errors.New("not tried")
			}
			failed = failed || err != nil
			done(i, v, err)
		})
	case "renews by shard":
		b.renew(ctx, list, func(i int, v lease.Version, err error) { done((i+1)%len(list), v, err) })
	case "renews whatever the version":
		for i, l := range list {
			done(i, b.store.Plant(l), nil)
		}
	case "does not tell of failures":
		b.renew(ctx, list, func(i int, v lease.Version, err error) {
			if err == nil {
				done(i, v, err)
			}
		})
	case "tells twice":
		b.renew(ctx, list, func(i int, v lease.Version, err error) {
			done(i, v, err)
			done(i, v, err)
		})
	case "returns before it has told":
		go func() {
			time.Sleep(10 * time.Millisecond)
			b.renew(ctx, list, done)
		}()
	case "needs something to renew":
		_ = list[0]
		b.renew(ctx, list, done)
	default:
		b.renew(ctx, list, done)
	}
}

func (b *broken) renew(ctx context.Context, list []lease.Lease, done func(int, lease.Version, error)) {
	for i, l := range list {
		v, err := b.write(ctx, l, b.Node.WriteLease)
		done(i, v, err)
	}
}

func (b *broken) WriteHeartbeat(ctx context.Context, beat lease.Beat) (lease.Version, error) {
	h := &beat.Heartbeat
	switch {
	case b.bug == "writes any heartbeat" && ctx.Err() == nil:
		return b.store.PlantHeartbeat(beat), nil
	case b.bug == "loses shards":
		h.Shards = nil
	case b.bug == "loses the state of a node":
		h.State = lease.Live
	case b.bug == "loses the generations of shards":
		h.Shards = append([]lease.Held{}, h.Shards...)
		for i := range h.Shards {
			h.Shards[i].Generation = 0
		}
	case b.bug == "changes what it is given":
		for i := range h.Shards {
			h.Shards[i].Generation = 0
		}
	case b.bug == "keeps whole seconds of heartbeats":
		h.TTL, h.At = h.TTL.Truncate(time.Second), h.At.Truncate(time.Second)
	case b.bug == "cuts names" && len(h.Node) > 20:
		h.Node = h.Node[:20]
	case b.bug == "folds the names of nodes":
		h.Node = strings.ToLower(h.Node)
	case b.bug == "ignores contexts of heartbeats":
		ctx = context.WithoutCancel(ctx)
	case b.bug == "revives what was removed":
		if old, ok := b.revive(h.Node); ok && old.Version == beat.Version {
			return b.store.PlantHeartbeat(beat), nil
		}
	}
	v, err := b.Node.WriteHeartbeat(ctx, beat)
	return v, b.blur(err)
}

func (b *broken) revive(node string) (lease.Beat, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, ok := b.removed[node]
	return old, ok
}

func (b *broken) RemoveHeartbeat(ctx context.Context, node string) error {
	beat, there := b.store.Snapshot().Heartbeats[node]
	if there {
		b.mu.Lock()
		b.removed[node] = beat
		b.mu.Unlock()
	}
	switch {
	case b.bug == "removes only what is there" && !there:
		return lease.ErrMissing
	case b.bug == "does not remove":
		return nil
	case b.bug == "removes whatever begins so":
		for name := range b.store.Snapshot().Heartbeats {
			if strings.HasPrefix(name, node) {
				b.store.DeleteHeartbeat(name)
			}
		}
	case b.bug == "removes leases, too":
		for n, l := range b.store.Snapshot().Leases {
			if l.Record.Owner == node {
				b.store.Delete(n)
			}
		}
	case b.bug == "removes although the context ended":
		b.store.DeleteHeartbeat(node)
	}
	return b.Node.RemoveHeartbeat(ctx, node)
}

func (b *broken) Close() error {
	if b.bug == "cannot be closed" {
		return errors.New("as told")
	}
	return b.Node.Close()
}
