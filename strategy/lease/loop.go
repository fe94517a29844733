package lease

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/alarm"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/seat"
	"github.com/slap-go/slap/supervision"
)

// Requests of other goroutines to the loop.
type (
	refreshRequest struct {
		shard int
		done  chan<- struct{}
	}
	leaveRequest struct{ done chan<- struct{} }
)

// answer is what came of a request of a loop. One that starts over has the same PID as the
// one before, whose requests may still go on: it hears nothing of those.
type answer struct {
	to    *loop
	input any
}

// loop is the actor around the core. It waits for nothing: requests to the store run in
// goroutines, and their ends come as messages.
type loop struct {
	strategy *Strategy
	runtime  strategy.Runtime

	seat    *seat.Occupant
	core    *core
	leases  map[int]*strategy.Lease // those that are held
	runner  *actor.PID
	alarm   alarm.Alarm
	waiters map[int][]chan<- struct{} // for a fresh read of a shard
	leavers []chan<- struct{}
	ready   bool

	ctx      context.Context // of the requests
	cancel   context.CancelFunc
	requests sync.WaitGroup
	store    Store // nil until it was opened
	opened   Store // by a request; read once that has ended
}

// Receive feeds the core and carries out what it says.
func (l *loop) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		if err := l.start(ctx); err != nil {
			supervision.Fail(ctx, err)
			return
		}
		l.handle(ctx, due{})
	case *actor.Stopping:
		l.end()
	case answer:
		l.answered(ctx, m)
	case refreshRequest:
		l.waiters[m.shard] = append(l.waiters[m.shard], m.done)
		l.handle(ctx, refresh{m.shard})
	case leaveRequest:
		l.leavers = append(l.leavers, m.done)
		l.handle(ctx, leave{})
	case look:
		l.strategy.hinted.Store(false)
		l.handle(ctx, m)
	case due, opened, closed, down, expired:
		l.handle(ctx, m)
	}
}

func (l *loop) answered(ctx actor.Context, a answer) {
	if a.to != l {
		return
	}
	if _, ok := a.input.(setUp); ok {
		l.store = l.opened
	}
	l.handle(ctx, a.input)
}

func (l *loop) start(ctx actor.Context) (err error) {
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if l.seat, err = l.strategy.loop.Take(ctx, l.strategy.name, l.runtime.Node()); err != nil {
		return err
	}
	l.strategy.hinted.Store(false)
	l.leases, l.waiters = map[int]*strategy.Lease{}, map[int][]chan<- struct{}{}
	l.runner = supervision.PID(ctx.Parent(), runnerName)
	l.core = newCore(l.runtime.Node(), l.runtime.Shards(), l.strategy.options)
	l.core.backoff = l.strategy.backoff
	l.core.random, l.core.nonce, l.core.inFlight = mathrand.Int64N, rand.Text, l.runtime.InFlight
	places := make(table, l.runtime.Shards())
	l.strategy.table.Store(&places)
	return nil
}

// end lets nobody wait. The store is closed once its last request has ended.
func (l *loop) end() {
	l.cancel()
	l.alarm.Stop()
	if l.core == nil {
		return
	}
	l.seat.Leave()
	l.strategy.table.Store(new(table))
	for _, lease := range l.leases {
		lease.End()
	}
	for shard := range l.waiters {
		l.refreshed(shard)
	}
	l.left()
	l.runtime.Go(func(context.Context) {
		l.requests.Wait()
		if l.opened != nil {
			if err := l.opened.Close(); err != nil {
				l.runtime.Logger().Warn("the store of the leases does not close", "error", err)
			}
		}
	})
}

func (l *loop) handle(ctx actor.Context, input any) {
	for _, a := range l.core.handle(moment{strategy.Now(), l.strategy.wall()}, input) {
		l.carryOut(ctx, a)
	}
	l.alarm.Stop()
	if next := l.core.wake(); next != never {
		l.alarm.Set(ctx, next.Sub(strategy.Now()), due{})
	}
}

func (l *loop) carryOut(ctx actor.Context, a action) {
	switch a := a.(type) {
	case doHold:
		l.leases[a.shard] = strategy.NewLease(a.generation, a.deadline)
	case doExtend:
		l.leases[a.shard].Renew(a.deadline)
	case doDrop:
		l.leases[a.shard].End()
		delete(l.leases, a.shard)
	case doOpen:
		ctx.Send(l.runner, openShard{a.shard, l.leases[a.shard]})
	case doClose:
		ctx.Send(l.runner, closeShard(a))
	case doPlace:
		(*l.strategy.table.Load())[a.shard].Store(&a.placement)
	case doTell:
		l.runtime.Publish(a.event(l.runtime.Origin()))
	case doHint:
		for _, n := range a.nodes {
			l.runtime.Hint(n)
		}
	case doWatch:
		l.runtime.Logger().Info("another process has this node's name and does not answer: the start waits to see whether its heartbeat moves",
			"node", l.runtime.Node().Name, "address", a.address, "wait", a.ttl)
	case doRefreshed:
		l.refreshed(a.shard)
	case doLeft:
		l.left()
	case doReady:
		l.ready = true
		supervision.Ready(ctx)
	case doEnd:
		l.fail(ctx, a.err)
	default:
		l.request(ctx, a)
	}
}

// fail ends the node, or its start.
func (l *loop) fail(ctx actor.Context, err error) {
	if l.ready {
		l.runtime.End(err)
		return
	}
	supervision.Fail(ctx, err)
}

func (l *loop) refreshed(shard int) {
	for _, done := range l.waiters[shard] {
		close(done)
	}
	delete(l.waiters, shard)
}

func (l *loop) left() {
	for _, done := range l.leavers {
		close(done)
	}
	l.leavers = nil
}
