// Package fakenode is a node without an engine: a strategy's actor runs in it as in a
// real one, and shards open and fail as a test has written.
package fakenode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// ErrHold is a scripted answer that does not come before [Node.Release].
var ErrHold = errors.New("no answer before the release")

// Options of a node.
type Options struct {
	// System is where the node's actors live.
	System *actor.ActorSystem

	// Name of the node, and Shards of its cluster.
	Name   string
	Shards int

	// Address and Incarnation of the node, for others.
	Address, Incarnation string

	// Store is where the cluster lives, and Path where in it.
	Store store.Store
	Path  string

	// Greet answers for the network. Default: nobody is there. Hint is told of hints.
	Greet func(ctx context.Context, address string) (strategy.Node, error)
	Hint  func(to strategy.Node)

	// Backoff is the least time from a failure of a shard to its next start.
	Backoff time.Duration

	// Logger is the node's. Default: none.
	Logger *slog.Logger
}

// Node runs one strategy. It is its [strategy.Runtime]. All methods may be called from
// any goroutine.
type Node struct {
	options Options
	root    *actor.PID
	host    *actor.PID
	child   *actor.PID // the strategy's actor, or its last one if there are several, once it was started
	tree    *supervision.Tree

	mu     sync.Mutex
	alive  bool // the strategy's actor may run
	lives  int  // how often it started
	slots  []slot
	wrong  []string
	gate   chan struct{} // closed by Resume; nil unless paused
	caught int           // callers that wait at the gate

	inFlight map[int]bool
	events   []messages.Event

	ctx     context.Context // of what runs for the strategy
	cancel  context.CancelCauseFunc
	workers sync.WaitGroup
}

// slot is one shard.
type slot struct {
	state  state
	starts int       // that were asked for, in all lives
	failed time.Time // when the strategy was last told that the shard is not open; zero if it is
	others bool      // somebody else opened it: the strategy may ask for it again at any time
	script []error
	holder *actor.PID // who waits for an answer that is held
}

type state uint8

const (
	closed state = iota
	held         // opening, until the release
	open
)

// New makes a node; nothing of it runs.
func New(o Options) *Node {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	root := o.System.NewLocalPID("fakenode" + o.System.ProcessRegistry.NextId())
	n := &Node{
		options: o, root: root, host: supervision.PID(root, hostName), slots: make([]slot, o.Shards), inFlight: map[int]bool{},
	}
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	return n
}

// Start runs the strategy and returns once it is ready, or why it cannot start. To be
// called once.
func (n *Node) Start(ctx context.Context, s strategy.Strategy) error {
	spec := s.Child(n)
	n.child = supervision.PID(n.root, spec.Name)
	if spec.Restart != supervision.Permanent {
		return fmt.Errorf("start: the strategy's child is %v: it must be permanent, since a node needs it", spec.Restart)
	}
	n.child = mortals(&spec, n.child)
	tree, err := supervision.Start(ctx, n.options.System, supervision.Spec{
		Name: n.root.GetId(), Strategy: supervision.OneForAll, Intensity: 1000,
		Children: []supervision.ChildSpec{
			{Name: hostName, New: func() actor.Actor { return &host{node: n, strategy: s} }},
			spec,
		},
	})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	n.tree = tree
	return nil
}

// Stop ends the strategy's actor and then the host. Without a start it has no effect.
func (n *Node) Stop(ctx context.Context) error {
	if n.tree == nil {
		return nil
	}
	err := n.tree.Stop(ctx)
	n.cancel(context.Canceled)
	n.workers.Wait()
	return err
}

// Shards is the number of shards.
func (n *Node) Shards() int { return n.options.Shards }

// Node is this node.
func (n *Node) Node() strategy.Node {
	return strategy.Node{Name: n.options.Name, Address: n.options.Address, Incarnation: n.options.Incarnation}
}

// Store is where the cluster lives, and Path where in it.
func (n *Node) Store() store.Store { return n.options.Store }

