package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/slap-go/slap/messages"
)

// ends are how a request can end, and what metrics and spans say of it.
var ends = []struct {
	err    error
	labels string
	code   codes.Code
}{
	{nil, "slap.request.outcome=ok", codes.Unset},
	{&messages.AppError{Code: "no"}, "slap.request.outcome=app_error", codes.Unset},
	{messages.NotExecuted(1, "a", messages.ErrFenced, nil), "error.type=fenced,slap.request.outcome=not_executed", codes.Error},
	{messages.OutcomeUnknown(1, "a", messages.ErrTimeout, nil), "error.type=timeout,slap.request.outcome=unknown", codes.Error},
	{fmt.Errorf("wrapped: %w", messages.OutcomeUnknown(1, "a", messages.ErrPanicked, nil)), "error.type=panicked,slap.request.outcome=unknown", codes.Error},
	{messages.OutcomeUnknown(1, "a", errors.New("new"), nil), "error.type=_OTHER,slap.request.outcome=unknown", codes.Error},
	{errors.New("no routing error"), "error.type=_OTHER,slap.request.outcome=unknown", codes.Error},
}

func TestEVT_RequestsAreMeasuredByTheirOutcome(t *testing.T) {
	r := sdkmetric.NewManualReader()
	tele := newTelemetry("c", sdkmetric.NewMeterProvider(sdkmetric.WithReader(r)), tracenoop.NewTracerProvider())
	want := map[string]int64{}
	for _, end := range ends {
		for _, m := range []method{methodAsk, methodCall} {
			ctx, o := tele.begin(t.Context(), m, 1, "a")
			o.end(ctx, end.err)
			labels, kind, ok := strings.Cut(end.labels, ",")
			if ok {
				labels = labels + ",slap.cluster=c,slap.request.method=" + string(m) + "," + kind
			} else {
				labels = "slap.cluster=c,slap.request.method=" + string(m) + "," + end.labels
			}
			want["slap.request.duration{"+labels+"}"]++
		}
	}
	mustBePoints(t, r, want)
}

func TestEVT_EveryKindOfErrorHasAName(t *testing.T) {
	for kind, name := range kindNames {
		for _, err := range []error{messages.NotExecuted(0, "", kind, nil), messages.OutcomeUnknown(0, "", kind, nil)} {
			if o := outcomeOf(methodAsk, err); o.kind != name || name == "" {
				t.Errorf("%v is %+v", err, o)
			}
		}
	}
	if len(kindNames) != 19 {
		t.Errorf("%d kinds have a name", len(kindNames))
	}
}

func TestEVT_ARequestIsASpan(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	tele := newTelemetry("c", metricnoop.NewMeterProvider(), provider)
	if n := len(recorder.Started()); n != 0 {
		t.Errorf("%d spans before the first request", n)
	}
	for _, end := range ends {
		before := len(recorder.Ended())
		parent, root := provider.Tracer("test").Start(t.Context(), "parent")
		ctx, o := tele.begin(parent, methodAsk, 7, "a")
		if trace.SpanFromContext(ctx) == root {
			t.Fatal("what is done for the request does not belong to its span")
		}
		o.end(ctx, end.err)
		span := recorder.Ended()[before]
		attrs := attribute.NewSet(span.Attributes()...)
		got := attrs.Encoded(attribute.DefaultEncoder())
		for _, part := range append(strings.Split(end.labels, ","), "slap.cluster=c", "slap.request.method=ask", "slap.shard=7", "slap.target=a") {
			if !strings.Contains(got, part) {
				t.Errorf("%v: %s has no %s", end.err, got, part)
			}
		}
		if span.Name() != "slap.ask" || span.SpanKind() != trace.SpanKindClient || span.Status().Code != end.code ||
			span.Parent().SpanID() != root.SpanContext().SpanID() {
			t.Errorf("%v: span %q, %v, %v", end.err, span.Name(), span.SpanKind(), span.Status())
		}
		root.End()
	}
}

func TestEVT_ASpanThatIsNotSampledTellsNothing(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder), sdktrace.WithSampler(sdktrace.NeverSample()))
	tele := newTelemetry("", metricnoop.NewMeterProvider(), provider)
	ctx, o := tele.begin(t.Context(), methodCall, 7, "a")
	if !trace.SpanContextFromContext(ctx).IsValid() {
		t.Error("the trace is not passed on")
	}
	o.end(ctx, errors.New("away"))
	if n := len(recorder.Ended()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

// silences are providers that nobody listens to.
func silences() map[string]func() *telemetry {
	return map[string]func() *telemetry{
		"none": func() *telemetry {
			return newTelemetry("c", metricnoop.NewMeterProvider(), tracenoop.NewTracerProvider())
		},
		"global": func() *telemetry { return newTelemetry("c", otel.GetMeterProvider(), otel.GetTracerProvider()) },
	}
}

func TestEVT_WhereNobodyListensARequestCostsNoMemory(t *testing.T) {
	failed := error(messages.NotExecuted(0, "", messages.ErrFenced, nil))
	for name, silence := range silences() {
		tele := silence()
		for _, err := range []error{nil, failed} {
			if n := testing.AllocsPerRun(1_000, func() {
				ctx, o := tele.begin(t.Context(), methodAsk, 7, "a")
				o.end(ctx, err)
			}); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	}
}

// TestEVT_AGlobalProviderMayBeSetLater does so in a process of its own.
func TestEVT_AGlobalProviderMayBeSetLater(t *testing.T) {
	const child = "SLAP_TEST_GLOBAL_PROVIDER"
	if os.Getenv(child) == "" {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
		c.Env = append(os.Environ(), child+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	recorder, r := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	tele := newTelemetry("c", otel.GetMeterProvider(), otel.GetTracerProvider())
	ask := func() {
		ctx, o := tele.begin(t.Context(), methodAsk, 7, "a")
		o.end(ctx, nil)
	}
	ask()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)))
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(r)))
	ask()
	if n := len(recorder.Ended()); n != 1 {
		t.Errorf("%d spans", n)
	}
	if got := points(t, r); len(got) != 1 {
		t.Errorf("metrics: %v", got)
	}
}

