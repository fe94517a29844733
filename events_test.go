package slap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/testlog"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/local"
)

// journal is a log that tests read.
type journal struct{ testlog.Buffer }

// logger writes to the journal from a level on.
func (j *journal) logger(from slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: from}))
}

// lines are those with all of the words.
func (j *journal) lines(words ...string) (all []string) {
	for line := range strings.Lines(j.String()) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			all = append(all, line)
		}
	}
	return all
}

// collect reads all events in the background; the function it returns waits for the end.
func collect(events iter.Seq[slap.Event]) (wait func() []slap.Event) {
	var all []slap.Event
	done := make(chan struct{})
	go func() {
		defer close(done)
		all = slices.Collect(events)
	}()
	return func() []slap.Event { <-done; return all }
}

func named(all []slap.Event, name string) (found []slap.Event) {
	for _, e := range all {
		if e.Name() == name {
			found = append(found, e)
		}
	}
	return found
}

func TestEVT_AReaderFromBeforeTheStartMissesNothing(t *testing.T) {
	cluster := newCluster(t, slap.Config{Store: store.Memory(), Cluster: "c", Shards: 3, ShardChildren: counters})
	wait := collect(cluster.Events(t.Context(), 1000))
	if err := cluster.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	stopCluster(t, cluster)
	all := wait()
	if len(all) < 8 || all[0].Name() != "probe" {
		t.Fatalf("the events are %v", all)
	}
	for name, count := range map[string]int{"probe": 1, "shard.start": 3, "shard.stop": 3, "supervisor.started": 8, "supervisor.stopped": 8} {
		if found := named(all, name); len(found) != count {
			t.Errorf("%s: %d events, want %d", name, len(found), count)
		}
	}
	for i, e := range all {
		if e.From().Cluster != "c" || e.From().Time.IsZero() {
			t.Errorf("%v comes from %+v", e, e.From())
		}
		if i > 0 && e.From().Time.Before(all[0].From().Time) {
			t.Errorf("%v comes before the first one", e)
		}
	}
	if last, ok := all[len(all)-1].(slap.SupervisorEvent); !ok || last.String() != "supervisor slap-c stopped: shutdown" {
		t.Errorf("the last event is %v", all[len(all)-1])
	}
	for e := range cluster.Events(t.Context(), 1) {
		t.Errorf("%v after the end", e)
	}
}

