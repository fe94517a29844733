package messages

import (
	"errors"
	"log/slog"

	"github.com/slap-go/slap/supervision"
)

// SupervisorEvent is an event of one of the node's supervisors, the application's
// children included. Its name begins with "supervisor.".
type SupervisorEvent struct {
	Origin

	// Event is a value of one of the event types of package supervision.
	Event supervision.Event

	// Minor says that another event tells of what matters here, so that the log has
	// this one as debug.
	Minor bool
}

// Name is that of the supervisor's event.
func (e SupervisorEvent) Name() string { return e.Event.Name() }

// Level is that of the supervisor's event, debug if it is minor.
func (e SupervisorEvent) Level() slog.Level {
	if e.Minor {
		return slog.LevelDebug
	}
	return e.Event.Level()
}

// Attrs are those of the supervisor's event, and the stack of a child that panicked.
func (e SupervisorEvent) Attrs() []slog.Attr {
	attrs := append(e.Origin.Attrs(), e.Event.Attrs()...)
	if exit, ok := e.Event.(supervision.ChildExited); ok {
		if p, ok := errors.AsType[*supervision.PanicError](exit.Reason); ok {
			attrs = append(attrs, slog.String("stack", string(p.Stack)))
		}
	}
	return attrs
}

// String is the supervisor's event as one line.
func (e SupervisorEvent) String() string { return e.Event.String() }
