package actors

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/actors/links"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// errAlone is why a node reaches no other.
var errAlone = errors.New("this node does not connect to others")

// remote tries once to have the request carried out by its owner. Patience, above 0, bounds
// the wait if ctx does not.
func (n *Node) remote(ctx context.Context, patience time.Duration, owner strategy.Node, r links.Request) (proto.Message, error) {
	if n.config.Links == nil {
		err := messages.NotExecuted(r.Shard, r.Target, messages.ErrNoConnection, errAlone)
		err.Node = owner.Name
		return nil, err
	}
	heard := n.config.Events.heard(slog.LevelDebug)
	if heard {
		n.config.Events.Publish(messages.CallRemote{Origin: n.config.origin(), Shard: r.Shard, Node: owner.Name})
	}
	r.TraceParent, r.TraceState = inject(ctx)
	answer, err := n.config.Links.Do(ctx, patience, owner, r)
	if err != nil && heard && errors.Is(err, messages.ErrNotOwner) {
		n.config.Events.Publish(messages.CallNotOwner{Origin: n.config.origin(), Shard: r.Shard, Node: owner.Name})
	}
	return answer, err
}

// Unreachable are the names of the nodes that were needed lately and cannot be reached, in
// order.
func (n *Node) Unreachable() []string {
	if n.config.Links == nil {
		return nil
	}
	return n.config.Links.Unreachable()
}
