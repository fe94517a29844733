package actors

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/supervision"
)

// scope is the name of the instrumentation, for meters and tracers.
const scope = "github.com/slap-go/slap"

// Attributes of metrics and spans.
const (
	clusterKey = attribute.Key("slap.cluster")
	eventKey   = attribute.Key("slap.event.name")
	reasonKey  = attribute.Key("slap.shard.stop.reason")
	opKey      = attribute.Key("slap.shard.op")
	okKey      = attribute.Key("slap.probe.ok")
)

// eventMeters count events. The attributes have few values: no shard, no child.
type eventMeters struct {
	published metric.Int64Counter
	missed    metric.Int64Counter
	restarts  metric.Int64Counter
	lag       metric.Int64Histogram
}

func newEventMeters(p metric.MeterProvider) *eventMeters {
	m := p.Meter(scope)
	return &eventMeters{
		published: counter(m, "slap.event.published", "{event}", "Events of a node, by their names."),
		missed:    counter(m, "slap.event.missed", "{event}", "Events that readers were too slow for."),
		restarts:  counter(m, "slap.child.restarts", "{restart}", "Restarts of actors by their supervisors."),
		lag:       lagHistogram(m),
	}
}

func counter(m metric.Meter, name, unit, about string) metric.Int64Counter {
	c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
	return instrument[metric.Int64Counter](c, err, noop.Int64Counter{})
}

// instrument is i, or none if it could not be made.
func instrument[T any](i T, err error, none T) T {
	if err != nil {
		otel.Handle(err)
		return none
	}
	return i
}

// lagHistogram has one sample for each open shard and interval.
func lagHistogram(m metric.Meter) metric.Int64Histogram {
	h, err := m.Int64Histogram("slap.shard.durability.lag", metric.WithUnit("{write}"),
		metric.WithDescription("Writes of an open shard that are not durable yet."),
		metric.WithExplicitBucketBoundaries(0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000))
	return instrument[metric.Int64Histogram](h, err, noop.Int64Histogram{})
}

// count counts an event that is published.
func (m *eventMeters) count(e messages.Event) {
	ctx := context.Background()
	if m.published.Enabled(ctx) {
		m.published.Add(ctx, 1, attributes(e.From().Cluster, kindOfEvent(e)...))
	}
	switch e := e.(type) {
	case messages.DurabilityLag:
		if m.lag.Enabled(ctx) {
			m.lag.Record(ctx, int64(e.Lag), attributes(e.Cluster))
		}
	case messages.SupervisorEvent:
		if _, is := e.Event.(supervision.ChildRestarted); is && m.restarts.Enabled(ctx) {
			m.restarts.Add(ctx, 1, attributes(e.Cluster))
		}
	}
}

// miss counts an event that a reader misses.
func (m *eventMeters) miss(e messages.Event) {
	if ctx := context.Background(); m.missed.Enabled(ctx) {
		m.missed.Add(ctx, 1, attributes(e.From().Cluster))
	}
}

func kindOfEvent(e messages.Event) []attribute.KeyValue {
	all := []attribute.KeyValue{eventKey.String(e.Name())}
	switch e := e.(type) {
	case messages.ShardStopped:
		all = append(all, reasonKey.String(e.Reason))
	case messages.ShardAbandoned:
		all = append(all, opKey.String(e.Op))
	case messages.Probed:
		all = append(all, okKey.Bool(e.OK()))
	}
	return all
}

// attributes are the cluster's name, if it has one, and more.
func attributes(cluster string, more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(clusterAttributes(cluster, more...)...))
}

func clusterAttributes(cluster string, more ...attribute.KeyValue) []attribute.KeyValue {
	if cluster != "" {
		more = append(more, clusterKey.String(cluster))
	}
	return more
}
