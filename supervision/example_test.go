package supervision_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/supervision"
)

func quiet() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler)
	}))
}

// A tree starts in order and stops in reverse.
func ExampleStart() {
	worker := func() actor.Actor { return actor.ReceiveFunc(func(actor.Context) {}) }
	tree, err := supervision.Start(context.Background(), quiet(), supervision.Spec{
		Name:   "app",
		Events: func(e supervision.Event) { fmt.Println(e) },
		Children: []supervision.ChildSpec{
			{Name: "store", New: worker},
			{Name: "web", Supervisor: &supervision.Spec{
				Children: []supervision.ChildSpec{{Name: "listener", New: worker}},
			}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tree.Stop(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// app/store started
	// app/web/listener started
	// supervisor app/web started
	// app/web started
	// supervisor app started
	// app/web/listener stopped: shutdown
	// supervisor app/web stopped: shutdown
	// app/web stopped: shutdown
	// app/store stopped: shutdown
	// supervisor app stopped: shutdown
}

// A reason passes up to the owner of the tree.
func ExampleExit() {
	errFenced := errors.New("another writer has taken over")
	database := func() actor.Actor {
		return actor.ReceiveFunc(func(ctx actor.Context) {
			if ctx.Message() == "fence" {
				supervision.Exit(ctx, errFenced)
			}
		})
	}
	system := quiet()
	tree, err := supervision.Start(context.Background(), system, supervision.Spec{
		Name:      "shard",
		Intensity: supervision.NoRestarts,
		Children:  []supervision.ChildSpec{{Name: "database", New: database}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	system.Root.Send(supervision.PID(tree.PID(), "database"), "fence")
	<-tree.Done()
	fmt.Println(tree.Err())
	fmt.Println(errors.Is(tree.Err(), errFenced))
	// Output:
	// supervisor shard: child "database" ended (another writer has taken over) and no restart is allowed
	// true
}

// Children may come and go while the supervisor runs. One that opens something says itself when it is ready.
func ExampleRef_StartChild() {
	session := func() actor.Actor {
		return actor.ReceiveFunc(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				ctx.Send(ctx.Self(), "opened") // as the answer of what it opens would come
			case string:
				supervision.Ready(ctx)
			}
		})
	}
	ctx := context.Background()
	tree, err := supervision.Start(ctx, quiet(), supervision.Spec{Name: "sessions"})
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := supervision.ChildSpec{Name: "anna", New: session, Ready: supervision.Manual, Restart: supervision.Temporary}
	pid, err := tree.StartChild(ctx, spec)
	fmt.Println(pid.GetId(), err)
	_, err = tree.StartChild(ctx, spec)
	fmt.Println(err)
	fmt.Println(tree.StopChild(ctx, "anna"), tree.Stop(ctx))
	// Output:
	// sessions/anna <nil>
	// child exists
	// <nil> <nil>
}
