package unset_test

import (
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/slap-go/slap/internal/unset"
)

func TestOnlyTheGlobalProvidersAreUnset(t *testing.T) {
	for _, p := range []any{otel.GetMeterProvider(), otel.GetTracerProvider()} {
		if !unset.Is(p) {
			t.Errorf("%T is not unset", p)
		}
	}
	for _, p := range []any{
		nil, metric.MeterProvider(nil), metricnoop.NewMeterProvider(), tracenoop.NewTracerProvider(),
		sdkmetric.NewMeterProvider(), sdktrace.NewTracerProvider(), func() {},
	} {
		if unset.Is(p) {
			t.Errorf("%T is unset", p)
		}
	}
}
