package supervision

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

func TestEvents(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		event              Event
		name, text, detail string
		level              slog.Level
	}{
		{SupervisorStarted{"s"}, "supervisor.started", "supervisor s started", "supervisor=s", slog.LevelDebug},
		{
			SupervisorStopped{Supervisor: "s", Reason: ErrShutdown},
			"supervisor.stopped", "supervisor s stopped: shutdown",
			"supervisor=s reason=shutdown abandoned=[]", slog.LevelDebug,
		},
		{
			SupervisorStopped{Supervisor: "s", Reason: boom, Abandoned: []string{"s/a"}},
			"supervisor.stopped",
			"supervisor s stopped: boom; abandoned [s/a]", "supervisor=s reason=boom abandoned=[s/a]", slog.LevelError,
		},
		{
			SupervisorStopped{Supervisor: "s", Reason: &StartError{"s", "a", boom}},
			"supervisor.stopped", `supervisor s stopped: supervisor s: child "a" failed to start: boom`,
			`supervisor=s reason=supervisor s: child "a" failed to start: boom abandoned=[]`, slog.LevelDebug,
		},
		{
			SupervisorStopped{Supervisor: "s", Reason: &StartError{"s", "a", boom}, Abandoned: []string{"s/b"}},
			"supervisor.stopped", `supervisor s stopped: supervisor s: child "a" failed to start: boom; abandoned [s/b]`,
			`supervisor=s reason=supervisor s: child "a" failed to start: boom abandoned=[s/b]`, slog.LevelError,
		},
		{
			ChildExited{Supervisor: "r", Child: "s", Reason: &StartError{"r/s", "a", boom}},
			"supervisor.child.exited", `r/s failed to start: supervisor r/s: child "a" failed to start: boom`,
			`supervisor=r child=s reason=supervisor r/s: child "a" failed to start: boom asked=false ready=false`, slog.LevelDebug,
		},
		{ChildStarted{"s", "a"}, "supervisor.child.started", "s/a started", "supervisor=s child=a", slog.LevelDebug},
		{
			ChildRestarted{Supervisor: "s", Child: "a", Restarts: 2},
			"supervisor.child.restarted", "s/a restarted (2)",
			"supervisor=s child=a restarts=2", slog.LevelInfo,
		},
		{
			ChildExited{Supervisor: "s", Child: "a", Ready: true},
			"supervisor.child.exited", "s/a exited: normal",
			"supervisor=s child=a reason=normal asked=false ready=true", slog.LevelDebug,
		},
		{
			ChildExited{Supervisor: "s", Child: "a", Reason: boom},
			"supervisor.child.exited", "s/a failed to start: boom",
			"supervisor=s child=a reason=boom asked=false ready=false", slog.LevelWarn,
		},
		{
			ChildExited{Supervisor: "s", Child: "a", Reason: ErrShutdown, Asked: true},
			"supervisor.child.exited",
			"s/a stopped: shutdown", "supervisor=s child=a reason=shutdown asked=true ready=false", slog.LevelDebug,
		},
		{
			ChildAbandoned{"s", "a", time.Second},
			"supervisor.child.abandoned", "s/a abandoned after 1s",
			"supervisor=s child=a waited=1s", slog.LevelError,
		},
		{
			IntensityReached{"s", "a", 3, time.Second, boom},
			"supervisor.intensity",
			"s/a not restarted: the limit of 3 restarts in 1s is reached; it ended with: boom",
			"supervisor=s child=a intensity=3 period=1s reason=boom", slog.LevelError,
		},
	} {
		var detail []string
		for _, a := range test.event.Attrs() {
			detail = append(detail, fmt.Sprintf("%s=%v", a.Key, a.Value))
		}
		got := []string{test.event.Name(), test.event.String(), strings.Join(detail, " "), test.event.Level().String()}
		want := []string{test.name, test.text, test.detail, test.level.String()}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A nested supervisor without a receiver of its own has its parent's, at any depth.
func TestEventsAreInherited(t *testing.T) {
	own := newRecorder()
	leaf := func(events func(Event)) *Spec {
		return &Spec{Events: events, Children: []ChildSpec{{Name: "leaf", New: newObedient}}}
	}
	f := start(t, Spec{Children: []ChildSpec{
		{Name: "a", Supervisor: &Spec{Children: []ChildSpec{{Name: "b", Supervisor: leaf(nil)}}}},
		{Name: "c", Supervisor: leaf(own.add)},
	}})
	if !slices.Contains(f.lines(), "s/a/b/leaf started") || slices.Contains(f.lines(), "s/c/leaf started") {
		t.Errorf("events of the root %q", f.lines())
	}
	if want := []string{"s/c/leaf started", "supervisor s/c started"}; !slices.Equal(own.lines(), want) {
		t.Errorf("own events %q", own.lines())
	}
}

// A tree without a receiver works as well.
func TestNobodyTakesTheEvents(t *testing.T) {
	tree, err := Start(within(t), newSystem(), Spec{Children: []ChildSpec{{Name: "a", New: newObedient}}})
	if err != nil {
		t.Fatal(err)
	}
	tree.system.Root.Send(PID(tree.PID(), "a"), do(func(actor.Context) { panic("boom") }))
	if err := tree.StopChild(within(t), "a"); err != nil {
		t.Fatal(err)
	}
	if err := tree.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
}

func TestReasons(t *testing.T) {
	for _, test := range []struct {
		reason error
		crash  bool
	}{
		{nil, false},
		{ErrShutdown, false},
		{fmt.Errorf("moved: %w", ErrShutdown), false},
		{&SignificantError{Reason: &IntensityError{}}, false},
		{errFenced, true},
		{ErrAbandoned, true},
		{&IntensityError{Reason: ErrShutdown}, true},
		{fmt.Errorf("wrapped: %w", &IntensityError{Reason: ErrShutdown}), true},
		{&StartError{Reason: ErrShutdown}, true},
		{&PanicError{Value: ErrShutdown}, true},
	} {
		if got := IsCrash(test.reason); got != test.crash {
			t.Errorf("IsCrash(%v) = %v", test.reason, got)
		}
	}
	for reason, is := range map[error]error{
		&PanicError{Value: errFenced}:            errFenced,
		&StartError{Reason: errFenced}:           errFenced,
		&IntensityError{Reason: errFenced}:       errFenced,
		&IntensityError{}:                        ErrIntensity,
		&SignificantError{Reason: errFenced}:     errFenced,
		&SignificantError{}:                      ErrShutdown,
		&AbandonedError{Children: []string{"a"}}: ErrAbandoned,
	} {
		if !errors.Is(reason, is) {
			t.Errorf("%v is not %v", reason, is)
		}
	}
	if got := (&PanicError{Value: 7}).Error(); got != "panic: 7" {
		t.Error(got)
	}
}
