package messages

import (
	"fmt"
	"log/slog"
	"time"
)

// Event is something that happened on a node. All events are values of the types in
// this package that are named after what happened; a reader tells them apart by a type
// switch.
type Event interface {
	// Name is the event's kind, in lower case with dots: "shard.start".
	Name() string

	// From is the cluster it happened in, and when.
	From() Origin

	// Level is how much the event deserves attention.
	Level() slog.Level

	// Attrs are the event's details for a structured log. They hold no credentials.
	Attrs() []slog.Attr

	// String is the event as one line for people.
	String() string
}

// Origin is where an event comes from: part of every event.
type Origin struct {
	Cluster string // its name; empty if it has none
	Time    time.Time
}

// From is the origin itself.
func (o Origin) From() Origin { return o }

// Attrs are the cluster's name, if it has one. The time is that of the log's record.
func (o Origin) Attrs() []slog.Attr {
	if o.Cluster == "" {
		return nil
	}
	return []slog.Attr{slog.String("cluster", o.Cluster)}
}

// Probed says how a try of the first steps in a store ended: whose it is, and
// whether it honours the conditions of writes.
type Probed struct {
	Origin

	Store string // its URL, without credentials
	Err   error  // nil for a fit store
}

// EventsMissed tells a reader of events that it was too slow: the oldest of those that
// waited for it made room for newer ones. What it reads next happened after those. Its
// origin is that of the last one it missed.
type EventsMissed struct {
	Origin

	Count uint64 // of the events missed since the last one read
}

// OK says whether the store is fit.
func (e Probed) OK() bool { return e.Err == nil }

// Name is the event's kind.
func (Probed) Name() string { return "probe" }

// Name is the event's kind.
func (EventsMissed) Name() string { return "events.missed" }

// Level is error for a store that is unfit or out of reach, else debug.
func (e Probed) Level() slog.Level {
	if e.OK() {
		return slog.LevelDebug
	}
	return slog.LevelError
}

// Level is warn.
func (EventsMissed) Level() slog.Level { return slog.LevelWarn }

// Attrs are the store, whether it is fit, and what the probe found.
func (e Probed) Attrs() []slog.Attr {
	return append(e.Origin.Attrs(),
		slog.String("store", e.Store), slog.Bool("ok", e.OK()), slog.String("result", resultText(e.Err)))
}

// Attrs are the number of the events.
func (e EventsMissed) Attrs() []slog.Attr {
	return append(e.Origin.Attrs(), slog.Uint64("count", e.Count))
}

// String is the event as one line.
func (e Probed) String() string {
	if e.OK() {
		return "the store passed its probe"
	}
	return "the store did not pass its probe: " + e.Err.Error()
}

// String is the event as one line.
func (e EventsMissed) String() string {
	return fmt.Sprintf("a reader of events was too slow and missed %d", e.Count)
}

func resultText(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}
