package slatedb

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// meterName is the name of the instrumentation scope.
const meterName = "github.com/slap-go/slap/store/slatedb"

// Metrics is where databases report the engine's metrics to, by OpenTelemetry's
// API. The engine counts by itself, in memory of its own, and the numbers are read
// when OpenTelemetry collects them, so that metrics cost the engine next to nothing.
//
// The names are the engine's (slatedb.db.request_count). Databases with equal
// attributes are added up, their gauges too; of a gauge that is a maximum, a time
// or an epoch the largest counts. It is safe for concurrent use.
type Metrics struct {
	collector  *collector
	attributes []attribute.KeyValue
}

// NewMetrics makes instruments by a provider as databases need them. It must be
// closed after the databases that report to it.
func NewMetrics(provider metric.MeterProvider) *Metrics {
	return &Metrics{collector: &collector{
		meter:    provider.Meter(meterName, metric.WithInstrumentationVersion(Version)),
		families: map[string]*family{},
	}}
}

// With is the same place, where databases report with further attributes.
func (m *Metrics) With(attributes ...attribute.KeyValue) *Metrics {
	return &Metrics{collector: m.collector, attributes: slices.Concat(m.attributes, attributes)}
}

// Close ends the reports. A second call does nothing.
func (m *Metrics) Close() error { return m.collector.close() }

func (m *Metrics) register(i *instrument) {
	defer reportPanic()
	m.collector.add(i, m.attributes)
}

func (m *Metrics) unregister(i *instrument) {
	defer reportPanic()
	m.collector.remove(i)
}

// reportPanic keeps a panic of a provider out of the engine, which would end the
// process.
func reportPanic() {
	if r := recover(); r != nil {
		otel.Handle(errors.New("slatedb: a meter provider panicked"))
	}
}

// A collector reads the instruments of databases when OpenTelemetry collects.
type collector struct {
	meter metric.Meter

	// making is held while instruments are made, which waits for a collection
	// that is going on; it is never taken by a collection.
	making       sync.Mutex
	registration metric.Registration
	closed       bool

	mu       sync.Mutex // taken by collections
	families map[string]*family
}

// add counts an instrument in. The first one of its name makes a new one with
// OpenTelemetry.
func (c *collector) add(i *instrument, attributes []attribute.KeyValue) {
	c.making.Lock()
	defer c.making.Unlock()
	c.mu.Lock()
	f := c.families[i.name]
	c.mu.Unlock()
	if f == nil {
		made, err := newFamily(c.meter, i)
		if err != nil {
			otel.Handle(err)
			return
		}
		f = made
		c.mu.Lock()
		c.families[i.name] = f
		c.mu.Unlock()
		c.register()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.add(i, attributes)
}

// remove counts an instrument out. When it returns nothing reads it any more.
func (c *collector) remove(i *instrument) {
	c.mu.Lock()
	var last []observation
	if f := c.families[i.name]; f != nil {
		last = f.remove(i)
	}
	c.mu.Unlock()
	recordAll(last)
}

// register tells OpenTelemetry of all families, anew.
func (c *collector) register() {
	if c.closed {
		return
	}
	if c.registration != nil {
		if err := c.registration.Unregister(); err != nil {
			otel.Handle(err)
		}
	}
	var observables []metric.Observable
	c.mu.Lock()
	for _, f := range c.families {
		if f.observable != nil {
			observables = append(observables, f.observable)
		}
	}
	c.mu.Unlock()
	var err error
	if c.registration, err = c.meter.RegisterCallback(c.collect, observables...); err != nil {
		otel.Handle(err)
	}
}

// collect reports all numbers.
func (c *collector) collect(_ context.Context, o metric.Observer) error {
	c.mu.Lock()
	var pending []observation
	for _, f := range c.families {
		if f.observable != nil {
			f.observe(o)
		} else {
			pending = append(pending, f.pending()...)
		}
	}
	c.mu.Unlock()
	recordAll(pending)
	return nil
}

func (c *collector) close() error {
	c.making.Lock()
	defer c.making.Unlock()
	if c.closed || c.registration == nil {
		c.closed = true
		return nil
	}
	c.closed = true
	return c.registration.Unregister()
}
