package slap

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/slap-go/slap/actors"
	"github.com/slap-go/slap/internal/unset"
	"github.com/slap-go/slap/store/slatedb"
)

// run is what one start of a cluster holds. Its parts are released in reverse.
type run struct {
	node    *actors.Node
	release []func(context.Context) error
}

// start builds a run. It calls made once there is a node to ask, before that has
// started.
func start(ctx context.Context, c *Config, events *actors.Events, made func(*actors.Node)) (r *run, err error) {
	r = &run{}
	defer func() {
		if err != nil {
			err = r.abandon(ctx, c, err)
		}
	}()
	if err := beginEngineLog(c.Logger); err != nil {
		return r, fmt.Errorf("slap: %w", err)
	}
	r.release = append(r.release, func(context.Context) error { return endEngineLog() })
	objects, err := slatedb.NewObjectStore(ctx, c.Store)
	if err != nil {
		return r, fmt.Errorf("slap: %w", err)
	}
	r.release = append(r.release, objects.Close)
	config, err := r.nodeConfig(c, objects)
	if err != nil {
		return r, err
	}
	config.Events = events
	system := c.System
	if system == nil {
		system = newSystem(c.Logger)
		r.release = append(r.release, func(context.Context) error { system.Shutdown(); return nil })
	}
	if err := r.connect(ctx, c, system, &config); err != nil {
		return r, err
	}
	if r.node, err = actors.New(system, config); err != nil {
		return r, err
	}
	if config.Links != nil {
		config.Links.Serve(r.node)
	}
	r.release = append(r.release, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, c.DrainTimeout/2)
		defer cancel()
		r.node.Close(ctx)
		return nil
	})
	made(r.node)
	return r, r.node.Start(ctx)
}

// abandon releases what a start that failed holds. The error names the shards whose
// opens go on.
func (r *run) abandon(ctx context.Context, c *Config, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.DrainTimeout)
	defer cancel()
	if r.node != nil {
		if shards := r.node.Unclosed(); len(shards) > 0 {
			err = &StopError{Shards: shards, Cause: err}
		}
	}
	if end := r.end(ctx); end != nil {
		return fmt.Errorf("%w; %w", err, end)
	}
	return err
}

func (r *run) nodeConfig(c *Config, objects *slatedb.ObjectStore) (actors.Config, error) {
	interval, settings, err := splitSettings(c.Settings)
	if err != nil {
		return actors.Config{}, err
	}
	database := slatedb.Options{Settings: settings, NoCache: c.Cache.Disabled, MergeOperator: c.MergeOperator}
	if err := database.Prepare(); err != nil {
		return actors.Config{}, fmt.Errorf("slap: Settings: %w", err)
	}
	if c.Cache.Bytes > 0 {
		cache, err := slatedb.NewCache(c.Cache.Bytes)
		if err != nil {
			return actors.Config{}, fmt.Errorf("slap: Cache: %w", err)
		}
		r.release = append(r.release, func(context.Context) error { cache.Close(); return nil })
		database.Cache = cache
	}
	if provider, ok := engineMeters(c.MeterProvider); ok {
		database.Metrics = slatedb.NewMetrics(provider)
		r.release = append(r.release, func(context.Context) error { return database.Metrics.Close() })
	}
	return actors.Config{
		Cluster: c.Cluster, Name: c.Name, Incarnation: newID(), Shards: c.Shards, Path: c.Path, Store: c.Store,
		Objects: objects, Database: database, FlushInterval: interval, WatchInterval: watchInterval,
		Strategy: c.Strategy, ShardChildren: c.ShardChildren, ChildOptions: c.ChildOptions, Handlers: c.Handlers,
		MaxPending: c.MaxPending, LeaseReads: c.LeaseReads,
		CallTimeout: c.CallTimeout, Retry: actors.Retry{Count: c.Retries, Delay: c.RetryDelay},
		OpenTimeout: c.OpenTimeout, CloseTimeout: c.CloseTimeout, DrainTimeout: c.DrainTimeout,
		LagInterval: c.LagInterval, Logger: c.Logger, MeterProvider: c.MeterProvider, TracerProvider: c.TracerProvider,
	}, nil
}

// engineMeters is where the engine's metrics go, if anybody wants them: to make them
// takes each open as long again as the engine needs for itself.
func engineMeters(p metric.MeterProvider) (metric.MeterProvider, bool) {
	if unset.Is(p) {
		p = otel.GetMeterProvider() // which may have been set since
	}
	_, none := p.(noop.MeterProvider)
	return p, !none && !unset.Is(p)
}

// end releases everything, the last first. The node's tree has ended before, or
// never began.
func (r *run) end(ctx context.Context) error {
	var errs []error
	for len(r.release) > 0 {
		last := len(r.release) - 1
		errs = append(errs, r.release[last](ctx))
		r.release = r.release[:last]
	}
	return errors.Join(errs...)
}

func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
