package node

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/slap-go/slap/cmd/demo/internal/httpapi"
)

// meters collects the node's metrics in a registry of their own.
type meters struct {
	provider *metric.MeterProvider
	registry *prometheus.Registry
}

func newMeters() (*meters, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	return &meters{metric.NewMeterProvider(metric.WithReader(exporter)), registry}, nil
}

func (m *meters) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// The library's metric of requests, as Prometheus names it and its label.
const (
	requestMetric = "slap_request_duration_seconds"
	outcomeLabel  = "slap_request_outcome"
)

// requests reads how requests to shards ended. The application's own answers are
// answers, also when they say no.
func (m *meters) requests() httpapi.Requests {
	families, _ := m.registry.Gather() // an error leaves out what it concerns
	counts := map[string]uint64{}
	for _, family := range families {
		if family.GetName() != requestMetric {
			continue
		}
		for _, series := range family.GetMetric() {
			for _, label := range series.GetLabel() {
				if label.GetName() == outcomeLabel {
					counts[label.GetValue()] += series.GetHistogram().GetSampleCount()
				}
			}
		}
	}
	return httpapi.Requests{
		Answered: counts["ok"] + counts["app_error"], NotExecuted: counts["not_executed"], Unknown: counts["unknown"],
	}
}

func (m *meters) close(ctx context.Context) { _ = m.provider.Shutdown(ctx) }
