// Package local is the strategy of a node that is alone: it opens every shard
// here and reopens those that go down.
package local

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// Options of the strategy. The zero value is what most want.
type Options struct {
	// Shards is the list of shards to open. Default: all.
	Shards []int

	// A shard that cannot open, or goes down, is opened again after BackoffBase,
	// doubling with each failure in a row to at most BackoffMax, plus up to a
	// quarter of it. A shard that was up for BackoffMax begins anew.
	// Defaults: 1 s and 60 s. BackoffBase must not be above BackoffMax.
	BackoffBase, BackoffMax time.Duration

	// MaxConcurrency is how many shards open at a time. Default: 16.
	MaxConcurrency int
}

// Local opens all shards on this node.
type Local struct {
	options Options
	pid     atomic.Pointer[actor.PID]
	system  atomic.Pointer[actor.RootContext]
}

// New makes the strategy; errors name the option.
func New(o Options) (*Local, error) {
	if o.BackoffBase < 0 || o.BackoffMax < 0 || o.MaxConcurrency < 0 {
		return nil, errors.New("local strategy: BackoffBase, BackoffMax and MaxConcurrency must not be negative")
	}
	o.BackoffBase = orDefault(o.BackoffBase, time.Second)
	o.BackoffMax = orDefault(o.BackoffMax, time.Minute)
	o.MaxConcurrency = orDefault(o.MaxConcurrency, 16)
	if o.BackoffBase > o.BackoffMax {
		return nil, fmt.Errorf("local strategy: BackoffBase (%v) must not be above BackoffMax (%v)", o.BackoffBase, o.BackoffMax)
	}
	o.Shards = slices.Clone(o.Shards)
	return &Local{options: o}, nil
}

func orDefault[T comparable](v, byDefault T) T {
	var zero T
	if v == zero {
		return byDefault
	}
	return v
}

// Validate checks the list of shards.
func (l *Local) Validate(c strategy.Cluster) error {
	seen := map[int]bool{}
	for _, n := range l.options.Shards {
		switch {
		case n < 0 || n >= c.Shards:
			return fmt.Errorf("local strategy: Shards names shard %d, but the cluster has 0 to %d", n, c.Shards-1)
		case seen[n]:
			return fmt.Errorf("local strategy: Shards names shard %d twice", n)
		}
		seen[n] = true
	}
	return nil
}

// Child is the actor that opens the shards. It is ready once each was attempted.
func (l *Local) Child(r strategy.Runtime) supervision.ChildSpec {
	return supervision.ChildSpec{
		Name:  "strategy",
		Ready: supervision.Manual,
		New:   func() actor.Actor { return &opener{local: l, runtime: r} },
	}
}

// Lookup says that every shard belongs here.
func (l *Local) Lookup(int) strategy.Placement { return strategy.Placement{Here: true} }

// HandleShardDown lets the actor reopen the shard after a while.
func (l *Local) HandleShardDown(shard int, reason strategy.DownReason) {
	if pid, root := l.pid.Load(), l.system.Load(); pid != nil && root != nil {
		root.Send(pid, down{shard, reason})
	}
}

// Messages to the opener.
type (
	down struct {
		shard  int
		reason strategy.DownReason
	}
	due struct{}
)

// opener is the actor around the plan.
type opener struct {
	local   *Local
	runtime strategy.Runtime
	plan    *plan
	timer   *time.Timer
	ready   bool
}

// Receive feeds the plan and carries out what it says.
func (o *opener) Receive(ctx actor.Context) {
	now := clock.Now()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		o.start(ctx)
	case *strategy.Started:
		o.attempted(m, now)
	case down:
		o.report(m)
		o.plan.down(m.shard, m.reason == strategy.Stopped, now)
	case due:
	case *actor.Stopping:
		o.stopTimer()
		return
	default:
		return
	}
	o.carryOut(ctx, now)
}

func (o *opener) start(ctx actor.Context) {
	opts := o.local.options
	shards := opts.Shards
	if shards == nil {
		for n := range o.runtime.Shards() {
			shards = append(shards, n)
		}
	}
	o.plan = newPlan(shards, opts.BackoffBase, opts.BackoffMax, opts.MaxConcurrency, rand.Int64N)
	o.local.system.Store(ctx.ActorSystem().Root)
	o.local.pid.Store(ctx.Self())
}

func (o *opener) carryOut(ctx actor.Context, now time.Time) {
	open, wake := o.plan.next(now)
	for _, n := range open {
		o.runtime.StartShard(n, nil, ctx.Self())
	}
	o.stopTimer()
	if wake > 0 {
		root, self := ctx.ActorSystem().Root, ctx.Self()
		o.timer = clock.AfterFunc(wake, func() { root.Send(self, due{}) })
	}
	if !o.ready && o.plan.attemptedAll() {
		o.ready = true
		supervision.Ready(ctx)
	}
}

func (o *opener) stopTimer() {
	if o.timer != nil {
		o.timer.Stop()
	}
}

func (o *opener) attempted(m *strategy.Started, now time.Time) {
	if errors.Is(m.Err, strategy.ErrStopped) {
		o.plan.stopped(m.Shard)
		return
	}
	ok := m.Err == nil || errors.Is(m.Err, strategy.ErrAlreadyStarted)
	if !ok {
		o.runtime.Logger().Error("shard did not open, trying again later",
			slog.Int("shard", m.Shard), slog.Any("error", m.Err))
	}
	o.plan.attempted(m.Shard, ok, now)
}

func (o *opener) report(m down) {
	if m.reason == strategy.Fenced {
		o.runtime.Logger().Error("shard was fenced: is a second instance running on this store? Reopening it later",
			slog.Int("shard", m.shard))
	}
}
