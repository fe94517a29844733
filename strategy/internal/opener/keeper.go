package opener

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/alarm"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/seat"
	"github.com/slap-go/slap/supervision"
)

// Messages to the keeper.
type (
	down struct {
		shard  int
		reason strategy.DownReason
	}
	due struct{}
)

// keeper is the actor around the plan.
type keeper struct {
	opener  *Opener
	runtime strategy.Runtime
	shards  []int

	seat  *seat.Occupant
	plan  *plan
	alarm alarm.Alarm
	ready bool
}

// Receive feeds the plan and carries out what it says.
func (k *keeper) Receive(ctx actor.Context) {
	now := clock.Now()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		if err := k.start(ctx); err != nil {
			supervision.Fail(ctx, err)
			return
		}
	case *strategy.Started:
		k.log(m)
		k.plan.attempted(m.Shard, outcome(m.Err), now)
	case down:
		k.plan.down(m.shard, m.reason == strategy.Stopped, now)
	case due:
	case *actor.Stopping:
		k.end()
		return
	default:
		return
	}
	k.carryOut(ctx, now)
}

func (k *keeper) start(ctx actor.Context) (err error) {
	k.seat, err = k.opener.seat.Take(ctx, k.opener.strategy, k.runtime.Node())
	k.plan = newPlan(k.shards, k.opener.pace, func(n int64) int64 { return 1 + rand.Int64N(n) })
	return err
}

func (k *keeper) end() {
	k.alarm.Stop()
	k.seat.Leave()
}

func (k *keeper) carryOut(ctx actor.Context, now time.Time) {
	open, wake := k.plan.next(now)
	for _, n := range open {
		k.runtime.StartShard(n, nil, ctx.Self())
	}
	k.alarm.Stop()
	if wake > 0 {
		k.alarm.Set(ctx, wake, due{})
	}
	if !k.ready && k.plan.attemptedAll() {
		k.ready = true
		supervision.Ready(ctx)
	}
}

// outcome is what the answer to a start means to the plan.
func outcome(err error) result {
	switch {
	case err == nil:
		return opened
	case errors.Is(err, strategy.ErrAlreadyStarted):
		return there
	case errors.Is(err, strategy.ErrStopped):
		return stopped
	default:
		return failed
	}
}

// log tells of an open that was refused. Of one that failed the node has told.
func (k *keeper) log(m *strategy.Started) {
	if errors.Is(m.Err, strategy.ErrClosing) {
		k.runtime.Logger().Info("shard is still closing, opening it later", slog.Int("shard", m.Shard))
	}
}
