package actors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// Names of the cluster's children.
const (
	shardsName   = "shards"
	childrenName = "children" // of a shard
	hostName     = "host"
	routerName   = "router"
)

// Node runs a cluster's actors on this node.
type Node struct {
	config  *Config
	system  *actor.ActorSystem
	replies *replies
	table   table
	gauges  *gauges
	observe *telemetry
	host    *actor.PID
	shards  *actor.PID // their supervisor
	name    string
	tree    *supervision.Tree // nil until it has started
	leaving atomic.Bool
	count   atomic.Uint64 // openings so far
	calls   tally         // goroutines that run handlers

	ctx     context.Context // of what runs for the strategy; its cause is why that ended the node
	cancel  context.CancelCauseFunc
	workers tally // goroutines that run for the strategy

	mu       sync.Mutex
	openings map[int][]*Shard // by shard, those that may not be closed yet
}

// TreeName is what the tree of a node of the cluster is called in its actor system.
func TreeName(cluster string) string {
	if cluster == "" {
		return "slap"
	}
	return "slap-" + cluster
}

// New makes a node; nothing of it runs.
func New(system *actor.ActorSystem, c Config) (*Node, error) {
	name := TreeName(c.Cluster)
	if _, running := system.ProcessRegistry.GetLocal(name); running {
		return nil, fmt.Errorf("slap: a cluster named %q runs in this actor system already", c.Cluster)
	}
	replies := newReplies(system, name+"-replies-"+c.Incarnation)
	n := &Node{config: &c, system: system, replies: replies, table: newTable(c.Shards), name: name, openings: map[int][]*Shard{}}
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	n.host, n.shards = n.child(hostName), n.child(shardsName)
	n.observe = newTelemetry(c.Cluster, c.MeterProvider, c.TracerProvider)
	n.gauges = newGauges(c.Cluster, c.MeterProvider, readings{n.states, n.inFlightCount, n.Unreachable})
	return n, nil
}

// Start starts the tree and returns once every child of it is ready: with the
// strategy local, once every shard was attempted. Nothing of it runs when it fails,
// but opens that took too long.
func (n *Node) Start(ctx context.Context) error {
	spec, err := n.spec()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(n.ctx, func() { cancel(context.Cause(n.ctx)) })()
	n.tree, err = supervision.Start(ctx, n.system, spec)
	if err == nil {
		context.AfterFunc(n.ctx, func() { _ = n.tree.Stop(context.Background()) })
	}
	return startReason(err)
}

// startReason is why the tree did not start: what the innermost child said, which one
// sentence holds, and not through which supervisors it came.
func startReason(err error) error {
	var start *supervision.StartError
	if !errors.As(err, &start) {
		return err
	}
	reason := innermost(start)
	if lost, ok := errors.AsType[*supervision.AbandonedError](err); ok {
		return fmt.Errorf("slap: %w; %w", reason, lost)
	}
	return fmt.Errorf("slap: %w", reason)
}

// Close waits for the handlers that still run, at most until ctx ends, and releases what
// the node holds in the actor system. Its tree has ended before, or did not start.
func (n *Node) Close(ctx context.Context) {
	n.table.clear()
	if left := n.calls.wait(ctx); left > 0 {
		n.config.Logger.Warn("handlers do not return although their shard has stopped: they must heed their context",
			"handlers", left)
	}
	n.cancel(context.Canceled)
	if left := n.workers.wait(ctx); left > 0 {
		n.config.Logger.Warn("work of the strategy does not end with its context", "goroutines", left)
	}
	n.replies.close()
	n.gauges.close()
}

// spec is the tree. A host or strategy that starts over knows nothing of shards
// that are still open, so that all of them start over together.
func (n *Node) spec() (s supervision.Spec, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("slap: Strategy panicked: %v", p)
		}
	}()
	return supervision.Spec{
		Name:     n.name,
		Strategy: supervision.OneForAll,
		Events:   n.event,
		Children: []supervision.ChildSpec{
			n.router(),
			{Name: shardsName, Supervisor: &supervision.Spec{Events: n.shardEvent}},
			{Name: hostName, New: func() actor.Actor { return &host{node: n} }},
			n.config.Strategy.Child((*runtime)(n)),
		},
	}, nil
}

// event hears of the tree's own supervisor.
func (n *Node) event(e supervision.Event) {
	n.config.Events.Publish(messages.SupervisorEvent{Origin: n.config.origin(), Event: e})
}

// shardEvent hears of every shard that ends. The ones inside a shard come here
// too.
func (n *Node) shardEvent(e supervision.Event) {
	if exit, ok := e.(supervision.ChildExited); ok && exit.Supervisor == n.shards.GetId() && exit.Ready && !exit.Asked {
		n.system.Root.Send(n.host, exited{name: exit.Child, reason: exit.Reason})
	}
	n.config.Events.Publish(messages.SupervisorEvent{Origin: n.config.origin(), Event: e, Minor: minor(e)})
}

