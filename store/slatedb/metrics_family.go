package slatedb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// A family is all instruments of one name.
type family struct {
	observable metric.Int64Observable // nil for a histogram
	histogram  metric.Float64Histogram
	monotonic  bool // a counter: what a closed database counted stays
	largest    bool // a gauge of which the largest counts
	series     map[attribute.Distinct]*series
	of         map[*instrument]*series
}

// A series is the instruments of a family that have the same attributes.
type series struct {
	attributes metric.MeasurementOption
	members    []*member
	retired    int64 // what counters of closed databases had counted
}

type member struct {
	instrument *instrument
	replay     replay // of a histogram
}

// newFamily makes the instrument of OpenTelemetry that shows a family.
func newFamily(m metric.Meter, i *instrument) (*family, error) {
	f := &family{
		monotonic: i.kind == instrumentCounter,
		largest:   i.kind == instrumentGauge && isLargest(i.name),
		series:    map[attribute.Distinct]*series{},
		of:        map[*instrument]*series{},
	}
	var err error
	unit, description := metric.WithUnit(unitOf(i.name)), metric.WithDescription(i.description)
	switch i.kind {
	case instrumentCounter:
		f.observable, err = m.Int64ObservableCounter(i.name, unit, description)
	case instrumentUpDownCounter:
		f.observable, err = m.Int64ObservableUpDownCounter(i.name, unit, description)
	case instrumentGauge:
		f.observable, err = m.Int64ObservableGauge(i.name, unit, description)
	default:
		f.histogram, err = m.Float64Histogram(i.name, unit, description, metric.WithExplicitBucketBoundaries(i.bounds...))
	}
	if err != nil {
		return nil, fmt.Errorf("slatedb: metric %s: %w", i.name, err)
	}
	return f, nil
}

// isLargest tells whether the sum of a gauge over databases would mean nothing.
func isLargest(name string) bool {
	return strings.Contains(name, "_max_") || strings.HasSuffix(name, "epoch") || strings.Contains(name, "timestamp")
}

// unitOf is the unit that the engine has in a name, in the letters of UCUM.
func unitOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_bytes_per_sec"):
		return "By/s"
	case strings.HasSuffix(name, "_bytes") || strings.HasSuffix(name, "bytes_compacted") ||
		strings.HasSuffix(name, "bytes_being_compacted"):
		return "By"
	case strings.HasSuffix(name, "_seconds") || strings.HasSuffix(name, "_sec"):
		return "s"
	default:
		return "{count}"
	}
}

// add puts an instrument into the series of its labels and the given attributes.
// The label worker_id is new at every open of a database and is left out.
func (f *family) add(i *instrument, attributes []attribute.KeyValue) {
	all := slices.Clone(attributes)
	for _, l := range i.labels {
		if l.key != "worker_id" {
			all = append(all, attribute.String(l.key, l.value))
		}
	}
	set := attribute.NewSet(all...)
	s := f.series[set.Equivalent()]
	if s == nil {
		s = &series{attributes: metric.WithAttributeSet(set)}
		f.series[set.Equivalent()] = s
	}
	s.members = append(s.members, &member{instrument: i})
	f.of[i] = s
}

// remove takes an instrument out and returns what of it is not recorded yet.
func (f *family) remove(i *instrument) []observation {
	s := f.of[i]
	if s == nil {
		return nil
	}
	delete(f.of, i)
	at := slices.IndexFunc(s.members, func(m *member) bool { return m.instrument == i })
	last := s.members[at]
	s.members = slices.Delete(s.members, at, at+1)
	if f.histogram != nil {
		return f.measured(s, last)
	}
	if f.monotonic {
		s.retired += i.value()
	}
	return nil
}

// observe reports the value of each series.
func (f *family) observe(o metric.Observer) {
	for _, s := range f.series {
		if len(s.members) > 0 || f.monotonic {
			o.ObserveInt64(f.observable, s.value(f.largest), s.attributes)
		}
	}
}

func (s *series) value(largest bool) int64 {
	total := s.retired
	for n, m := range s.members {
		switch v := m.instrument.value(); {
		case !largest:
			total += v
		case n == 0 || v > total:
			total = v
		}
	}
	return total
}

// pending is what a histogram's databases measured and OpenTelemetry has not seen.
func (f *family) pending() []observation {
	var all []observation
	for _, s := range f.series {
		for _, m := range s.members {
			all = append(all, f.measured(s, m)...)
		}
	}
	return all
}

// measured is what one database measured since the last time.
func (f *family) measured(s *series, m *member) []observation {
	_, sum, buckets := m.instrument.histogram()
	all := m.replay.next(m.instrument.bounds, buckets, sum)
	for i := range all {
		all[i].into, all[i].attributes = f.histogram, s.attributes
	}
	return all
}

// An observation is a number of equal measurements on their way to a histogram.
type observation struct {
	into       metric.Float64Histogram
	attributes metric.MeasurementOption
	value      float64
	times      uint64
}

func recordAll(all []observation) {
	for _, o := range all {
		for range o.times {
			o.into.Record(context.Background(), o.value, o.attributes)
		}
	}
}
