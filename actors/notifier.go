package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/alarm"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/supervision"
)

// Messages to the notifier.
type (
	later   struct{ in time.Duration } // the pace allows the next flush then
	awake   struct{}                   // the pace allows the next flush
	reached struct{}                   // somebody waits for what is durable
)

// notifier is the actor that has the pace of flushes, and tells those who wait what is
// durable, but for those whom anybody may tell. It starts before the database and ends after it.
type notifier struct {
	shard *Shard
	alarm alarm.Alarm
}

// Receive carries out what the shard's durability state says.
func (n *notifier) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		n.shard.notifier.Store(ctx.Self())
		supervision.Ready(ctx)
	case *actor.Stopping:
		n.end()
	case later:
		n.alarm.Set(ctx, m.in, awake{})
	case awake:
		n.shard.do(n.shard.waits.woke(clock.Now()))
	case reached:
		n.shard.waits.advance(n.shard.DurableSeq())
	}
}

// end answers everybody: those who wait by what the database said last, and the
// requests in the hands of a child that did not stop in time as unknown.
func (n *notifier) end() {
	n.alarm.Stop()
	n.shard.waits.end(n.shard.lastWord())
	n.shard.abandonRequests()
	n.shard.gate.over.Store(true)
}
