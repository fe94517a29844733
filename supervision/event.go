package supervision

import (
	"fmt"
	"log/slog"
	"time"
)

// An Event tells what happened in a supervisor. All events are values of the types in this package.
type Event interface {
	// String is the event as one line for people.
	String() string
	// Name is the event's kind, in lower case with dots.
	Name() string
	// Level is how much the event deserves attention.
	Level() slog.Level
	// Attrs are the event's details for a structured log.
	Attrs() []slog.Attr
}

// SupervisorStarted says that all children have started for the first time.
type SupervisorStarted struct {
	// Supervisor is the supervisor's id.
	Supervisor string
}

// SupervisorStopped is a supervisor's last event: no child is left.
type SupervisorStopped struct {
	// Supervisor is the supervisor's id.
	Supervisor string
	// Reason is why it ended.
	Reason error
	// Abandoned are the ids of the children, at any depth, that did not stop in time.
	Abandoned []string
}

// ChildStarted says that a child is ready for the first time.
type ChildStarted struct {
	// Supervisor is the supervisor's id, Child the child's name.
	Supervisor, Child string
}

// ChildRestarted says that a child is ready again.
type ChildRestarted struct {
	// Supervisor is the supervisor's id, Child the child's name.
	Supervisor, Child string
	// Restarts counts how often this child was started again, this time included.
	Restarts int
}

// ChildExited says that a child has ended.
type ChildExited struct {
	// Supervisor is the supervisor's id, Child the child's name.
	Supervisor, Child string
	// Reason is why: nil for a normal exit, [ErrShutdown] when its supervisor stopped it.
	Reason error
	// Asked says that the supervisor had told it to stop.
	Asked bool
	// Ready says that it had become ready. A child that ends before that has failed to start.
	Ready bool
}

// ChildAbandoned says that a child did not stop in time. Its name is free, its goroutine is left behind.
type ChildAbandoned struct {
	// Supervisor is the supervisor's id, Child the child's name.
	Supervisor, Child string
	// Waited is the time that the child had, zero for a child that was stopped brutally.
	Waited time.Duration
}

// ChildRemoved says that a child has ended for good and left its supervisor's table: its name is free.
type ChildRemoved struct {
	// Supervisor is the supervisor's id, Child the child's name.
	Supervisor, Child string
}

// IntensityReached says that a child is not restarted because the supervisor's limit is reached; the
// supervisor ends.
type IntensityReached struct {
	// Supervisor is the supervisor's id, Child the child's name.
	Supervisor, Child string
	// Intensity and Period are the limit.
	Intensity int
	Period    time.Duration
	// Reason is the child's exit reason, nil for a normal exit.
	Reason error
}

// String is the event as one line.
func (e SupervisorStarted) String() string { return "supervisor " + e.Supervisor + " started" }

// String is the event as one line.
func (e SupervisorStopped) String() string {
	s := fmt.Sprintf("supervisor %s stopped: %s", e.Supervisor, reasonText(e.Reason))
	if len(e.Abandoned) > 0 {
		s += fmt.Sprintf("; abandoned %v", e.Abandoned)
	}
	return s
}

// String is the event as one line.
func (e ChildStarted) String() string { return id(e.Supervisor, e.Child) + " started" }

// String is the event as one line.
func (e ChildRestarted) String() string {
	return fmt.Sprintf("%s restarted (%d)", id(e.Supervisor, e.Child), e.Restarts)
}

// String is the event as one line.
func (e ChildExited) String() string {
	what := "exited"
	switch {
	case e.Asked:
		what = "stopped"
	case !e.Ready:
		what = "failed to start"
	}
	return fmt.Sprintf("%s %s: %s", id(e.Supervisor, e.Child), what, reasonText(e.Reason))
}

// String is the event as one line.
func (e ChildAbandoned) String() string {
	return fmt.Sprintf("%s abandoned after %v", id(e.Supervisor, e.Child), e.Waited)
}

// String is the event as one line.
func (e ChildRemoved) String() string { return id(e.Supervisor, e.Child) + " removed" }

// String is the event as one line.
func (e IntensityReached) String() string {
	return fmt.Sprintf("%s not restarted: %s; it ended with: %s",
		id(e.Supervisor, e.Child), limitText(e.Intensity, e.Period), reasonText(e.Reason))
}

