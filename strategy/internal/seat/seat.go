// Package seat lets a strategy's value serve one node at a time.
package seat

import (
	"errors"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/strategy"
)

// Seat is where the actor of a strategy sits while it serves a node.
type Seat struct{ last atomic.Pointer[Occupant] }

// Occupant is the life of one actor. At any time at most one has not left.
type Occupant struct {
	node strategy.Node
	root *actor.RootContext
	self *actor.PID
	left atomic.Bool
}

// Take takes the seat for the actor of the strategy with this name.
func (s *Seat) Take(ctx actor.Context, name string, node strategy.Node) (*Occupant, error) {
	fresh := &Occupant{node: node, root: ctx.ActorSystem().Root, self: ctx.Self()}
	old := s.last.Load()
	if (old != nil && !old.left.Load()) || !s.last.CompareAndSwap(old, fresh) {
		return nil, errors.New(name + " strategy: this value serves another cluster that runs: make one for each")
	}
	return fresh, nil
}

// Leave frees the seat. It does nothing for an actor that did not get it.
func (o *Occupant) Leave() {
	if o != nil {
		o.left.Store(true)
	}
}

// Node is the node that is served, or was last; zero before.
func (s *Seat) Node() strategy.Node {
	if o := s.last.Load(); o != nil {
		return o.node
	}
	return strategy.Node{}
}

// Send sends a message to the actor, if one serves.
func (s *Seat) Send(message any) bool {
	o := s.last.Load()
	if o == nil || o.left.Load() {
		return false
	}
	o.root.Send(o.self, message)
	return true
}
