package actors

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/supervision"
)

func quietEvents() *Events {
	return NewEvents(slog.New(slog.DiscardHandler), noop.NewMeterProvider())
}

// lag is an event with a number in it.
func lag(n int) messages.Event { return messages.DurabilityLag{Lag: uint64(n)} }

func numberOf(t *testing.T, e messages.Event) int {
	t.Helper()
	l, ok := e.(messages.DurabilityLag)
	if !ok {
		t.Fatalf("got %T", e)
	}
	return int(l.Lag)
}

// within fails the test if f does not return in time.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: not within a minute", what)
	}
}

func TestEVT_AReaderHearsEverythingFromItsSubscriptionOnInOrder(t *testing.T) {
	e := quietEvents()
	e.Publish(lag(-1))
	all := e.Read(t.Context(), 100)
	for n := range 50 {
		e.Publish(lag(n))
	}
	e.Close()
	e.Publish(lag(50))
	next := 0
	for event := range all {
		if n := numberOf(t, event); n != next {
			t.Fatalf("read %d, want %d", n, next)
		}
		next++
	}
	if next != 50 {
		t.Errorf("%d events", next)
	}
	for event := range e.Read(t.Context(), 1) {
		t.Errorf("%v after the end", event)
	}
}

func TestEVT_ASlowReaderIsToldOnceHowManyItMissed(t *testing.T) {
	e := quietEvents()
	all := e.Read(t.Context(), 4)
	for n := range 100 {
		e.Publish(messages.DurabilityLag{Lag: uint64(n), ShardOrigin: messages.ShardOrigin{Origin: messages.Origin{Cluster: "c"}}})
	}
	e.Close()
	var got []messages.Event
	for event := range all {
		got = append(got, event)
	}
	if missed, ok := got[0].(messages.EventsMissed); !ok || missed.Count != 96 || missed.Cluster != "c" {
		t.Errorf("the first event is %+v", got[0])
	}
	if len(got) != 5 {
		t.Fatalf("%d events", len(got))
	}
	for i, event := range got[1:] {
		if n := numberOf(t, event); n != 96+i {
			t.Errorf("read %d, want %d", n, 96+i)
		}
	}
}

func TestEVT_AReaderThatHangsDelaysNobody(t *testing.T) {
	e := quietEvents()
	hanging, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	slow := e.Read(t.Context(), 1)
	go func() {
		defer close(ended)
		for range slow {
			close(hanging)
			<-release
			return
		}
	}()
	e.Publish(lag(0))
	<-hanging
	other := e.Read(t.Context(), 10_000)
	within(t, "publishing and closing", func() {
		for n := range 10_000 {
			e.Publish(lag(n))
		}
		e.Close()
	})
	n := 0
	for range other {
		n++
	}
	if n != 10_000 {
		t.Errorf("the other reader has %d events", n)
	}
	close(release)
	<-ended
}

// TestEVT_WhatIsReadAndWhatIsMissedIsAll publishes from many goroutines to readers that
// are now fast, now slow.
func TestEVT_WhatIsReadAndWhatIsMissedIsAll(t *testing.T) {
	const publishers, each = 8, 2_000
	e := quietEvents()
	var readers, writers sync.WaitGroup
	for _, buffer := range []int{-1, 1, 7, 100, publishers * each} {
		all := e.Read(t.Context(), buffer)
		readers.Go(func() { account(t, all, buffer, publishers, each) })
	}
	for p := range publishers {
		writers.Go(func() {
			for n := range each {
				e.Publish(messages.DurabilityLag{ShardOrigin: messages.ShardOrigin{Shard: p}, Lag: uint64(n)})
			}
		})
	}
	writers.Wait()
	e.Close()
	within(t, "reading", readers.Wait)
}

func account(t *testing.T, all iter.Seq[messages.Event], buffer, publishers, each int) {
	last := make([]int, publishers)
	read, missed := 0, 0
	for event := range all {
		switch event := event.(type) {
		case messages.EventsMissed:
			missed += int(event.Count)
		case messages.DurabilityLag:
			if n := int(event.Lag) + 1; n <= last[event.Shard] {
				t.Errorf("buffer %d: %d after %d of publisher %d", buffer, n, last[event.Shard], event.Shard)
			} else {
				last[event.Shard] = n
			}
			if read++; read%50 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	}
	if read+missed != publishers*each {
		t.Errorf("buffer %d: read %d and missed %d of %d", buffer, read, missed, publishers*each)
	}
	if buffer >= publishers*each && missed > 0 {
		t.Errorf("buffer %d: missed %d", buffer, missed)
	}
}

func TestEVT_ALoopEndsWithItsContextByBreakAndWithTheNode(t *testing.T) {
	for name, end := range map[string]func(*Events, context.CancelFunc){
		"context": func(_ *Events, cancel context.CancelFunc) { cancel() },
		"node":    func(e *Events, _ context.CancelFunc) { e.Close(); e.Close() },
	} {
		e := quietEvents()
		ctx, cancel := context.WithCancel(t.Context())
		all := e.Read(ctx, 1)
		reading, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			for range all {
				close(reading)
			}
		}()
		e.Publish(lag(0))
		<-reading
		end(e, cancel)
		within(t, name, func() { <-ended })
		mustHaveNoReader(t, e)
		cancel()
	}
	e := quietEvents()
	all := e.Read(t.Context(), 2)
	e.Publish(lag(0))
	e.Publish(lag(1))
	for range all {
		break
	}
	mustHaveNoReader(t, e)
	for event := range all {
		t.Errorf("a second loop has %v", event)
	}
}

