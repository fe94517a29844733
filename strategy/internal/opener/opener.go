// Package opener keeps a list of shards open on a node: it is what the strategies
// whose placement never changes have in common.
package opener

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// Opener opens shards on one node, and opens those again that go down. It may serve
// another node once its actor for the first one has ended.
type Opener struct {
	strategy string // in errors
	pace     Pace
	seat     atomic.Pointer[seat]
}

// seat is the life of one actor. At any time at most one is not over.
type seat struct {
	node string
	root *actor.RootContext
	self *actor.PID
	over atomic.Bool
}

// New makes an opener for the strategy with this name; errors name the field.
func New(strategy string, pace Pace) (*Opener, error) {
	pace, err := pace.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("%s strategy: %w", strategy, err)
	}
	return &Opener{strategy: strategy, pace: pace}, nil
}

// Child is the actor that opens the shards. It is ready once each was attempted, and
// fails to start while the opener serves another node.
func (o *Opener) Child(r strategy.Runtime, shards []int) supervision.ChildSpec {
	return supervision.ChildSpec{
		Name:  "strategy",
		Ready: supervision.Manual,
		New:   func() actor.Actor { return &keeper{opener: o, runtime: r, shards: shards} },
	}
}

// Node is the name of the node that is served, or was last; empty before.
func (o *Opener) Node() string {
	if s := o.seat.Load(); s != nil {
		return s.node
	}
	return ""
}

// HandleShardDown lets the actor open the shard again after a while. Without one it
// has no effect: whoever starts opens every shard.
func (o *Opener) HandleShardDown(shard int, reason strategy.DownReason) {
	if s := o.seat.Load(); s != nil && !s.over.Load() {
		s.root.Send(s.self, down{shard, reason})
	}
}

// sit takes the seat for an actor.
func (o *Opener) sit(ctx actor.Context, node string) (*seat, error) {
	fresh := &seat{node: node, root: ctx.ActorSystem().Root, self: ctx.Self()}
	old := o.seat.Load()
	if (old != nil && !old.over.Load()) || !o.seat.CompareAndSwap(old, fresh) {
		return nil, errors.New(o.strategy + " strategy: this value serves another cluster that runs: make one for each")
	}
	return fresh, nil
}
