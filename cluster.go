package slap

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slap-go/slap/actors"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/store"
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

	events *actors.Events

	node  atomic.Pointer[actors.Node] // nil until there is one to ask
	unfit atomic.Pointer[error]       // why the store is not fit; nil until it was found so

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

// New checks the configuration and everything that it names, and starts nothing.
// Each error is one sentence that names the field. What the configuration refers to
// may change afterwards, but for ChildOptions and what is behind an interface.
func New(c Config) (*Cluster, error) {
	c, err := withDefaults(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Cluster{
		config: c, ctx: ctx, cancel: cancel, begun: make(chan struct{}), done: make(chan struct{}),
		events: actors.NewEvents(c.Logger, c.MeterProvider),
	}, nil
}

// Start connects to the store, checks the cluster's identity and the store's
// fitness, and starts the node. It returns once every shard of this node was
// attempted; those that could not open are tried again in the background. With
// [ProbeBackground] it also returns once the store was found unfit or away. When
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

	err := checkStore(ctx, &c.config, c.events)
	if err != nil && c.config.Probe == ProbeBackground && ctx.Err() == nil && !errors.Is(err, store.ErrIdentity) {
		c.unfit.Store(&err)
		go c.startLater()
		return nil
	}
	return c.launch(ctx, err)
}

// startLater starts the node once the store is fit, unless it is stopped before.
func (c *Cluster) startLater() {
	err := c.awaitFit()
	if c.ctx.Err() != nil {
		c.finish(nil)
		close(c.begun)
		return
	}
	if err = c.launch(c.ctx, err); err != nil {
		c.config.Logger.Error("the node did not start", "cluster", c.config.Cluster, "error", err)
	}
}

// awaitFit looks at the store until it is fit, is another cluster's, or Stop is called.
func (c *Cluster) awaitFit() error {
	for wait := probeRetry; ; wait = min(2*wait, probeRetryMax) {
		c.config.Logger.Info("the node starts once the store is fit, trying again", "cluster", c.config.Cluster, "in", wait)
		if err := clock.Sleep(c.ctx, wait); err != nil {
			return err
		}
		err := checkStore(c.ctx, &c.config, c.events)
		if err == nil || errors.Is(err, store.ErrIdentity) {
			return err
		}
		c.unfit.Store(&err)
	}
}

// launch starts the node in a store that was found fit, or ends it.
func (c *Cluster) launch(ctx context.Context, err error) error {
	defer close(c.begun)
	var r *run
	if err == nil {
		r, err = start(ctx, &c.config, c.events, func(n *actors.Node) { c.node.Store(n) })
	}
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

// The time between two looks at a store that is not fit, doubling from the first.
const (
	probeRetry    = time.Second
	probeRetryMax = 30 * time.Second
)

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
	c.events.Close()
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
