package httpapi

import (
	"context"
	"errors"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slap-go/slap"
)

// outcomes counts how the requests for keys ended.
type outcomes struct {
	acknowledged, notExecuted, unknown atomic.Int64

	requests metric.Int64Counter
}

func newOutcomes(provider metric.MeterProvider) (*outcomes, error) {
	requests, err := provider.Meter("github.com/slap-go/slap/cmd/demo").Int64Counter("demo.requests",
		metric.WithUnit("{request}"), metric.WithDescription("Requests for keys, by outcome."))
	return &outcomes{requests: requests}, err
}

// count takes the error of a request, nil when it was answered.
func (o *outcomes) count(ctx context.Context, err error) {
	switch {
	case err == nil:
		o.add(ctx, &o.acknowledged, "acknowledged")
	case errors.Is(err, slap.ErrNotExecuted):
		o.add(ctx, &o.notExecuted, "not_executed")
	default:
		o.add(ctx, &o.unknown, "unknown")
	}
}

func (o *outcomes) add(ctx context.Context, counter *atomic.Int64, outcome string) {
	counter.Add(1)
	o.requests.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}
