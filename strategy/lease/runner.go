package lease

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/alarm"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/seat"
	"github.com/slap-go/slap/supervision"
)

// Messages to the runner, besides down.
type (
	openShard struct {
		shard int
		lease *strategy.Lease
	}
	closeShard struct{ shard int }
)

// runner opens and closes shards and fences those whose lease is over. It never calls the
// store, so that neither waits for the other.
type runner struct {
	strategy *Strategy
	runtime  strategy.Runtime
	queue    *queue
	seat     *seat.Occupant
	alarm    alarm.Alarm
}

// Receive feeds the queue and carries out what it says.
func (r *runner) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		if err := r.start(ctx); err != nil {
			supervision.Fail(ctx, err)
			return
		}
	case due:
	case openShard:
		r.queue.open(m.shard, m.lease)
	case closeShard:
		r.queue.close(m.shard)
	case *strategy.Started:
		r.queue.started(m.Shard, m.Err)
	case *strategy.Closed:
		r.queue.stopped(m.Shard)
	case down:
		r.queue.down(m.shard, m.reason)
	case *actor.Stopping:
		r.alarm.Stop()
		r.seat.Leave()
		return
	default:
		return
	}
	r.queue.expire(strategy.Now())
	r.carryOut(ctx)
	r.wake(ctx)
}

func (r *runner) start(ctx actor.Context) (err error) {
	r.seat, err = r.strategy.runner.Take(ctx, r.strategy.name, r.runtime.Node())
	return err
}

func (r *runner) carryOut(ctx actor.Context) {
	loop := supervision.PID(ctx.Parent(), loopName)
	for _, s := range r.queue.take() {
		switch {
		case s.start != nil:
			r.runtime.StartShard(s.start.shard, s.start.lease, ctx.Self())
		case s.told == nil:
			r.runtime.StopShard(s.stop, ctx.Self())
		default:
			if e, ok := s.told.(expired); ok {
				r.runtime.Publish(messages.LeasesSelfFenced{Origin: r.runtime.Origin(), Shards: e.shards})
			}
			ctx.Send(loop, s.told)
		}
	}
}

// wake looks again when the next lease is over.
func (r *runner) wake(ctx actor.Context) {
	r.alarm.Stop()
	if next := r.queue.due(); next != 0 {
		r.alarm.Set(ctx, next.Sub(strategy.Now()), due{})
	}
}
