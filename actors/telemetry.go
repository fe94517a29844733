package actors

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/internal/unset"
	"github.com/slap-go/slap/messages"
)

// Attributes of requests.
const (
	methodKey    = attribute.Key("slap.request.method")
	outcomeKey   = attribute.Key("slap.request.outcome")
	shardKey     = attribute.Key("slap.shard")
	targetKey    = attribute.Key("slap.target")
	errorTypeKey = attribute.Key("error.type")
)

// method is the way in which a request is made.
type method string

const (
	methodAsk  method = "ask"
	methodCall method = "call"
)

// telemetry measures and traces the requests that are made on a node. Where nobody
// listens, it costs two loads and no memory.
type telemetry struct {
	cluster  string
	tracer   trace.Tracer
	none     bool                 // the tracer never makes spans
	unset    trace.TracerProvider // the global one that makes spans once another is set; nil if it is not that
	duration metric.Float64Histogram
	series   map[outcome][]metric.RecordOption
}

func newTelemetry(cluster string, meters metric.MeterProvider, tracers trace.TracerProvider) *telemetry {
	t := &telemetry{
		cluster:  cluster,
		tracer:   tracers.Tracer(scope),
		duration: durationHistogram(meters.Meter(scope)),
		series:   map[outcome][]metric.RecordOption{},
	}
	_, t.none = tracers.(tracenoop.TracerProvider)
	if unset.Is(tracers) {
		t.unset = tracers
	}
	for _, o := range outcomes() {
		t.series[o] = []metric.RecordOption{attributes(cluster, o.attributes()...)}
	}
	return t
}

func durationHistogram(m metric.Meter) metric.Float64Histogram {
	h, err := m.Float64Histogram("slap.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Time of requests to shards until their answers, retries included."),
		metric.WithExplicitBucketBoundaries(.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30))
	return instrument[metric.Float64Histogram](h, err, noop.Float64Histogram{})
}

// traces says whether the tracer makes spans.
func (t *telemetry) traces() bool {
	return !t.none && (t.unset == nil || otel.GetTracerProvider() != t.unset)
}

// operation is a request on its way.
type operation struct {
	telemetry *telemetry
	method    method
	span      trace.Span // nil if nobody traces
	began     time.Time  // zero if nobody measures
}

// begin is the start of a request. What is done for it gets the context that is returned.
func (t *telemetry) begin(ctx context.Context, m method, shard int, target string) (context.Context, operation) {
	o := operation{telemetry: t, method: m}
	if t.traces() {
		attributes := clusterAttributes(t.cluster, shardKey.Int(shard), targetKey.String(target))
		ctx, o.span = t.tracer.Start(ctx, "slap."+string(m), //nolint:spancheck // the operation ends it
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	}
	if t.duration.Enabled(ctx) {
		o.began = clock.Now()
	}
	return ctx, o
}

// end is the request's answer or error. ctx is what begin returned.
func (o operation) end(ctx context.Context, err error) {
	if o.span == nil && o.began.IsZero() {
		return
	}
	what := outcomeOf(o.method, err)
	if !o.began.IsZero() {
		o.telemetry.duration.Record(ctx, clock.Since(o.began).Seconds(), o.telemetry.series[what]...)
	}
	if o.span != nil {
		endSpan(o.span, what, err)
	}
}

// endSpan says how the request ended. An application's own answer that says no is not
// an error of the request.
func endSpan(span trace.Span, what outcome, err error) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(what.attributes()...)
	var no *messages.AppError
	switch {
	case errors.As(err, &no):
		span.SetAttributes(errorTypeKey.String(no.Code))
	case err != nil:
		span.SetStatus(codes.Error, err.Error())
	}
}
