package actors

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
)

// runtime is the node as its strategy sees it.
type runtime Node

// Shards is the number of shards.
func (r *runtime) Shards() int { return r.config.Shards }

// Node is this node.
func (r *runtime) Node() strategy.Node {
	if r.config.Links != nil {
		return r.config.Links.Self()
	}
	return strategy.Node{Name: r.config.Name, Incarnation: r.config.Incarnation}
}

// Store is where the cluster lives.
func (r *runtime) Store() store.Store { return r.config.Store }

// Path is where in the store.
func (r *runtime) Path() string { return r.config.Path }

// StartShard asks the host to open the shard.
func (r *runtime) StartShard(shard int, lease *strategy.Lease, replyTo *actor.PID) {
	r.system.Root.Send(r.host, startShard{shard, lease, replyTo})
}

// StopShard asks the host to close the shard.
func (r *runtime) StopShard(shard int, replyTo *actor.PID) {
	r.system.Root.Send(r.host, stopShard{shard, replyTo})
}

// InFlight says whether an open or close goes on that was given up.
func (r *runtime) InFlight(shard int) bool { return (*Node)(r).inFlight(shard) }

// Greet asks who answers at the address.
func (r *runtime) Greet(ctx context.Context, address string) (strategy.Node, error) {
	if r.config.Links == nil {
		return strategy.Node{}, errAlone
	}
	return r.config.Links.Greet(ctx, address)
}

// Hint lets another node look at what has changed.
func (r *runtime) Hint(to strategy.Node) {
	if r.config.Links != nil && to.Name != r.config.Name {
		r.config.Links.Hint(to)
	}
}

// Publish tells the event.
func (r *runtime) Publish(e messages.Event) { r.config.Events.Publish(e) }

// Origin is where the node's events come from.
func (r *runtime) Origin() messages.Origin { return r.config.origin() }

// Go runs f, which ends with the node. A panic in it ends the node.
func (r *runtime) Go(f func(context.Context)) {
	r.workers.add()
	go func() {
		defer r.workers.done()
		defer func() {
			if p := recover(); p != nil {
				r.End(fmt.Errorf("slap: a goroutine of the Strategy panicked: %v", p))
			}
		}()
		f(r.ctx)
	}()
}

// End ends the node, which may not have started yet.
func (r *runtime) End(err error) {
	r.cancel(err)
}

// Logger is the node's.
func (r *runtime) Logger() *slog.Logger { return r.config.Logger }
