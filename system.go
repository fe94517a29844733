package slap

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// deadLetterInterval bounds the life of the goroutine that Proto.Actor starts for
// every burst of dead letters, which nobody can stop.
const deadLetterInterval = time.Millisecond

// newSystem is an actor system that logs where the node does.
func newSystem(logger *slog.Logger) *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet(logger) }),
		actor.WithDeadLetterThrottleInterval(deadLetterInterval),
	)
}

// quiet is the logger for what runs below: Proto.Actor tells of each message to an
// actor that has stopped, the engine of each step of an open.
func quiet(logger *slog.Logger) *slog.Logger { return slog.New(demoted{logger.Handler()}) }

// demoted turns informational lines into debug lines.
type demoted struct{ slog.Handler }

// Enabled is that of the level that the record will have.
func (d demoted) Enabled(ctx context.Context, l slog.Level) bool {
	return d.Handler.Enabled(ctx, demote(l))
}

// Handle passes the record on at its level.
func (d demoted) Handle(ctx context.Context, r slog.Record) error {
	r.Level = demote(r.Level)
	if strings.HasPrefix(r.Message, "Endpoint") { // of connections between actor systems, which are there and then not
		r.Level = slog.LevelDebug
	}
	if !d.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return d.Handler.Handle(ctx, r)
}

// WithAttrs keeps the demotion.
func (d demoted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return demoted{d.Handler.WithAttrs(attrs)}
}

// WithGroup keeps the demotion.
func (d demoted) WithGroup(name string) slog.Handler { return demoted{d.Handler.WithGroup(name)} }

func demote(l slog.Level) slog.Level {
	if l == slog.LevelInfo {
		return slog.LevelDebug
	}
	return l
}