func TestEVT_AClusterThatNeverStartsEndsItsReaders(t *testing.T) {
	cluster := newCluster(t, slap.Config{Store: store.Memory(), Shards: 1})
	wait := collect(cluster.Events(context.Background(), 10))
	stopCluster(t, cluster)
	if all := wait(); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

// TestEVT_NothingIsInTheLogTwice lets a shard be fenced, crash and stop, and looks for
// the line of each event.
func TestEVT_NothingIsInTheLogTwice(t *testing.T) {
	log, s := &journal{}, store.Memory()
	cluster := newCluster(t, slap.Config{
		Store: s, Shards: 1, ShardChildren: newStubs().children, Strategy: newLocal(t),
		Logger: log.logger(slog.LevelDebug), LagInterval: 50 * time.Millisecond,
	})
	wait := collect(cluster.Events(t.Context(), 100_000))
	if err := cluster.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	fence(t, s, "shard-000")
	eventually(t, "the shard is fenced and back", func() bool { return len(log.lines("shard 0 started")) >= 2 && cluster.Ready() })
	eventually(t, "the shard crashes", func() bool {
		_ = say(within(t, time.Minute), cluster, "a", "panic")
		return len(log.lines("level=ERROR", "shard 0 crashed")) > 0
	})
	eventually(t, "the shard is back", cluster.Ready)
	stopCluster(t, cluster)

	all := wait()
	counted := map[string]int{}
	for _, e := range all {
		counted[e.String()]++
	}
	for text, events := range counted {
		if n := len(log.lines("msg=" + quotedIn(text) + " ")); n != events {
			t.Errorf("%q: %d events, %d lines", text, events, n)
		}
	}
	for _, about := range []string{"fenced", "crashed"} { // nobody else tells of it
		for _, line := range append(log.lines("level=WARN", about), log.lines("level=ERROR", about)...) {
			if !strings.Contains(line, "opening=") {
				t.Errorf("told by somebody else: %s", line)
			}
		}
	}
	if starts, stops := len(named(all, "shard.start")), len(named(all, "shard.stop")); stops < 3 || stops != starts {
		t.Errorf("%d starts, %d stops", starts, stops)
	}
}

// quotedIn is a text as the text handler of a log writes it.
func quotedIn(text string) string {
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info(text)
	_, msg, _ := strings.Cut(strings.TrimSpace(b.String()), "msg=")
	return msg
}

func TestLOC4_AFenceIsLoggedAsAnErrorWithWhatItCanMean(t *testing.T) {
	log, s := &journal{}, store.Memory()
	once, err := local.New(local.Options{BackoffBase: time.Hour, BackoffMax: time.Hour}) // it does not fence in turn
	if err != nil {
		t.Fatal(err)
	}
	cluster := startCluster(t, slap.Config{Store: s, Shards: 2, Strategy: once, Logger: log.logger(slog.LevelInfo)})
	fence(t, s, "shard-001")
	eventually(t, "the fence is logged", func() bool { return len(log.lines("level=ERROR", "second instance", "shard=1")) == 1 })
	stopCluster(t, cluster)
	errs := slices.DeleteFunc(log.lines("level=ERROR"), func(line string) bool { return strings.Contains(line, "target=slatedb") })
	if len(errs) != 1 {
		t.Errorf("the errors are %q", errs)
	}
}

func TestEVT_APlainLifeIsQuiet(t *testing.T) {
	log := &journal{}
	cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 2, ShardChildren: counters, Logger: log.logger(slog.LevelInfo)})
	if _, err := increment(t.Context(), cluster, "k"); err != nil {
		t.Fatal(err)
	}
	stopCluster(t, cluster)
	if log.String() != "" {
		t.Errorf("the log is\n%s", log)
	}
}

func TestPRB6_AFailureIsAnEventAndALineWithoutCredentials(t *testing.T) {
	const key, secret = "AKIAEXAMPLEEXAMPLE00", "sEcReTsEcReTsEcReTsEcReTsEcReTsEcReTsEcR"
	log := &journal{}
	cluster := newCluster(t, slap.Config{
		Store: store.S3(store.S3Options{
			Bucket: "bucket", Region: "us-east-1", Endpoint: "http://127.0.0.1:1", RequestTimeout: time.Second,
			Credentials: credentials.NewStaticCredentialsProvider(key, secret, ""),
		}),
		Shards: 1, Logger: log.logger(slog.LevelDebug),
	})
	wait := collect(cluster.Events(t.Context(), 10))
	err := cluster.Start(within(t, time.Minute))
	if err == nil {
		t.Fatal("it started")
	}
	all := wait()
	if len(all) != 1 {
		t.Fatalf("the events are %v", all)
	}
	probed, ok := all[0].(slap.Probed)
	if !ok || probed.OK() || !errors.Is(err, probed.Err) {
		t.Errorf("the event is %+v", all[0])
	}
	if lines := log.lines("level=ERROR", "probe", "127.0.0.1:1", "bucket"); len(lines) != 1 {
		t.Errorf("the log is\n%s", log)
	}
	for _, text := range []string{log.String(), fmt.Sprint(all[0].Attrs()), all[0].String(), err.Error()} {
		if strings.Contains(text, secret) || strings.Contains(text, key) {
			t.Errorf("the credentials are in %s", text)
		}
	}
}