func mustHaveNoReader(t *testing.T, e *Events) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(*e.readers.Load()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a reader is left")
		}
	}
}

func TestEVT_AReaderThatNeverLoopsIsForgottenWithItsContext(t *testing.T) {
	e := quietEvents()
	ctx, cancel := context.WithCancel(t.Context())
	all := e.Read(ctx, 10)
	e.Publish(lag(0))
	cancel()
	mustHaveNoReader(t, e)
	for event := range all {
		t.Errorf("%v after the end", event)
	}
}

func TestEVT_EachEventIsOneLineOfTheLogAtItsLevel(t *testing.T) {
	var log bytes.Buffer
	e := NewEvents(slog.New(slog.NewTextHandler(&log, nil)), noop.NewMeterProvider())
	shard := messages.ShardOrigin{Shard: 3}
	all := e.Read(t.Context(), 2)
	e.Publish(messages.ShardStarted{ShardOrigin: shard}) // debug: not here
	e.Publish(messages.ShardFenced{ShardOrigin: shard})
	e.Publish(messages.ShardFailed{ShardOrigin: shard, Err: errors.New("away")})
	e.Close()
	for range all {
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("the log is\n%s", &log)
	}
	for i, words := range []string{
		`level=ERROR msg="shard 3 was fenced: its next owner, or a second instance on this store, has opened its database" shard=3 generation=0`,
		`level=ERROR msg="shard 3 did not open: away" shard=3 generation=0 error=away`,
		`level=WARN msg="a reader of events was too slow and missed 1" count=1`,
	} {
		if !strings.Contains(lines[i], words) {
			t.Errorf("line %d is\n%s, want\n%s", i, lines[i], words)
		}
	}
}

// expensive is an event whose attributes are counted.
type expensive struct {
	messages.ShardStarted
	made *atomic.Int32
}

func (e expensive) Attrs() []slog.Attr { e.made.Add(1); return nil }

func TestEVT_ALogThatDoesNotWantAnEventCostsNothing(t *testing.T) {
	var log bytes.Buffer
	e := NewEvents(slog.New(slog.NewTextHandler(&log, nil)), noop.NewMeterProvider())
	event := expensive{made: &atomic.Int32{}}
	e.Publish(event)
	if event.made.Load() != 0 || log.Len() > 0 {
		t.Errorf("attributes made %d times, log %q", event.made.Load(), &log)
	}
}

// points are what a reader of metrics sees: name, attributes, and the value or count.
func points(t *testing.T, r sdkmetric.Reader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	key := func(name string, set attribute.Set) string {
		return name + "{" + set.Encoded(attribute.DefaultEncoder()) + "}"
	}
	for _, scopes := range all.ScopeMetrics {
		for _, m := range scopes.Metrics {
			if m.Unit == "" || m.Description == "" {
				t.Errorf("%s has the unit %q and the description %q", m.Name, m.Unit, m.Description)
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					out[key(m.Name, p.Attributes)] = p.Value
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					out[key(m.Name, p.Attributes)] = int64(p.Count)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					out[key(m.Name, p.Attributes)] = int64(p.Count)
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	return out
}

func mustBePoints(t *testing.T, r sdkmetric.Reader, want map[string]int64) {
	t.Helper()
	got := points(t, r)
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s is %d, want %d", key, got[key], value)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s is unexpected", key)
		}
	}
}

func TestEVT_EventsAreCountedByTheirNames(t *testing.T) {
	r := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(r))
	e := NewEvents(slog.New(slog.DiscardHandler), provider)
	all := e.Read(t.Context(), 1)
	shard := messages.ShardOrigin{Origin: messages.Origin{Cluster: "c"}, Shard: 3}
	for range 2 {
		e.Publish(messages.ShardStarted{ShardOrigin: shard})
	}
	e.Publish(messages.ShardStopped{ShardOrigin: shard, Reason: "fenced"})
	e.Publish(messages.ShardAbandoned{ShardOrigin: shard, Op: messages.OpOpen})
	e.Publish(messages.DurabilityLag{ShardOrigin: shard, Lag: 7})
	e.Publish(messages.Probed{Err: errors.New("away")})
	e.Publish(messages.SupervisorEvent{Origin: shard.Origin, Event: supervision.ChildRestarted{Restarts: 9}})
	e.Close()
	for range all {
	}
	mustBePoints(t, r, map[string]int64{
		"slap.event.published{slap.cluster=c,slap.event.name=shard.start}":                              2,
		"slap.event.published{slap.cluster=c,slap.event.name=shard.stop,slap.shard.stop.reason=fenced}": 1,
		"slap.event.published{slap.cluster=c,slap.event.name=shard.abandoned,slap.shard.op=open}":       1,
		"slap.event.published{slap.cluster=c,slap.event.name=durability.lag}":                           1,
		"slap.event.published{slap.cluster=c,slap.event.name=supervisor.child.restarted}":               1,
		"slap.event.published{slap.event.name=probe,slap.probe.ok=false}":                               1,
		"slap.event.missed{slap.cluster=c}":                                                             5,
		"slap.event.missed{}":                                                                           1,
		"slap.child.restarts{slap.cluster=c}":                                                           1,
		"slap.shard.durability.lag{slap.cluster=c}":                                                     1,
	})
}

func BenchmarkPublish(b *testing.B) {
	for name, readers := range map[string]int{"nobody reads": 0, "one reads": 1} {
		b.Run(name, func(b *testing.B) {
			e := quietEvents()
			for range readers {
				e.Read(b.Context(), 1)
			}
			var event messages.Event = messages.DurabilityLag{}
			b.ReportAllocs()
			for b.Loop() {
				e.Publish(event)
			}
		})
	}
}
