package slap_test

import (
	"errors"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

func TestSPEC2_TwoClustersShareAnApplicationsActorSystem(t *testing.T) {
	system := actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(time.Millisecond))
	defer system.Shutdown()
	s := newStubs()
	config := func(name string) slap.Config {
		return slap.Config{Cluster: name, Store: store.Memory(), Shards: 2, ShardChildren: s.children, System: system}
	}
	one, two := startCluster(t, config("one")), startCluster(t, config("two"))
	same, err := slap.New(config("one"))
	if err != nil {
		t.Fatal(err)
	}
	if err := same.Start(within(t, time.Minute)); err == nil {
		t.Error("a second cluster of one name started in one actor system")
	}
	ctx := within(t, time.Minute)
	for _, c := range []*slap.Cluster{one, two} {
		if err := say(ctx, c, "a", "echo"); err != nil {
			t.Error(err)
		}
	}
	stopCluster(t, one)
	if err := say(ctx, two, "a", "echo"); err != nil {
		t.Errorf("after the other's stop: %v", err)
	}
	again := startCluster(t, config("one"))
	if err := say(ctx, again, "a", "echo"); err != nil {
		t.Errorf("the name used again: %v", err)
	}
	stopCluster(t, again)
	stopCluster(t, two)
	mine := system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		if m, ok := c.Message().(*wrapperspb.StringValue); ok {
			c.Respond(m)
		}
	}))
	if _, err := system.Root.RequestFuture(mine, wrapperspb.String("x"), time.Minute).Result(); err != nil {
		t.Errorf("the application's system was shut down: %v", err)
	}
	if err := system.Root.StopFuture(mine).Wait(); err != nil {
		t.Error(err)
	}
}

func TestSPEC2_TwoClustersRunBesideEachOtherInOneProcess(t *testing.T) {
	s := newStubs()
	config := slap.Config{Store: store.Memory(), Shards: 2, ShardChildren: s.children}
	one := startCluster(t, config)
	config.Store = store.Memory()
	two := startCluster(t, config)
	ctx := within(t, time.Minute)
	stopCluster(t, one)
	if err := say(ctx, two, "a", "echo"); err != nil {
		t.Error(err)
	}
	if err := say(ctx, one, "a", "echo"); !errors.Is(err, slap.ErrNotRunning) {
		t.Errorf("the one that was stopped: %v", err)
	}
	stopCluster(t, two)
}
