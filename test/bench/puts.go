package main

import (
	"context"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/slap-go/slap/internal/clock"
)

// puts counts what the engine writes to the store, by the engine's own metrics.
type puts struct {
	reader   *sdkmetric.ManualReader
	provider *sdkmetric.MeterProvider
}

func newPuts() puts {
	reader := sdkmetric.NewManualReader()
	return puts{reader, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
}

// during is how many PUTs there are in a second while f runs.
func (p puts) during(ctx context.Context, f func() error) (rate float64, err error) {
	before, err := p.count(ctx)
	if err != nil {
		return 0, err
	}
	began := clock.Now()
	if err := f(); err != nil {
		return 0, err
	}
	took := clock.Since(began)
	after, err := p.count(ctx)
	return float64(after-before) / took.Seconds(), err
}

func (p puts) count(ctx context.Context) (total int64, err error) {
	var now metricdata.ResourceMetrics
	if err := p.reader.Collect(ctx, &now); err != nil {
		return 0, err
	}
	for _, scope := range now.ScopeMetrics {
		for _, m := range scope.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "slatedb.object_store.request_count" {
				total += putsIn(sum)
			}
		}
	}
	return total, nil
}

func putsIn(sum metricdata.Sum[int64]) (total int64) {
	for _, point := range sum.DataPoints {
		if op, _ := point.Attributes.Value("op"); op.AsString() == "put" {
			total += point.Value
		}
	}
	return total
}
