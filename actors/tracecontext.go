package actors

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/slap-go/slap/actors/links"
)

// traceContext is what travels of a trace, as W3C has it.
type traceContext struct{ parent, state string }

// Names of W3C's headers.
const (
	parentHeader = "traceparent"
	stateHeader  = "tracestate"
)

// Get is the value of a header.
func (t *traceContext) Get(key string) string {
	switch key {
	case parentHeader:
		return t.parent
	case stateHeader:
		return t.state
	}
	return ""
}

// Set sets the value of a header.
func (t *traceContext) Set(key, value string) {
	switch key {
	case parentHeader:
		t.parent = value
	case stateHeader:
		t.state = value
	}
}

// Keys are the names of the headers.
func (t *traceContext) Keys() []string { return []string{parentHeader, stateHeader} }

// inject is what another node is told of the trace that ctx is part of; nothing if it is
// part of none.
func inject(ctx context.Context) (parent, state string) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return "", ""
	}
	var t traceContext
	propagation.TraceContext{}.Inject(ctx, &t)
	return t.parent, t.state
}

// serve is the start of a request of another node: its context, and its span, which is part
// of the caller's trace; nil if nobody traces here.
func (t *telemetry) serve(in *links.Incoming, m method) (context.Context, trace.Span) {
	ctx := context.Background()
	if in.TraceParent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, &traceContext{in.TraceParent, in.TraceState})
	}
	if !t.traces() {
		return ctx, nil
	}
	attributes := clusterAttributes(t.cluster, shardKey.Int(in.Shard), targetKey.String(in.Target))
	return t.tracer.Start(ctx, "slap.serve."+string(m), //nolint:spancheck // the request's end ends it
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...))
}
