package messages

import (
	"fmt"
	"log/slog"
)

// LeaseOrigin is where the event of a shard's lease comes from: part of each of them.
type LeaseOrigin struct {
	Origin

	Shard      int
	Generation uint64 // of the claim
}

// LeaseClaimed says that this node owns a shard from now on, and that it is open.
type LeaseClaimed struct{ LeaseOrigin }

// LeaseReleased says that this node has closed a shard and freed its lease.
type LeaseReleased struct{ LeaseOrigin }

// LeaseLost says that another node has taken a shard that this one owned.
type LeaseLost struct{ LeaseOrigin }

// LeasesSelfFenced says that this node could not renew leases in time: their shards
// answered nothing any more before anybody else could own them, and are being closed.
type LeasesSelfFenced struct {
	Origin

	Shards []int
}

// LeaseRenewFailed says that a request of a round to the store of the leases has failed.
// Nothing is lost by one alone.
type LeaseRenewFailed struct {
	Origin

	Err error
}

// NodeSuperseded says that another process runs under this node's name. This one ends.
type NodeSuperseded struct {
	Origin

	Node        string // the name
	Incarnation string // of the other process
}

// Attrs are the shard and the generation.
func (o LeaseOrigin) Attrs() []slog.Attr {
	return append(o.Origin.Attrs(), slog.Int("shard", o.Shard), slog.Uint64("generation", o.Generation))
}

// Name is the event's kind.
func (LeaseClaimed) Name() string { return "lease.claim" }

// Name is the event's kind.
func (LeaseReleased) Name() string { return "lease.release" }

// Name is the event's kind.
func (LeaseLost) Name() string { return "lease.lost" }

// Name is the event's kind.
func (LeasesSelfFenced) Name() string { return "lease.self_fence" }

// Name is the event's kind.
func (LeaseRenewFailed) Name() string { return "lease.renew_failed" }

// Name is the event's kind.
func (NodeSuperseded) Name() string { return "node.superseded" }

// Level is info.
func (LeaseClaimed) Level() slog.Level { return slog.LevelInfo }

// Level is info.
func (LeaseReleased) Level() slog.Level { return slog.LevelInfo }

// Level is warn.
func (LeaseLost) Level() slog.Level { return slog.LevelWarn }

// Level is error.
func (LeasesSelfFenced) Level() slog.Level { return slog.LevelError }

// Level is warn.
func (LeaseRenewFailed) Level() slog.Level { return slog.LevelWarn }

// Level is error.
func (NodeSuperseded) Level() slog.Level { return slog.LevelError }

// Attrs are the shards.
func (e LeasesSelfFenced) Attrs() []slog.Attr {
	return append(e.Origin.Attrs(), slog.Any("shards", e.Shards))
}

// Attrs are what the store said.
func (e LeaseRenewFailed) Attrs() []slog.Attr {
	return append(e.Origin.Attrs(), slog.String("error", e.Err.Error()))
}

// Attrs are the name and the other process's incarnation.
func (e NodeSuperseded) Attrs() []slog.Attr {
	return append(e.Origin.Attrs(), slog.String("node", e.Node), slog.String("incarnation", e.Incarnation))
}

// String is the event as one line.
func (e LeaseClaimed) String() string { return fmt.Sprintf("shard %d is this node's", e.Shard) }

// String is the event as one line.
func (e LeaseReleased) String() string { return fmt.Sprintf("shard %d was given up", e.Shard) }

// String is the event as one line.
func (e LeaseLost) String() string { return fmt.Sprintf("shard %d was taken by another node", e.Shard) }

// String is the event as one line.
func (e LeasesSelfFenced) String() string {
	return fmt.Sprintf("shards %v stopped serving: their leases could not be renewed in time", e.Shards)
}

// String is the event as one line.
func (e LeaseRenewFailed) String() string {
	return "the store of the leases did not do what it was asked: " + e.Err.Error()
}

// String is the event as one line.
func (e NodeSuperseded) String() string {
	return fmt.Sprintf("another process runs as node %q: this one ends", e.Node)
}
