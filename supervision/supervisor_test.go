package supervision

import (
	"errors"
	"slices"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// do is a message that an actor of the tests runs in its Receive.
type do func(actor.Context)

// An obedient actor does what it is told by a do.
func obedient(c actor.Context) {
	if f, ok := c.Message().(do); ok {
		f(c)
	}
}

func newObedient() actor.Actor { return actor.ReceiveFunc(obedient) }

func TestStartAndStopInOrder(t *testing.T) {
	system, events := newSystem(), newRecorder()
	tree, err := Start(within(t), system, Spec{
		Name: "root", Events: events.add,
		Children: []ChildSpec{
			{Name: "a", New: newObedient},
			{Name: "b", Supervisor: &Spec{Children: []ChildSpec{{Name: "x", New: newObedient}, {Name: "y", New: newObedient}}}},
			{Name: "c", New: newObedient},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"root/a started", "root/b/x started", "root/b/y started", "supervisor root/b started", "root/b started", "root/c started",
		"supervisor root started",
		"root/c stopped: shutdown", "root/b/y stopped: shutdown", "root/b/x stopped: shutdown", "supervisor root/b stopped: shutdown",
		"root/b stopped: shutdown", "root/a stopped: shutdown", "supervisor root stopped: shutdown",
	}
	if got := events.lines(); !slices.Equal(got, want) {
		t.Errorf("events\n%q, want\n%q", got, want)
	}
	if !errors.Is(tree.Err(), ErrShutdown) {
		t.Errorf("Err = %v", tree.Err())
	}
}
