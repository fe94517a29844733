package actors

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const stateKey = attribute.Key("slap.shard.state")

// gauges show what a node's shards do at the moment that somebody looks.
type gauges struct {
	registration metric.Registration // nil if there is none
}

// readings are what gauges read whenever metrics are collected, from any goroutine.
type readings struct {
	shards      func() map[State]int // how many are in each state
	abandoned   func() int           // shards with an open or close behind them that nobody waits for
	unreachable func() []string      // other nodes
}

func newGauges(cluster string, p metric.MeterProvider, read readings) *gauges {
	m := p.Meter(scope)
	count, countErr := m.Int64ObservableUpDownCounter("slap.shard.count", metric.WithUnit("{shard}"),
		metric.WithDescription("Shards of the cluster by their state, as this node sees it."))
	given, givenErr := m.Int64ObservableUpDownCounter("slap.shard.abandoned", metric.WithUnit("{shard}"),
		metric.WithDescription("Shards whose open or close took too long and goes on."))
	lost, lostErr := m.Int64ObservableUpDownCounter("slap.peer.unreachable", metric.WithUnit("{node}"),
		metric.WithDescription("Nodes that were needed lately and cannot be reached."))
	if err := errors.Join(countErr, givenErr, lostErr); err != nil {
		otel.Handle(err)
		return &gauges{}
	}
	registration, err := m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for state, n := range read.shards() {
			o.ObserveInt64(count, int64(n), attributes(cluster, stateKey.String(state.String())))
		}
		o.ObserveInt64(given, int64(read.abandoned()), attributes(cluster))
		o.ObserveInt64(lost, int64(len(read.unreachable())), attributes(cluster))
		return nil
	}, count, given, lost)
	if err != nil {
		otel.Handle(err)
		return &gauges{}
	}
	return &gauges{registration}
}

// close ends the reading. When it returns nothing reads any more.
func (g *gauges) close() {
	if g.registration == nil {
		return
	}
	if err := g.registration.Unregister(); err != nil {
		otel.Handle(err)
	}
	g.registration = nil
}
