package slap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/actors"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/supervision"
)

// Cluster is this process's node of a cluster. Its methods are safe for
// concurrent use.
type Cluster struct {
	config Config
	ctx    context.Context // of the start; Stop cancels it
	cancel context.CancelCauseFunc
	begun  chan struct{} // closed when the start has succeeded or failed
	done   chan struct{} // closed when nothing of the node runs any more

	node atomic.Pointer[actors.Node] // nil until there is one to ask

	mu      sync.Mutex // guards the state below; never held while waiting
	started bool
	stopped bool
	run     *run // nil until it has started
	err     error
}

// StopError says that [Cluster.Stop] could not close the databases of some
// shards. What was reported durable is safe; the next owner fences what is left.
type StopError struct {
	Shards []int
	Cause  error // may be nil
}

// Error names the shards.
func (e *StopError) Error() string {
	text := fmt.Sprintf("slap: the databases of shards %v could not be closed in time", e.Shards)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *StopError) Unwrap() error { return e.Cause }

// State is where a shard is, as this node sees it.
type State = actors.State

// The states of a shard.
const (
	StateUnassigned = actors.StateUnassigned
	StateOpening    = actors.StateOpening
	StateRunning    = actors.StateRunning
	StateClosing    = actors.StateClosing
	StateRemote     = actors.StateRemote // another node owns it
)

// Assignment is what this node knows of one shard.
type Assignment struct {
	Shard      int
	State      State
	Owner      string // the owning node's name; empty if unassigned
	Generation uint64 // of the lease; 0 without leases

	// Err is why the shard is not open here, after an open that failed or a shard
	// that went down.
	Err error
}

// New checks the configuration and everything that it names, and starts nothing.
// Each error is one sentence that names the field. What the configuration refers to
// may change afterwards, but for ChildOptions and what is behind an interface.
func New(c Config) (*Cluster, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Cluster{config: c, ctx: ctx, cancel: cancel, begun: make(chan struct{}), done: make(chan struct{})}, nil
}

// Start connects to the store, checks the cluster's identity and the store's
// fitness, and starts the node. It returns once every shard of this node was
// attempted; those that could not open are tried again in the background. When
// it fails nothing is left running, but opens that a hanging store holds up: then
// the error is a [*StopError] too. When ctx ends it fails, within CloseTimeout and
// DrainTimeout. A cluster starts once.
func (c *Cluster) Start(ctx context.Context) error {
	if err := c.begin(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })()

	r, err := start(ctx, &c.config, func(n *actors.Node) { c.node.Store(n) })
	defer close(c.begun)
	if err != nil {
		c.finish(err)
		return err
	}
	c.mu.Lock()
	c.run = r
	stopped := c.stopped
	c.mu.Unlock()
	go c.watch(r) //nolint:gosec // it outlives the start's context
	if stopped {
		return errors.Join(context.Cause(c.ctx), c.stop(context.WithoutCancel(ctx), r))
	}
	return nil
}

// begin says whether the cluster may start: once, and not after a stop.
func (c *Cluster) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.started:
		return errors.New("slap: Start was called before: make a new Cluster")
	case c.stopped:
		return fmt.Errorf("slap: %w: Stop was called before Start", ErrNotRunning)
	}
	c.started = true
	return nil
}

// watch releases what the node holds once its tree has ended, and ends with it.
func (c *Cluster) watch(r *run) {
	<-r.node.Done()
	ctx, cancel := context.WithTimeout(context.Background(), c.config.DrainTimeout)
	defer cancel()
	err := r.end(ctx)
	if reason := r.node.Err(); !errors.Is(reason, supervision.ErrShutdown) {
		err = errors.Join(reason, err)
	}
	c.finish(err)
}

func (c *Cluster) finish(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	close(c.done)
}

// Stop leaves cleanly: requests that have begun are answered, the others are not
// executed, and every database is closed. It returns a [*StopError] for those
// that could not be; they are closed later, or fenced by the next owner. Without
// a deadline it is bounded by the timeouts of [Config]. A second call waits for
// the same end; a call during Start makes that fail, and one before Start is the end.
func (c *Cluster) Stop(ctx context.Context) error {
	c.mu.Lock()
	started, stopped := c.started, c.stopped
	c.stopped = true
	c.mu.Unlock()
	c.cancel(fmt.Errorf("slap: %w: Stop was called", ErrNotRunning))
	if !started {
		if !stopped {
			c.finish(nil)
		}
		return nil
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if err := wait(ctx, c.begun); err != nil {
		return err
	}
	c.mu.Lock()
	r := c.run
	c.mu.Unlock()
	if r == nil {
		return c.startFailure()
	}
	return c.stop(ctx, r)
}

// startFailure is what a stop says of a start that failed: which shards it left.
func (c *Cluster) startFailure() error {
	if left := new(StopError); errors.As(c.Err(), &left) {
		return left
	}
	return nil
}

func (c *Cluster) stop(ctx context.Context, r *run) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	shards, err := r.node.Stop(ctx)
	if len(shards) > 0 {
		return &StopError{Shards: shards, Cause: err}
	}
	if err != nil {
		return err
	}
	return wait(ctx, c.done)
}