// Path is where in the store the cluster lives.
func (n *Node) Path() string { return n.options.Path }

// InFlight says whether an open or close goes on that was given up.
func (n *Node) InFlight(shard int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.inFlight[shard]
}

// SetInFlight says from now on whether something of the shard was given up and goes on.
func (n *Node) SetInFlight(shard int, goesOn bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.inFlight[shard] = goesOn
}

// Greet asks the test who answers.
func (n *Node) Greet(ctx context.Context, address string) (strategy.Node, error) {
	if n.options.Greet == nil {
		return strategy.Node{}, strategy.ErrNobody
	}
	return n.options.Greet(ctx, address)
}

// Hint tells the test.
func (n *Node) Hint(to strategy.Node) {
	if n.options.Hint != nil {
		n.options.Hint(to)
	}
}

// Publish keeps the event.
func (n *Node) Publish(e messages.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, e)
}

// Origin is where events come from.
func (n *Node) Origin() messages.Origin {
	return messages.Origin{Cluster: "fake", Time: clock.Now()}
}

// Events are those that were published.
func (n *Node) Events() []messages.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.events)
}

// Go runs f; Stop waits for it.
func (n *Node) Go(f func(context.Context)) { n.workers.Go(func() { f(n.ctx) }) }

// End ends the node with the error.
func (n *Node) End(err error) { n.cancel(err) }

// Ended is closed by End, whose error is Err.
func (n *Node) Ended() <-chan struct{} { return n.ctx.Done() }

// Err is what the node ended with; nil before.
func (n *Node) Err() error { return context.Cause(n.ctx) }

// Logger is the node's.
func (n *Node) Logger() *slog.Logger { return n.options.Logger }

// StartShard asks the host to open the shard.
func (n *Node) StartShard(shard int, lease *strategy.Lease, replyTo *actor.PID) {
	n.wait()
	n.noteStart(shard, lease, replyTo)
	n.options.System.Root.Send(n.host, startShard{shard, replyTo})
}

// StopShard asks the host to close the shard.
func (n *Node) StopShard(shard int, replyTo *actor.PID) {
	n.wait()
	n.noteStop(shard, replyTo)
	n.options.System.Root.Send(n.host, stopShard{shard, replyTo})
}

// wait holds the caller while the node is paused.
func (n *Node) wait() {
	n.mu.Lock()
	gate := n.gate
	if gate != nil {
		n.caught++
	}
	n.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// noteStart looks for what no strategy may do.
func (n *Node) noteStart(shard int, lease *strategy.Lease, replyTo *actor.PID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.checkRequest("StartShard", shard, replyTo) {
		return
	}
	s := &n.slots[shard]
	s.starts++
	if !lease.Valid() {
		n.fault("StartShard(%d) with a lease that is over", shard)
	}
	if pause := clock.Since(s.failed); !s.failed.IsZero() && pause < n.options.Backoff {
		n.fault("StartShard(%d) only %v after it failed, want at least %v", shard, pause, n.options.Backoff)
	}
}

func (n *Node) noteStop(shard int, replyTo *actor.PID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.checkRequest("StopShard", shard, replyTo)
}

func (n *Node) checkRequest(what string, shard int, replyTo *actor.PID) bool {
	switch {
	case !n.alive:
		n.fault("%s(%d) while the strategy's actor does not run", what, shard)
	case shard < 0 || shard >= len(n.slots):
		n.fault("%s(%d), but the cluster has 0 to %d", what, shard, len(n.slots)-1)
	case replyTo == nil:
		n.fault("%s(%d) without an actor for the answer", what, shard)
	default:
		return true
	}
	return false
}

// fault notes a mistake. The lock is held.
func (n *Node) fault(format string, args ...any) {
	if len(n.wrong) < 10 {
		n.wrong = append(n.wrong, fmt.Sprintf(format, args...))
	}
}