func TestPRB6_ASuccessIsAnEventAndALineForDebugging(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		log := &journal{}
		cluster := newCluster(t, slap.Config{Store: store.Memory(), Cluster: "c", Shards: 1, Logger: log.logger(level)})
		wait := collect(cluster.Events(t.Context(), 100))
		if err := cluster.Start(within(t, time.Minute)); err != nil {
			t.Fatal(err)
		}
		stopCluster(t, cluster)
		probed, ok := wait()[0].(slap.Probed)
		if !ok || !probed.OK() || probed.Cluster != "c" || probed.Store != "memory:///" {
			t.Errorf("the event is %+v", probed)
		}
		want := 0
		if level == slog.LevelDebug {
			want = 1
		}
		if lines := log.lines("probe"); len(lines) != want {
			t.Errorf("at %v: %q", level, lines)
		}
	}
}

// collected are the metrics that a reader sees.
func collected(t *testing.T, r metric.Reader) map[string]metricdata.Aggregation {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	metrics := map[string]metricdata.Aggregation{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			metrics[m.Name] = m.Data
		}
	}
	return metrics
}

// TestEVT_ClustersThatStopLeaveNothingInTheReaderOfMetrics finds after each stop only
// what was counted, of which a reader sees the sum for ever: the same series every time.
func TestEVT_ClustersThatStopLeaveNothingInTheReaderOfMetrics(t *testing.T) {
	rounds := 5
	if stress {
		rounds = 1_000
	}
	r := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(r))
	counted := []string{"slap.event.published", "slap.request.duration", "slap.shard.durability.lag"}
	for round := range rounds {
		cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 2, ShardChildren: counters, MeterProvider: provider})
		if _, err := increment(t.Context(), cluster, "k"); err != nil {
			t.Fatal(err)
		}
		running := collected(t, r)
		for _, name := range []string{"slap.shard.count", "slap.shard.abandoned", "slap.event.published", "slap.request.duration", "slatedb.db.request_count"} {
			if running[name] == nil {
				t.Fatalf("round %d: there is no %s", round, name)
			}
		}
		stopCluster(t, cluster)
		for name, data := range collected(t, r) {
			_, engine := data.(metricdata.Histogram[float64])
			if !slices.Contains(counted, name) && (!engine || !strings.HasPrefix(name, "slatedb.")) {
				t.Fatalf("round %d: %s is left", round, name)
			}
			if sum, ok := data.(metricdata.Sum[int64]); ok && len(sum.DataPoints) > 20 {
				t.Fatalf("round %d: %s has %d series", round, name, len(sum.DataPoints))
			}
		}
	}
}

func TestEVT_AskAndCallAreSpansOfTheirCallerAndAroundTheHandler(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	var inside oteltrace.SpanContext
	cluster := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 1, ShardChildren: newStubs().children, TracerProvider: provider,
		Handlers: map[string]slap.Handler{"h": func(ctx context.Context, _ *slap.Shard, m proto.Message) (proto.Message, error) {
			inside = oteltrace.SpanContextFromContext(ctx)
			return m, nil
		}},
	})
	ctx, caller := provider.Tracer("test").Start(within(t, time.Minute), "caller")
	if err := say(ctx, cluster, "a", "echo"); err != nil {
		t.Fatal(err)
	}
	if err := say(ctx, cluster, "nobody", "echo"); err == nil {
		t.Fatal("nobody answered")
	}
	if _, err := cluster.Call(ctx, 0, "h", wrapperspb.String("x")); err != nil {
		t.Fatal(err)
	}
	caller.End()
	stopCluster(t, cluster)
	var names []string
	for _, span := range recorder.Ended() {
		names = append(names, span.Name())
		if span.Name() != "caller" && span.Parent().SpanID() != caller.SpanContext().SpanID() {
			t.Errorf("%s is not the caller's", span.Name())
		}
		if span.Name() == "slap.call" && span.SpanContext().SpanID() != inside.SpanID() {
			t.Error("the handler does not run in the span of its call")
		}
	}
	if want := []string{"slap.ask", "slap.ask", "slap.call", "caller"}; !slices.Equal(names, want) {
		t.Errorf("the spans are %q, want %q", names, want)
	}
}