func TestEVT_GaugesShowTheShardsAsTheyAre(t *testing.T) {
	r := sdkmetric.NewManualReader()
	states, abandoned, unreachable := map[State]int{StateRunning: 3, StateOpening: 1}, 2, []string{"b"}
	g := newGauges("c", sdkmetric.NewMeterProvider(sdkmetric.WithReader(r)), readings{
		func() map[State]int { return states }, func() int { return abandoned }, func() []string { return unreachable },
	})
	mustBePoints(t, r, map[string]int64{
		"slap.shard.count{slap.cluster=c,slap.shard.state=running}": 3,
		"slap.shard.count{slap.cluster=c,slap.shard.state=opening}": 1,
		"slap.shard.abandoned{slap.cluster=c}":                      2,
		"slap.peer.unreachable{slap.cluster=c}":                     1,
	})
	states, abandoned, unreachable = map[State]int{StateRunning: 4}, 0, nil
	mustBePoints(t, r, map[string]int64{
		"slap.shard.count{slap.cluster=c,slap.shard.state=running}": 4,
		"slap.shard.abandoned{slap.cluster=c}":                      0,
		"slap.peer.unreachable{slap.cluster=c}":                     0,
	})
	g.close()
	g.close()
	mustBePoints(t, r, nil)
}

func TestEVT_NodesThatCameAndWentLeaveNothingToCollect(t *testing.T) {
	r := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(r))
	read := 0
	for n := range 1_000 {
		g := newGauges(fmt.Sprint(n), provider, readings{
			func() map[State]int { read++; return map[State]int{StateRunning: 1} }, func() int { return 0 }, func() []string { return nil },
		})
		newTelemetry(fmt.Sprint(n), provider, tracenoop.NewTracerProvider())
		if n%100 == 0 {
			if got := points(t, r); len(got) != 3 {
				t.Fatalf("round %d: %v", n, got)
			}
		}
		g.close()
	}
	before := read
	mustBePoints(t, r, nil)
	if read != before {
		t.Errorf("%d callbacks are left", read-before)
	}
}

// refusing makes no instrument.
type refusing struct{ metricnoop.MeterProvider }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

type refusingMeter struct{ metricnoop.Meter }

var errRefused = errors.New("refused")

func (refusingMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errRefused
}

func (refusingMeter) Int64Histogram(string, ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	return nil, errRefused
}

func (refusingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errRefused
}

func (refusingMeter) Int64ObservableUpDownCounter(string, ...metric.Int64ObservableUpDownCounterOption) (metric.Int64ObservableUpDownCounter, error) {
	return nil, errRefused
}

func TestEVT_AProviderThatRefusesHarmsNobody(t *testing.T) {
	told := 0
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		if errors.Is(err, errRefused) {
			told++
		}
	}))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) })
	tele := newTelemetry("", refusing{}, tracenoop.NewTracerProvider())
	ctx, o := tele.begin(t.Context(), methodAsk, 0, "")
	o.end(ctx, nil)
	newGauges("", refusing{}, readings{}).close()
	NewEvents(slog.New(slog.DiscardHandler), refusing{}).Publish(messages.DurabilityLag{})
	if told != 6 {
		t.Errorf("the handler of OpenTelemetry was told %d times", told)
	}
}

func BenchmarkRequestThatNobodyObserves(b *testing.B) {
	for name, silence := range silences() {
		b.Run(name, func(b *testing.B) { observe(b, silence()) })
	}
}

func BenchmarkRequestThatIsObserved(b *testing.B) {
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	tracers := sdktrace.NewTracerProvider()
	b.Run("metrics", func(b *testing.B) { observe(b, newTelemetry("c", meters, tracenoop.NewTracerProvider())) })
	b.Run("metrics and spans", func(b *testing.B) { observe(b, newTelemetry("c", meters, tracers)) })
}

func observe(b *testing.B, tele *telemetry) {
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		of, o := tele.begin(ctx, methodAsk, 7, "a")
		o.end(of, nil)
	}
}
