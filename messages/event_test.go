package messages_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/supervision"
)

func TestEVT_EveryEventHasItsNameLevelAndMetadata(t *testing.T) {
	from := messages.Origin{Cluster: "c", Time: time.Unix(7, 0)}
	shard := messages.ShardOrigin{Origin: from, Shard: 3, Generation: 9, Opening: "i.1"}
	const of3 = "cluster=c shard=3 generation=9 opening=i.1"
	away := errors.New("away")
	panicked := supervision.ChildExited{
		Supervisor: "s", Child: "a", Ready: true, Reason: &supervision.PanicError{Value: "no", Stack: []byte("main.go:1")},
	}
	for _, test := range []struct {
		event messages.Event
		name  string
		level slog.Level
		text  string
		attrs string
	}{
		{
			messages.Probed{Origin: from, Store: "memory:"},
			"probe", slog.LevelDebug,
			"the store passed its probe", "cluster=c store=memory: ok=true result=ok",
		},
		{
			messages.Probed{Origin: from, Store: "memory:", Err: away},
			"probe", slog.LevelError,
			"the store did not pass its probe: away", "cluster=c store=memory: ok=false result=away",
		},
		{messages.ShardStarted{ShardOrigin: shard}, "shard.start", slog.LevelDebug, "shard 3 started", of3},
		{
			messages.ShardFenced{ShardOrigin: shard},
			"shard.fenced", slog.LevelError,
			"shard 3 was fenced: its next owner, or a second instance on this store, has opened its database", of3,
		},
		{
			messages.ShardStopped{ShardOrigin: shard, Reason: "stopped", Status: "stopping"},
			"shard.stop", slog.LevelDebug,
			"shard 3 stopped", of3 + " reason=stopped status=stopping",
		},
		{
			messages.ShardStopped{ShardOrigin: shard, Reason: "fenced", Status: "fenced"},
			"shard.stop", slog.LevelDebug,
			"shard 3 stopped: fenced", of3 + " reason=fenced status=fenced",
		},
		{
			messages.ShardStopped{ShardOrigin: shard, Reason: "crashed", Status: "stopping", Err: away},
			"shard.stop", slog.LevelError,
			"shard 3 crashed: away", of3 + " reason=crashed status=stopping error=away",
		},
		{
			messages.ShardFailed{ShardOrigin: shard, Err: away},
			"shard.failed", slog.LevelError,
			"shard 3 did not open: away", of3 + " error=away",
		},
		{
			messages.ShardAbandoned{ShardOrigin: shard, Op: messages.OpClose},
			"shard.abandoned", slog.LevelWarn,
			"shard 3: its close takes too long and goes on by itself", of3 + " op=close",
		},
		{
			messages.DurabilityLag{ShardOrigin: shard, Lag: 5},
			"durability.lag", slog.LevelDebug,
			"shard 3: 5 writes are not durable yet", of3 + " lag=5",
		},
		{
			messages.EventsMissed{Origin: from, Count: 2},
			"events.missed", slog.LevelWarn,
			"a reader of events was too slow and missed 2", "cluster=c count=2",
		},
		{
			messages.SupervisorEvent{Origin: from, Event: supervision.ChildRestarted{Supervisor: "s", Child: "a", Restarts: 2}},
			"supervisor.child.restarted", slog.LevelInfo, "s/a restarted (2)", "cluster=c supervisor=s child=a restarts=2",
		},
		{
			messages.SupervisorEvent{Event: panicked, Minor: true},
			"supervisor.child.exited", slog.LevelDebug,
			panicked.String(), "supervisor=s child=a reason=panic: no asked=false ready=true stack=main.go:1",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := test.event
			if e.Name() != test.name || e.Level() != test.level || e.String() != test.text {
				t.Errorf("%s at %v: %q", e.Name(), e.Level(), e)
			}
			if got := attrsOf(e); got != test.attrs {
				t.Errorf("attributes\n%s, want\n%s", got, test.attrs)
			}
			if o := e.From(); o != from && !strings.Contains(test.attrs, "stack") {
				t.Errorf("it comes from %v", o)
			}
		})
	}
}

func attrsOf(e messages.Event) string {
	var words []string
	for _, a := range e.Attrs() {
		words = append(words, fmt.Sprint(a))
	}
	return strings.Join(words, " ")
}
