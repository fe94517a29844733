package lease

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/seat"
	"github.com/slap-go/slap/supervision"
)

// Names of the strategy's actors.
const (
	runnerName = "runner"
	loopName   = "loop"
)

// Open opens the store of the leases for a node. It is called when the node starts, and
// again until it succeeds.
type Open func(ctx context.Context, r strategy.Runtime) (Store, error)

// Strategy decides by leases which shards are open here. A value serves one cluster at a
// time.
type Strategy struct {
	name    string // in errors
	options Options
	open    Open
	wall    func() time.Time // the wall clock
	backoff time.Duration    // after the first failure of a shard

	loop   seat.Seat
	runner seat.Seat
	table  atomic.Pointer[table]
	hinted atomic.Bool // a look is on its way to the loop
}

// New makes a strategy with this name whose leases are in the store that open opens.
// Errors name the option.
func New(name string, o Options, open Open) (*Strategy, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("%s strategy: %w", name, err)
	}
	s := &Strategy{name: name, options: o, open: open, wall: clock.Now, backoff: firstBackoff}
	s.table.Store(new(table))
	return s, nil
}

// Options are those that the strategy runs with, its defaults filled in.
func (s *Strategy) Options() Options { return s.options }

// Validate checks that this node has a name, since leases name it.
func (s *Strategy) Validate(c strategy.Cluster) error {
	if c.Node == "" {
		return fmt.Errorf("%s strategy: Name is required: give each node a name of its own", s.name)
	}
	return nil
}

// Others says that there may be other nodes. Their addresses are in their leases.
func (s *Strategy) Others(string) (several bool, named []string) { return true, nil }

// TrustsWallClocks says whether MaxClockSkew is set.
func (s *Strategy) TrustsWallClocks() bool { return s.options.MaxClockSkew > 0 }

// Child is the loop, which decides, and the runner, which opens and closes. It is ready
// once the first round's decisions are carried out, or a request of it has failed. The end
// of either ends both.
func (s *Strategy) Child(r strategy.Runtime) supervision.ChildSpec {
	return supervision.ChildSpec{
		Name: "strategy",
		Supervisor: &supervision.Spec{
			Strategy: supervision.OneForAll, Intensity: supervision.NoRestarts,
			Children: []supervision.ChildSpec{
				{Name: runnerName, New: func() actor.Actor { return &runner{strategy: s, runtime: r, queue: newQueue(s.options.MaxConcurrency)} }},
				{Name: loopName, Ready: supervision.Manual, New: func() actor.Actor { return &loop{strategy: s, runtime: r} }},
			},
		},
	}
}

// Lookup says where the shard is, as this node's leases and the others' heartbeats say.
func (s *Strategy) Lookup(shard int) strategy.Placement { return s.table.Load().get(shard) }

// HandleShardDown lets the shard be opened again after a while, if it is still this node's.
func (s *Strategy) HandleShardDown(shard int, reason strategy.DownReason) {
	s.runner.Send(down{shard, reason})
}

// Refresh reads the shard's lease.
func (s *Strategy) Refresh(ctx context.Context, shard int) {
	s.ask(ctx, func(done chan<- struct{}) any { return refreshRequest{shard, done} })
}

// Leave gives up all shards: each is closed, then its lease is freed.
func (s *Strategy) Leave(ctx context.Context) {
	s.ask(ctx, func(done chan<- struct{}) any { return leaveRequest{done} })
}

// LookNow begins a round. However often others ask, at most one look waits for the loop.
func (s *Strategy) LookNow() {
	if s.hinted.CompareAndSwap(false, true) && !s.loop.Send(look{}) {
		s.hinted.Store(false)
	}
}

// ask sends the loop a request and waits until it closes the channel, or ends.
func (s *Strategy) ask(ctx context.Context, request func(done chan<- struct{}) any) {
	done := make(chan struct{})
	if ctx.Err() != nil || !s.loop.Send(request(done)) {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// table is where the shards are.
type table []atomic.Pointer[strategy.Placement]

func (t *table) get(shard int) strategy.Placement {
	if shard < 0 || shard >= len(*t) {
		return strategy.Placement{}
	}
	if p := (*t)[shard].Load(); p != nil {
		return *p
	}
	return strategy.Placement{}
}
