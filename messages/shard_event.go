package messages

import (
	"fmt"
	"log/slog"
)

// ShardOrigin is where a shard's event comes from: part of each of them.
type ShardOrigin struct {
	Origin

	Shard      int
	Generation uint64 // of the lease's claim; 0 without leases
	Opening    string // of the database; no two are alike
}

// Every opening of a shard tells of itself in this order: ShardStarted, ShardFenced if it
// is fenced, ShardStopped. One that comes to nothing tells ShardFailed or ShardFenced, or
// neither if it was stopped before.

// ShardStarted says that a shard's database is open; its children start next.
type ShardStarted struct{ ShardOrigin }

// ShardFenced says that another writer has opened the shard's database. It comes once
// for an opening.
type ShardFenced struct{ ShardOrigin }

// ShardStopped says that nothing of a shard's opening runs any more: its children have
// stopped and the database is closed, unless [ShardAbandoned] came before.
type ShardStopped struct {
	ShardOrigin

	Reason string // "stopped" for one that was asked for, "crashed" or "fenced"
	Status string // what the children saw last: "running", "stopping" or "fenced"
	Err    error  // what a crashed shard ended with, or why the close of another failed; else nil
}

// ShardFailed says that a shard's database did not open.
type ShardFailed struct {
	ShardOrigin

	Err error
}

// ShardAbandoned says that an open or a close took too long. It goes on without anybody
// waiting for it, and is ended as soon as it can be; until then the shard cannot be
// opened here again.
type ShardAbandoned struct {
	ShardOrigin

	Op string // "open" or "close"
}

// The values of [ShardAbandoned.Op].
const (
	OpOpen  = "open"
	OpClose = "close"
)

// DurabilityLag says how many of a shard's writes are not durable yet. It comes once in
// a while for each open shard.
type DurabilityLag struct {
	ShardOrigin

	Lag uint64 // the last sequence number written minus the durable one
}

// Attrs are the shard and its generation.
func (o ShardOrigin) Attrs() []slog.Attr {
	attrs := append(o.Origin.Attrs(), slog.Int("shard", o.Shard), slog.Uint64("generation", o.Generation))
	if o.Opening != "" {
		attrs = append(attrs, slog.String("opening", o.Opening))
	}
	return attrs
}

// Name is the event's kind.
func (ShardStarted) Name() string { return "shard.start" }

// Name is the event's kind.
func (ShardFenced) Name() string { return "shard.fenced" }

// Name is the event's kind.
func (ShardStopped) Name() string { return "shard.stop" }

// Name is the event's kind.
func (ShardFailed) Name() string { return "shard.failed" }

// Name is the event's kind.
func (ShardAbandoned) Name() string { return "shard.abandoned" }

// Name is the event's kind.
func (DurabilityLag) Name() string { return "durability.lag" }

// Level is debug.
func (ShardStarted) Level() slog.Level { return slog.LevelDebug }

// Level is error: a second instance may run by mistake.
func (ShardFenced) Level() slog.Level { return slog.LevelError }

// Level is error for a crash, else debug.
func (e ShardStopped) Level() slog.Level {
	if e.Err != nil {
		return slog.LevelError
	}
	return slog.LevelDebug
}

// Level is error.
func (ShardFailed) Level() slog.Level { return slog.LevelError }

// Level is warn.
func (ShardAbandoned) Level() slog.Level { return slog.LevelWarn }

// Level is debug.
func (DurabilityLag) Level() slog.Level { return slog.LevelDebug }

// Attrs are those of every shard's event, the reason, the status, and the error of a crash.
func (e ShardStopped) Attrs() []slog.Attr {
	attrs := append(e.ShardOrigin.Attrs(), slog.String("reason", e.Reason), slog.String("status", e.Status))
	if e.Err != nil {
		attrs = append(attrs, slog.String("error", e.Err.Error()))
	}
	return attrs
}

// Attrs are those of every shard's event, and the error.
func (e ShardFailed) Attrs() []slog.Attr {
	return append(e.ShardOrigin.Attrs(), slog.String("error", e.Err.Error()))
}

// Attrs are those of every shard's event, and what was abandoned.
func (e ShardAbandoned) Attrs() []slog.Attr {
	return append(e.ShardOrigin.Attrs(), slog.String("op", e.Op))
}

// Attrs are those of every shard's event, and the lag.
func (e DurabilityLag) Attrs() []slog.Attr {
	return append(e.ShardOrigin.Attrs(), slog.Uint64("lag", e.Lag))
}

// String is the event as one line.
func (e ShardStarted) String() string { return fmt.Sprintf("shard %d started", e.Shard) }

// String is the event as one line.
func (e ShardFenced) String() string {
	return fmt.Sprintf("shard %d was fenced: its next owner, or a second instance on this store, has opened its database", e.Shard)
}

// String is the event as one line.
func (e ShardStopped) String() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("shard %d %s: %v", e.Shard, e.Reason, e.Err)
	case e.Status == "fenced":
		return fmt.Sprintf("shard %d stopped: fenced", e.Shard)
	default:
		return fmt.Sprintf("shard %d stopped", e.Shard)
	}
}

// String is the event as one line.
func (e ShardFailed) String() string { return fmt.Sprintf("shard %d did not open: %v", e.Shard, e.Err) }

// String is the event as one line.
func (e ShardAbandoned) String() string {
	return fmt.Sprintf("shard %d: its %s takes too long and goes on by itself", e.Shard, e.Op)
}

// String is the event as one line.
func (e DurabilityLag) String() string {
	return fmt.Sprintf("shard %d: %d writes are not durable yet", e.Shard, e.Lag)
}