// Name is the event's kind.
func (SupervisorStarted) Name() string { return "supervisor.started" }

// Name is the event's kind.
func (SupervisorStopped) Name() string { return "supervisor.stopped" }

// Name is the event's kind.
func (ChildStarted) Name() string { return "supervisor.child.started" }

// Name is the event's kind.
func (ChildRestarted) Name() string { return "supervisor.child.restarted" }

// Name is the event's kind.
func (ChildExited) Name() string { return "supervisor.child.exited" }

// Name is the event's kind.
func (ChildAbandoned) Name() string { return "supervisor.child.abandoned" }

// Name is the event's kind.
func (ChildRemoved) Name() string { return "supervisor.child.removed" }

// Name is the event's kind.
func (IntensityReached) Name() string { return "supervisor.intensity" }

// Level is debug.
func (SupervisorStarted) Level() slog.Level { return slog.LevelDebug }

// Level is error for a crash or abandoned children, else debug: also for a child that failed to start, which
// has an event of its own and is the error of who started the supervisor.
func (e SupervisorStopped) Level() slog.Level {
	if IsCrash(e.Reason) && !isStartError(e.Reason) || len(e.Abandoned) > 0 {
		return slog.LevelError
	}
	return slog.LevelDebug
}

// Level is debug.
func (ChildStarted) Level() slog.Level { return slog.LevelDebug }

// Level is info.
func (ChildRestarted) Level() slog.Level { return slog.LevelInfo }

// Level is warn for a crash, else debug: also for a supervisor that ended because a child of its own failed to
// start, which has an event of its own.
func (e ChildExited) Level() slog.Level {
	if IsCrash(e.Reason) && !isStartError(e.Reason) {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// Level is error.
func (ChildAbandoned) Level() slog.Level { return slog.LevelError }

// Level is debug.
func (ChildRemoved) Level() slog.Level { return slog.LevelDebug }

// Level is error.
func (IntensityReached) Level() slog.Level { return slog.LevelError }

// Attrs are the supervisor's id.
func (e SupervisorStarted) Attrs() []slog.Attr { return attrs(e.Supervisor, "") }

// Attrs are the supervisor's id, the reason and the abandoned children.
func (e SupervisorStopped) Attrs() []slog.Attr {
	return attrs(e.Supervisor, "", slog.String("reason", reasonText(e.Reason)), slog.Any("abandoned", e.Abandoned))
}

// Attrs are the supervisor's id and the child.
func (e ChildStarted) Attrs() []slog.Attr { return attrs(e.Supervisor, e.Child) }

// Attrs are the supervisor's id, the child and its restarts.
func (e ChildRestarted) Attrs() []slog.Attr {
	return attrs(e.Supervisor, e.Child, slog.Int("restarts", e.Restarts))
}

// Attrs are the supervisor's id, the child, the reason, and whether it was asked to stop and was ready.
func (e ChildExited) Attrs() []slog.Attr {
	return attrs(e.Supervisor, e.Child, slog.String("reason", reasonText(e.Reason)),
		slog.Bool("asked", e.Asked), slog.Bool("ready", e.Ready))
}

// Attrs are the supervisor's id, the child and the time that it had.
func (e ChildAbandoned) Attrs() []slog.Attr {
	return attrs(e.Supervisor, e.Child, slog.Duration("waited", e.Waited))
}

// Attrs are the supervisor's id and the child.
func (e ChildRemoved) Attrs() []slog.Attr { return attrs(e.Supervisor, e.Child) }

// Attrs are the supervisor's id, the child, the limit and the reason.
func (e IntensityReached) Attrs() []slog.Attr {
	return attrs(e.Supervisor, e.Child, slog.Int("intensity", e.Intensity),
		slog.Duration("period", e.Period), slog.String("reason", reasonText(e.Reason)))
}

// attrs are the attributes that all events share, and more.
func attrs(supervisor, child string, more ...slog.Attr) []slog.Attr {
	out := []slog.Attr{slog.String("supervisor", supervisor)}
	if child != "" {
		out = append(out, slog.String("child", child))
	}
	return append(out, more...)
}

// id is the id of a child's PID.
func id(supervisor, child string) string { return supervisor + "/" + child }
