// Package node runs one node of the demo: its options, its cluster and its HTTP
// server, from the first check to the clean leave.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/internal/httpapi"
	"github.com/slap-go/slap/cmd/demo/internal/journal"
	"github.com/slap-go/slap/store/slatedb"
)

// ErrEnded marks the error of a node that had started: it ended by itself, or
// did not leave cleanly.
var ErrEnded = errors.New("the node ended")

// Run runs a node until ctx ends, then leaves cleanly. It writes the ready line
// to stdout and the log to stderr. The error of a node that did not start is one
// sentence that says why.
func Run(ctx context.Context, o Options, stdout, stderr io.Writer) error {
	sockets, err := bind(ctx, o)
	if err != nil {
		return err
	}
	defer sockets.close()
	log := newLog(stderr)
	meters, err := newMeters()
	if err != nil {
		return err
	}
	defer meters.close(context.WithoutCancel(ctx))
	config := o.Slap
	config.Logger, config.MeterProvider = log.Logger, meters.provider
	cluster, err := slap.New(config) //nolint:contextcheck // a cluster lives in a context of its own
	if err != nil {
		return inFlags(err)
	}
	var events journal.Journal
	defer follow(context.WithoutCancel(ctx), cluster, &events)()
	service := httpapi.New(httpapi.Config{
		ClusterName: config.Cluster, NodeName: config.Name, Shards: config.Shards, Store: config.Store.String(),
		Cluster: cluster, Journal: &events, Metrics: meters.handler(), Requests: meters.requests,
	})
	n := &running{config: config, cluster: cluster, service: service, log: log}
	n.server = serve(sockets.http, service)
	return n.run(ctx, sockets, stdout)
}

// waiting is how many events may wait for the journal: more than come at once.
const waiting = 10_000

// follow writes the node's journal and returns what ends that.
func follow(ctx context.Context, cluster *slap.Cluster, into *journal.Journal) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	events := cluster.Events(ctx, waiting)
	var loop sync.WaitGroup
	loop.Go(func() { into.Follow(events) })
	return func() {
		cancel()
		loop.Wait()
	}
}

// running is a node from its start to its end.
type running struct {
	config  slap.Config
	cluster *slap.Cluster
	service *httpapi.Service
	server  *server
	log     *log
}

// run is cut short by ctx without an error: a node that is told to leave while
// it starts leaves.
func (n *running) run(ctx context.Context, at sockets, stdout io.Writer) error {
	unending := context.WithoutCancel(ctx)
	if err := n.start(ctx); err != nil && ctx.Err() == nil {
		n.server.refuse()
		n.server.close(unending)
		return err
	}
	n.log.open()
	err := n.serve(ctx, at, stdout)
	return errors.Join(err, n.leave(unending))
}

func (n *running) start(ctx context.Context) error {
	if err := n.cluster.Start(ctx); err != nil {
		return inFlags(misfit(ctx, n.config, err))
	}
	for _, a := range n.cluster.Assignments() {
		if hopeless(a.Err) {
			_ = n.cluster.Stop(ctx) // nothing was written
			return fmt.Errorf("shard %d cannot be opened: %w", a.Shard, a.Err)
		}
	}
	return nil
}

// hopeless says whether trying again does not mend what kept a shard from opening.
func hopeless(err error) bool {
	return errors.Is(err, slatedb.ErrData) || errors.Is(err, slatedb.ErrInternal) || errors.Is(err, slatedb.ErrInvalid)
}

// serve says when the node is ready and waits for its end.
func (n *running) serve(ctx context.Context, at sockets, stdout io.Writer) error {
	if err := n.cluster.AwaitReady(ctx); err == nil {
		fmt.Fprintf(stdout, "ready name=%s remote=%s http=%s\n", n.config.Name, at.at, at.http.Addr())
	}
	select {
	case <-ctx.Done():
	case <-n.cluster.Done():
	}
	if ctx.Err() == nil {
		return fmt.Errorf("%w by itself: %w", ErrEnded, n.cluster.Err())
	}
	n.log.Info("leaving: " + context.Cause(ctx).Error())
	return nil
}

// leave stops taking connections, lets the shards answer what they have begun and
// close, and ends each connection with an answer. So every request is answered.
func (n *running) leave(ctx context.Context) error {
	n.service.Leave()
	n.server.refuse()
	err := n.cluster.Stop(ctx)
	n.server.close(ctx)
	if err != nil {
		return fmt.Errorf("%w without a clean close: %w", ErrEnded, err)
	}
	n.log.Info("left")
	return nil
}