// wait waits for what, and sees that it was there also when ctx has ended.
func wait(ctx context.Context, what <-chan struct{}) error {
	select {
	case <-what:
		return nil
	default:
	}
	select {
	case <-what:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// bounded is ctx with the deadline that a stop has by itself.
func (c *Cluster) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, 2*c.config.DrainTimeout+c.config.OpenTimeout+c.config.CloseTimeout)
}

// Done is closed when the node has ended, by [Cluster.Stop] or by itself.
func (c *Cluster) Done() <-chan struct{} { return c.done }

func (c *Cluster) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Err is why the node ended: nil while it runs and after a clean stop.
func (c *Cluster) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// readyPoll is the time between two looks at the shards in AwaitReady.
const readyPoll = 5 * time.Millisecond

// AwaitReady returns once every shard is open here or owned elsewhere, as this
// node sees it.
func (c *Cluster) AwaitReady(ctx context.Context) error {
	for !c.Ready() {
		if c.ended() {
			return errors.Join(ErrNotRunning, c.Err())
		}
		if err := clock.Sleep(ctx, readyPoll); err != nil {
			return err
		}
	}
	return nil
}

// Ready says whether every shard is open here or owned elsewhere, as this node
// sees it. It asks nobody.
func (c *Cluster) Ready() bool {
	if c.ended() {
		return false
	}
	assignments := c.Assignments()
	return len(assignments) > 0 && !slices.ContainsFunc(assignments, func(a Assignment) bool {
		return a.State != StateRunning && a.State != StateRemote
	})
}

// Assignments says where every shard is, as this node sees it; nil before the
// start. It asks nobody.
func (c *Cluster) Assignments() []Assignment {
	node := c.node.Load()
	if node == nil {
		return nil
	}
	all := make([]Assignment, c.config.Shards)
	for n := range all {
		state, err := node.State(n)
		all[n] = Assignment{Shard: n, State: state, Err: err}
		if all[n].State != StateUnassigned {
			all[n].Owner = c.config.Name
		}
	}
	return all
}

// Name is this node's.
func (c *Cluster) Name() string { return c.config.Name }

// ShardFor is the shard of a key: XXH64 with seed 0, modulo the number of shards.
// It never changes.
func (c *Cluster) ShardFor(key []byte) int {
	return int(xxhash.Sum64(key) % uint64(c.config.Shards))
}

// ShardForString is [Cluster.ShardFor] for a string.
func (c *Cluster) ShardForString(key string) int {
	return int(xxhash.Sum64String(key) % uint64(c.config.Shards))
}

// retry is what the calls of a cluster do with a request that was not executed.
var retry = actors.Retry{Count: 3, Delay: 100 * time.Millisecond}

// Ask sends a message to the named child of a shard and returns its answer. The
// message is not copied: do not change it afterwards. Errors are an [*AppError],
// the child's own, or a [*RequestError] that says whether the request ran. What
// was not executed because of a move is tried up to three times again, within
// about a second and only while ctx lasts. A child that never answers is
// [ErrOutcomeUnknown] when ctx, or CallTimeout, ends.
func (c *Cluster) Ask(ctx context.Context, shard int, child string, request proto.Message) (proto.Message, error) {
	node := c.node.Load()
	if node == nil || c.ended() {
		return nil, &RequestError{Shard: shard, Target: child, Kind: ErrNotRunning}
	}
	if request == nil {
		return nil, &RequestError{Shard: shard, Target: child, Kind: ErrInvalid, Cause: errors.New("the message is nil")}
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.config.CallTimeout)
		defer cancel()
	}
	answer, err := node.Ask(ctx, shard, child, request, retry)
	if err != nil {
		return nil, err
	}
	message, ok := answer.(proto.Message)
	if !ok {
		return nil, wrongAnswer(shard, child, answer)
	}
	return message, nil
}

// Ask is [Cluster.Ask] for an answer of a known type. Another type is an error
// that is [ErrWrongAnswer]: the request ran.
func Ask[T proto.Message](ctx context.Context, c *Cluster, shard int, child string, request proto.Message) (T, error) {
	var none T
	answer, err := c.Ask(ctx, shard, child, request)
	if err != nil {
		return none, err
	}
	typed, ok := answer.(T)
	if !ok {
		return none, wrongAnswer(shard, child, answer)
	}
	return typed, nil
}

func wrongAnswer(shard int, child string, answer any) error {
	return &RequestError{
		Shard: shard, Target: child, Kind: ErrWrongAnswer, Unknown: true,
		Cause: fmt.Errorf("the child answered with a %T", answer),
	}
}
