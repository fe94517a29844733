package supervision

import (
	"errors"
	"fmt"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

func TestReasonTravels(t *testing.T) {
	system, events := newSystem(), newRecorder()
	fenced := errors.New("fenced")
	tree, err := Start(within(t), system, Spec{Name: "shards", Events: events.add})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tree.StartChild(within(t), ChildSpec{
		Name: "shard-1", Restart: Temporary,
		Supervisor: &Spec{
			Strategy: OneForAll, Intensity: NoRestarts,
			Children: []ChildSpec{{Name: "notifier", New: newObedient}, {Name: "database", New: newObedient}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	system.Root.Send(system.NewLocalPID("shards/shard-1/database"), do(func(c actor.Context) { Exit(c, fmt.Errorf("db: %w", fenced)) }))
	events.wait(t, "shard exits fenced", func(e Event) bool {
		x, ok := e.(ChildExited)
		return ok && x.Child == "shard-1" && errors.Is(x.Reason, fenced)
	})
	if list, err := tree.Children(within(t)); err != nil || len(list) != 0 {
		t.Errorf("children %v, %v", list, err)
	}
	if err := tree.StopChild(within(t), "shard-1"); !errors.Is(err, ErrUnknownChild) {
		t.Errorf("StopChild = %v", err)
	}
	if err := tree.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	t.Log(events.lines())
}
