// Package opener keeps a list of shards open on a node: it is what the strategies
// whose placement never changes have in common.
package opener

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/seat"
	"github.com/slap-go/slap/supervision"
)

// Opener opens shards on one node, and opens those again that go down. It may serve
// another node once its actor for the first one has ended.
type Opener struct {
	strategy string // in errors
	pace     Pace
	seat     seat.Seat
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
func (o *Opener) Node() string { return o.seat.Node().Name }

// HandleShardDown lets the actor open the shard again after a while. Without one it
// has no effect: whoever starts opens every shard.
func (o *Opener) HandleShardDown(shard int, reason strategy.DownReason) {
	o.seat.Send(down{shard, reason})
}