// minor says which events inside a shard need no attention. The shard's own tell of its
// end; here only what concerns the application's children and what is left behind
// stands out.
func minor(e supervision.Event) bool {
	switch e := e.(type) {
	case supervision.ChildAbandoned:
		return false
	case supervision.ChildExited:
		return !strings.Contains(e.Supervisor+"/", "/"+childrenName+"/")
	}
	return true
}

// states are how many shards are in each state.
func (n *Node) states() map[State]int {
	all := map[State]int{}
	for shard := range n.table {
		all[n.State(shard).State]++
	}
	return all
}

// Done is closed when the tree has ended.
func (n *Node) Done() <-chan struct{} { return n.tree.Done() }

// Err is why the tree ended; nil while it runs.
func (n *Node) Err() error {
	err := n.tree.Err()
	if why := context.Cause(n.ctx); err != nil && why != nil && !errors.Is(why, context.Canceled) {
		return why
	}
	return err
}

// State is where the shard is, as this node sees it.
func (n *Node) State(shard int) Assignment {
	e := n.table.get(shard)
	a := Assignment{Shard: shard, State: e.state, Err: e.err}
	if e.shard != nil {
		a.Generation = e.shard.Generation()
	}
	switch e.state {
	case StateUnassigned:
		if at := n.elsewhere(shard); at.Owner.Name != "" {
			a.State, a.Owner, a.Generation = StateRemote, at.Owner.Name, at.Generation
		}
	case StateRunning:
		if !e.serves() {
			a.State = StateClosing
		}
		a.Owner = n.config.Name
	default:
		a.Owner = n.config.Name
	}
	return a
}

// Router is where actors send [messages.Ask] and [messages.Call].
func (n *Node) Router() *actor.PID { return n.child(routerName) }

// child is the address of one of the cluster's children.
func (n *Node) child(name string) *actor.PID {
	return supervision.PID(n.system.NewLocalPID(n.name), name)
}

// LocalShards are the shards that are open here with their children, in order.
func (n *Node) LocalShards() []int {
	var shards []int
	for i := range n.table {
		if n.table.get(i).serves() {
			shards = append(shards, i)
		}
	}
	return shards
}

// Stop drains all shards, stops the tree and returns the shards whose databases
// could not be closed. The end of ctx ends the wait for them.
func (n *Node) Stop(ctx context.Context) (unclosed []int, err error) {
	n.leaving.Store(true)
	n.leave(ctx)
	n.drain(ctx)
	err = n.tree.Stop(ctx)
	return n.Unclosed(), err
}

// leave lets the strategy give up its shards in good order.
func (n *Node) leave(ctx context.Context) {
	defer func() {
		if v := recover(); v != nil {
			n.config.Logger.Error("the strategy's Leave panicked", "panic", v)
		}
	}()
	if s, ok := n.config.Strategy.(strategy.Leaver); ok {
		s.Leave(ctx)
	}
}

// Unclosed are the shards whose databases are not known to be closed.
func (n *Node) Unclosed() []int {
	var shards []int
	for _, s := range n.unclosed() {
		shards = append(shards, s.number)
	}
	slices.Sort(shards)
	return slices.Compact(shards)
}

// drain lets what has begun on all shards come to its end, for DrainTimeout.
func (n *Node) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, n.config.DrainTimeout)
	defer cancel()
	var shards []*Shard
	for i := range n.table {
		if s := n.table.get(i).shard; s != nil {
			s.stop()
			shards = append(shards, s)
		}
	}
	for _, s := range shards {
		done := make(chan struct{})
		s.onDrained(func() { close(done) })
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// newShard makes the next opening of a shard. No two have the same id, over all
// hosts of the node.
func (n *Node) newShard(number int, lease *strategy.Lease) *Shard {
	opening := fmt.Sprintf("%s.%d", n.config.Incarnation, n.count.Add(1))
	s := newShard(number, opening, lease, n.config, n.replies)
	s.pid = supervision.PID(n.shards, s.name())
	s.began = n.remember
	s.events = n.shardEvent
	s.calls = &n.calls
	return s
}

// remember keeps an opening until it is known to be closed.
func (n *Node) remember(s *Shard) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for shard := range n.openings {
		n.unclosedOf(shard)
	}
	n.openings[s.number] = append(n.openings[s.number], s)
}

// inFlight says whether an open or close of the shard goes on that was given up.
// A second open beside it could fence the first for nothing, or be fenced by it.
// A strategy asks often.
func (n *Node) inFlight(shard int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.unclosedOf(shard)) > 0
}

// inFlightCount is how many opens and closes go on that were given up.
func (n *Node) inFlightCount() int {
	count := 0
	for _, s := range n.unclosed() {
		if s.inFlight.Load() {
			count++
		}
	}
	return count
}

// unclosed are the openings that are not known to be closed.
func (n *Node) unclosed() (all []*Shard) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for shard := range n.openings {
		all = append(all, n.unclosedOf(shard)...)
	}
	return all
}

// unclosedOf are those of a shard; the others are forgotten. The caller holds the lock.
func (n *Node) unclosedOf(shard int) []*Shard {
	left := slices.DeleteFunc(n.openings[shard], (*Shard).closed)
	if len(left) == 0 {
		delete(n.openings, shard)
		return nil
	}
	n.openings[shard] = left
	return left
}
