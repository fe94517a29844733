package main

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/supervision"
)

// spawnedAtOnce is how many children are started in one go.
const spawnedAtOnce = 10_000

// spawning compares the start of supervised dynamic children with Proto.Actor's
// own SpawnNamed. Both sides start the same actors from an actor, and wait until
// all of them have handled Started; the supervised side waits for the
// supervisor's answers too.
func spawning() benchmark {
	return benchmark{
		name: "supervised-spawn", goal: atLeast(0.5), unit: "starts/s",
		ours: repeated(spawnSupervised),
		peer: repeated(spawnBare),
	}
}

// repeated runs goes of spawnedAtOnce starts until the time is over. Set-up and
// tear-down of a go do not count.
func repeated(once func(context.Context, *actor.ActorSystem) (time.Duration, error)) measure {
	return func(ctx context.Context, d time.Duration) (float64, error) {
		var spent time.Duration
		goes := 0
		for since := clock.Now(); goes == 0 || clock.Since(since) < d; goes++ {
			system := actor.NewActorSystem(actor.WithLoggerFactory(discard))
			took, err := once(ctx, system)
			system.Shutdown()
			if err != nil {
				return 0, err
			}
			spent += took
		}
		return float64(goes*spawnedAtOnce) / spent.Seconds(), nil
	}
}

func discard(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }

// begin is the message that starts a go.
type begin struct{}

// spawnBare starts the children with SpawnNamed from their parent.
func spawnBare(_ context.Context, system *actor.ActorSystem) (time.Duration, error) {
	var left expected
	left.Add(spawnedAtOnce)
	props := actor.PropsFromProducer(left.newChild)
	parent := system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		if _, ok := c.Message().(begin); !ok {
			return
		}
		for i := range spawnedAtOnce {
			if _, err := c.SpawnNamed(props, strconv.Itoa(i)); err != nil {
				left.fail(err)
			}
		}
	}))
	took := left.time(func() { system.Root.Send(parent, begin{}) })
	return took, errors.Join(left.failure.get(), system.Root.StopFuture(parent).Wait())
}

// spawnSupervised asks a supervisor to start the children.
func spawnSupervised(ctx context.Context, system *actor.ActorSystem) (time.Duration, error) {
	tree, err := supervision.Start(ctx, system, supervision.Spec{})
	if err != nil {
		return 0, err
	}
	var left expected
	left.Add(2 * spawnedAtOnce) // each child's Started and the supervisor's answer
	asker := system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch msg := c.Message().(type) {
		case begin:
			for i := range spawnedAtOnce {
				spec := supervision.ChildSpec{Name: strconv.Itoa(i), New: left.newChild}
				c.Request(tree.PID(), &supervision.StartChild{Spec: spec})
			}
		case *supervision.StartChildResult:
			if msg.Err != nil {
				left.fail(msg.Err) // for the child
			}
			left.Done()
		}
	}))
	took := left.time(func() { system.Root.Send(asker, begin{}) })
	return took, errors.Join(left.failure.get(), system.Root.StopFuture(asker).Wait(), tree.Stop(ctx))
}

// expected counts the events that a go waits for.
type expected struct {
	sync.WaitGroup

	failure firstError
}

// newChild makes a child that counts when it has started.
func (e *expected) newChild() actor.Actor {
	return actor.ReceiveFunc(func(c actor.Context) {
		if _, ok := c.Message().(*actor.Started); ok {
			e.Done()
		}
	})
}

// fail counts a child that will not start.
func (e *expected) fail(err error) {
	e.failure.set(err)
	e.Done()
}

// time starts a go and returns how long it takes.
func (e *expected) time(start func()) time.Duration {
	runtime.GC()
	began := clock.Now()
	start()
	e.Wait()
	return clock.Since(began)
}
