package links

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/internal/relay"
)

// foreign is an application's own system with a remote.
func foreign(t *testing.T, options ...remote.ConfigOption) *actor.ActorSystem {
	t.Helper()
	s := newSystem()
	r := remote.NewRemote(s, remote.Configure("127.0.0.1", 0, options...))
	starting.Lock()
	r.Start()
	starting.Unlock()
	t.Cleanup(func() {
		r.Shutdown(true)
		s.Shutdown()
	})
	return s
}

func on(s *actor.ActorSystem) func(*Config) {
	return func(c *Config) { c.System, c.Listen = s, "" }
}

func TestP7_4_ANodeUsesTheApplicationsRemote(t *testing.T) {
	a := startNode(t, "a")
	system := foreign(t, RemoteOptions(nil)...)
	b := startNode(t, "b", on(system))
	if b.Self().Address != system.Address() {
		t.Errorf("%s, not %s", b.Self().Address, system.Address())
	}
	serves(t, a, b)
	serves(t, b, a)
	eventually(t, func() error { return b.DialSelf(t.Context()) })
	if _, err := tryNode("c", on(system)); err == nil || !strings.HasPrefix(err.Error(), "System is used by another node") {
		t.Errorf("a second node on one system: %v", err)
	}
	b.close(t)
	if _, err := a.Greet(t.Context(), system.Address()); err == nil {
		t.Error("a node that has stopped answers")
	}
	again := startNode(t, "b", on(system))
	serves(t, a, again)
}

func TestP7_4_WithoutRemoteOptionsItIsRefused(t *testing.T) {
	none, plain := newSystem(), foreign(t)
	late := newSystem()
	remote.NewRemote(late, remote.Configure("127.0.0.1", 0, RemoteOptions(nil)...))
	t.Cleanup(func() { none.Shutdown(); late.Shutdown() })
	for want, system := range map[string]*actor.ActorSystem{
		"System runs no Proto.Actor remote: start one with RemoteOptions":       none,
		"System's Proto.Actor remote lacks RemoteOptions: start it with them":   plain,
		"System's Proto.Actor remote has not started: start it before the node": late,
	} {
		if err := CheckSystem(system); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := tryNode("a", on(system)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A node stops quickly whatever Proto.Actor's endpoints are at, and leaves nothing behind
// (goleak looks at the end).
func TestP7_1_ANodeStopsQuickly(t *testing.T) {
	t.Parallel()
	live := startNode(t, "live")
	held := relay.Start(t, live.Self().Address)
	for what, address := range map[string]string{
		"refused": nobody, "silent": silentAddress(t), "live": live.Self().Address, "held": held.Address(),
	} {
		a := startNode(t, "a")
		pid := actor.NewPID(address, "nobody")
		for range 3 {
			a.system.Root.Send(pid, wrapperspb.String("x"))
		}
		// It is connected to by Proto.Actor, too.
		back := a.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		live.system.Root.Send(back, wrapperspb.String("x"))
		if what == "held" {
			held.Hold()
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), someTime)
		if err := a.Close(ctx); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
		took := time.Since(began)
		a.system.Shutdown()
		t.Logf("%s: %v", what, took)
		if took > 5*time.Second {
			t.Errorf("%s: it took %v", what, took)
		}
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	held.Flow()
}
