package messages

import (
	"fmt"
	"log/slog"
)

// PeerUnreachable says that another node cannot be reached: its connection was lost, is
// silent, or could not be made. It comes once until the node is reached again.
type PeerUnreachable struct {
	Origin

	Node    string // its name
	Address string
	Err     error // why
}

// PeerReachable says that a node which could not be reached is reached again.
type PeerReachable struct {
	Origin

	Node    string
	Address string
}

// CallRemote says that a request is sent to another node. It comes for each try, and only
// while somebody listens for events.
type CallRemote struct {
	Origin

	Shard int
	Node  string
}

// CallNotOwner says that a node which was taken for the owner of a shard does not serve it.
type CallNotOwner struct {
	Origin

	Shard int
	Node  string
}

// Name is the event's kind.
func (PeerUnreachable) Name() string { return "peer.unreachable" }

// Name is the event's kind.
func (PeerReachable) Name() string { return "peer.reachable" }

// Name is the event's kind.
func (CallRemote) Name() string { return "call.remote" }

// Name is the event's kind.
func (CallNotOwner) Name() string { return "call.not_owner" }

// Level is warn.
func (PeerUnreachable) Level() slog.Level { return slog.LevelWarn }

// Level is info.
func (PeerReachable) Level() slog.Level { return slog.LevelInfo }

// Level is debug.
func (CallRemote) Level() slog.Level { return slog.LevelDebug }

// Level is debug.
func (CallNotOwner) Level() slog.Level { return slog.LevelDebug }

// Attrs are the node, its address, and why.
func (e PeerUnreachable) Attrs() []slog.Attr {
	attrs := append(e.Origin.Attrs(), slog.String("node", e.Node), slog.String("address", e.Address))
	if e.Err != nil {
		attrs = append(attrs, slog.String("error", e.Err.Error()))
	}
	return attrs
}

// Attrs are the node and its address.
func (e PeerReachable) Attrs() []slog.Attr {
	return append(e.Origin.Attrs(), slog.String("node", e.Node), slog.String("address", e.Address))
}

// Attrs are the shard and the node.
func (e CallRemote) Attrs() []slog.Attr { return callAttrs(e.Origin, e.Shard, e.Node) }

// Attrs are the shard and the node.
func (e CallNotOwner) Attrs() []slog.Attr { return callAttrs(e.Origin, e.Shard, e.Node) }

func callAttrs(o Origin, shard int, node string) []slog.Attr {
	return append(o.Attrs(), slog.Int("shard", shard), slog.String("node", node))
}

// String is the event as one line.
func (e PeerUnreachable) String() string {
	return fmt.Sprintf("node %s at %s cannot be reached: %v", e.Node, e.Address, e.Err)
}

// String is the event as one line.
func (e PeerReachable) String() string {
	return fmt.Sprintf("node %s at %s is reached again", e.Node, e.Address)
}

// String is the event as one line.
func (e CallRemote) String() string {
	return fmt.Sprintf("a request to shard %d goes to %s", e.Shard, e.Node)
}

// String is the event as one line.
func (e CallNotOwner) String() string {
	return fmt.Sprintf("%s does not serve shard %d, which it was taken for the owner of", e.Node, e.Shard)
}
