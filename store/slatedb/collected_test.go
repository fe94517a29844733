package slatedb

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// collected is what OpenTelemetry shows, by the name of the metric.
type collected map[string]metricdata.Metrics

func newMetrics(t *testing.T) (*Metrics, func() collected) {
	t.Helper()
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	m := NewMetrics(provider)
	t.Cleanup(func() {
		require.NoError(t, m.Close())
		require.NoError(t, provider.Shutdown(context.Background()))
	})
	return m, func() collected {
		var data metricdata.ResourceMetrics
		if err := reader.Collect(context.Background(), &data); err != nil {
			t.Error(err)
		}
		all := collected{}
		for _, scope := range data.ScopeMetrics {
			for _, m := range scope.Metrics {
				all[m.Name] = m
			}
		}
		return all
	}
}

// sum is the value of a counter with these attributes, or of all together.
func (c collected) sum(t *testing.T, name string, attributes ...attribute.KeyValue) int64 {
	t.Helper()
	data, ok := c[name].Data.(metricdata.Sum[int64])
	require.True(t, ok, "%s is a %T", name, c[name].Data)
	var total int64
	for _, p := range data.DataPoints {
		if hasAll(p.Attributes, attributes) {
			total += p.Value
		}
	}
	return total
}

func hasAll(set attribute.Set, attributes []attribute.KeyValue) bool {
	for _, a := range attributes {
		if v, ok := set.Value(a.Key); !ok || v != a.Value {
			return false
		}
	}
	return true
}
