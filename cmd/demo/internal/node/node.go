package node

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/internal/counter"
	"github.com/slap-go/slap/cmd/demo/internal/httpapi"
	"github.com/slap-go/slap/cmd/demo/internal/kv"
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
	cluster, err := slap.New(config(o, log, meters)) //nolint:contextcheck // a cluster lives in a context of its own
	if err != nil {
		return err
	}
	service, err := httpapi.New(httpapi.Config{
		ClusterName: o.Cluster, NodeName: o.Name, Shards: o.Shards, Store: o.Store.String(),
		Cluster: cluster, Metrics: meters.handler(), MeterProvider: meters.provider,
	})
	if err != nil {
		return err
	}
	n := &running{options: o, cluster: cluster, service: service, log: log}
	n.server = serve(sockets.http, service)
	return n.run(ctx, sockets, stdout)
}

// running is a node from its start to its end.
type running struct {
	options Options
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
		return misfit(ctx, n.options, err)
	}
	for _, a := range n.cluster.Assignments() {
		if hopeless(a.Err) {
			_ = n.cluster.Stop(ctx) // nothing was written
			return a.Err
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
		fmt.Fprintf(stdout, "ready name=%s remote=%s http=%s\n", n.options.Name, at.remote.Addr(), at.http.Addr())
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

func config(o Options, log *log, m *meters) slap.Config {
	return slap.Config{
		Cluster:       o.Cluster,
		Name:          o.Name,
		Store:         o.Store,
		Shards:        o.Shards,
		Settings:      map[string]any{"flush_interval": o.FlushInterval.String()},
		Logger:        log.Logger,
		MeterProvider: m.provider,
		ShardChildren: func(shard *slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{counter.Spec(shard), kv.Spec(shard)}
		},
	}
}
