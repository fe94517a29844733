package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/supervision"
)

// Messages to the notifier.
type (
	dirtied struct{ next step } // the shard was written to, and is to be flushed later
	reached struct{}            // somebody waits for what may be durable already
	hurry   struct{}            // flush without waiting for the pace
	awake   struct{}            // the pace allows the next flush
	flushed struct{ err error } // the flush in flight ended
)

// notifier is the actor that flushes the shard, but for the first write after a quiet
// time, and tells those who wait what is durable. It starts before the database and ends after it.
type notifier struct {
	shard *Shard
	timer *time.Timer
}

// Receive carries out what the shard's durability state says.
func (n *notifier) Receive(ctx actor.Context) {
	now := clock.Now()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		n.shard.notifier.Store(ctx.Self())
		supervision.Ready(ctx)
	case *actor.Stopping:
		n.end()
	case dirtied:
		n.do(ctx, m.next)
	case hurry:
		n.do(ctx, n.shard.waits.hurry(now))
	case awake:
		n.do(ctx, n.shard.waits.woke(now))
	case reached:
		n.shard.waits.advance(n.shard.DurableSeq())
	case flushed:
		n.do(ctx, n.shard.waits.flushed(now, n.shard.DurableSeq()))
		if m.err != nil {
			n.shard.inspect(m.err)
		}
	}
}

func (n *notifier) do(ctx actor.Context, s step) {
	if s.wake > 0 {
		n.wakeAfter(ctx, s.wake)
	}
	if s.flush {
		n.shard.flush()
	}
}

func (n *notifier) wakeAfter(ctx actor.Context, d time.Duration) {
	root, self := ctx.ActorSystem().Root, ctx.Self()
	if n.timer != nil {
		n.timer.Stop()
	}
	n.timer = clock.AfterFunc(d, func() { root.Send(self, awake{}) })
}

// end answers everybody: those who wait by what the database said last, and the
// requests in the hands of a child that did not stop in time as unknown.
func (n *notifier) end() {
	if n.timer != nil {
		n.timer.Stop()
	}
	n.shard.waits.end(n.shard.lastWord())
	n.shard.abandonRequests()
}
