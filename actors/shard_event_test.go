package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// heard is what a reader of a rig's events has read so far.
type heard struct {
	mu  sync.Mutex
	all []messages.Event
}

func hear(r *rig) *heard {
	h := &heard{}
	ctx, cancel := context.WithCancel(context.Background())
	events, ended := r.config.Events.Read(ctx, 1_000_000), make(chan struct{})
	go func() {
		defer close(ended)
		for e := range events {
			h.mu.Lock()
			h.all = append(h.all, e)
			h.mu.Unlock()
		}
	}()
	r.t.Cleanup(func() { cancel(); <-ended })
	return h
}

func (h *heard) events() []messages.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.all)
}

// story is what a shard told, without the samples of its lag.
func (h *heard) story(number int) string {
	var words []string
	for _, e := range h.events() {
		switch e := e.(type) {
		case messages.ShardStarted, messages.ShardFenced:
			if shardOf(e) == number {
				words = append(words, e.Name())
			}
		case messages.ShardStopped:
			if e.Shard == number {
				words = append(words, fmt.Sprintf("%s(%s,%s,%t)", e.Name(), e.Reason, e.Status, e.Err != nil))
			}
		case messages.ShardFailed:
			if e.Shard == number {
				words = append(words, fmt.Sprintf("%s(%v)", e.Name(), e.Err))
			}
		case messages.ShardAbandoned:
			if e.Shard == number {
				words = append(words, fmt.Sprintf("%s(%s)", e.Name(), e.Op))
			}
		}
	}
	return strings.Join(words, " ")
}

func shardOf(e messages.Event) int {
	switch e := e.(type) {
	case messages.ShardStarted:
		return e.Shard
	case messages.ShardFenced:
		return e.Shard
	}
	return -1
}

// want waits until the shard has told as much as wanted. A text that ends with … stands
// for all that begin so.
func (h *heard) want(r *rig, number int, want string) {
	r.t.Helper()
	start, open := strings.CutSuffix(want, "…")
	r.eventually("the shard's story is told: "+want, func() bool { return len(h.story(number)) >= len(start) })
	if got := h.story(number); got != want && (!open || !strings.HasPrefix(got, start)) {
		r.t.Errorf("shard %d tells\n%s, want\n%s", number, got, want)
	}
}

func TestSHD10_AShardTellsOfItsLifeInOrderEachThingOnce(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Config)
		end    func(*rig)
		want   string
	}{
		{"stop", nil, func(r *rig) { r.mustShut(0) }, "shard.start shard.stop(stopped,stopping,false)"},
		{"fence", nil, func(r *rig) { intrude(r.t, r.config.Objects, "shard-000") }, "shard.start shard.fenced shard.stop(fenced,fenced,false)"},
		{"crash", nil, func(r *rig) { r.crash(0) }, "shard.start shard.stop(crashed,stopping,true)"},
		{"children fail", func(c *Config) {
			c.ShardChildren = func(*Shard) []supervision.ChildSpec { panic("as told") }
		}, nil, "shard.start shard.stop(crashed,stopping,true)"},
		{"a child fails", func(c *Config) {
			c.ShardChildren = func(*Shard) []supervision.ChildSpec {
				return []supervision.ChildSpec{{Name: "a", New: func() actor.Actor {
					return actor.ReceiveFunc(func(actor.Context) { panic("as told") })
				}}}
			}
		}, nil, "shard.start shard.stop(crashed,stopping,true)"},
		{"open fails", func(c *Config) { c.Database.Settings = map[string]any{"no_such_setting": 1} }, nil, "shard.failed(open shard-000: …"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, 1, store.Memory(), test.change)
			h := hear(r)
			if err := r.open(0); (err == nil) != (test.end != nil) {
				t.Fatal(err)
			}
			if test.end != nil {
				test.end(r)
			}
			h.want(r, 0, test.want)
		})
	}
}

func TestSHD10_EveryEventOfAShardHasItsClusterGenerationAndOpening(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.Cluster, c.LagInterval = "c", time.Millisecond })
	h := hear(r)
	r.hand.runtime.StartShard(0, strategy.NewLease(7, strategy.Now().Add(time.Hour)), r.replyTo)
	r.reply()
	want := messages.ShardOrigin{Origin: messages.Origin{Cluster: "c"}, Generation: 7, Opening: r.shardAt(0).Opening()}
	r.eventually("a sample of the lag", func() bool {
		return slices.ContainsFunc(h.events(), func(e messages.Event) bool { _, is := e.(messages.DurabilityLag); return is })
	})
	intrude(t, r.config.Objects, "shard-000")
	h.want(r, 0, "shard.start shard.fenced shard.stop(fenced,fenced,false)")
	for _, e := range h.events() {
		var got messages.ShardOrigin
		switch e := e.(type) {
		case messages.ShardStarted:
			got = e.ShardOrigin
		case messages.ShardFenced:
			got = e.ShardOrigin
		case messages.ShardStopped:
			got = e.ShardOrigin
		case messages.DurabilityLag:
			got = e.ShardOrigin
		default:
			continue
		}
		if got.Time.IsZero() || time.Since(got.Time) > time.Hour {
			t.Errorf("%v happened at %v", e, got.Time)
		}
		if got.Time = (time.Time{}); got != want {
			t.Errorf("%v comes from %+v, want %+v", e, got, want)
		}
	}
}

// TestSHD10_AFenceIsToldOnceWhoeverSeesItFirst lets the watch, a flush and the close
// find the same fence.
func TestSHD10_AFenceIsToldOnceWhoeverSeesItFirst(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.WatchInterval = time.Millisecond
		c.Database.Settings = map[string]any{"flush_interval": nil, "manifest_poll_interval": "20ms"}
	})
	h := hear(r)
	for round := range scaled(20, 200) {
		r.mustOpen(0)
		db := r.shardAt(0).DB()
		intrude(t, r.config.Objects, "shard-000")
		db.PutAsync([]byte("k"), nil, nil, func(uint64, error) {})
		if round%2 == 0 {
			_ = r.shut(0)
		}
		r.awaitState(0, StateUnassigned)
	}
	var stories []string
	r.eventually("all openings have ended", func() bool {
		stories = strings.Split(h.story(0), "shard.start ")[1:]
		return len(stories) == scaled(20, 200) && strings.Count(h.story(0), "shard.stop(") == len(stories)
	})
	for round, story := range stories {
		switch story = strings.TrimSpace(story); {
		case story == "shard.fenced shard.stop(fenced,fenced,false)", story == "shard.fenced shard.stop(stopped,fenced,false)":
		case round%2 == 0 && story == "shard.stop(stopped,stopping,false)": // stopped before anybody could see it
		case round%2 == 0 && story == "shard.stop(stopped,stopping,true)": // the engine's close says closed, not fenced
		default:
			t.Errorf("round %d: the opening tells %q", round, story)
		}
	}
}

// tap calls a function for each record of a log before it returns to who logs.
type tap struct {
	slog.Handler
	on func(message string)
}

func (h *tap) Enabled(context.Context, slog.Level) bool { return true }

func (h *tap) Handle(_ context.Context, r slog.Record) error {
	h.on(r.Message)
	return nil
}

func TestSHD10_StartComesBeforeTheChildrenAndStopAfterTheClose(t *testing.T) {
	var told sync.Map
	var r *rig
	var shard *Shard
	on := func(message string) {
		told.Store(message, true)
		if message == "shard 0 stopped" && !shard.closed() {
			t.Error("told of the stop before the close")
		}
		if message == "shard 0 started" && shard != nil {
			t.Error("told of the start after a child's")
		}
	}
	r = newRig(t, 1, store.Memory(), func(c *Config) {
		c.Events = NewEvents(slog.New(&tap{slog.DiscardHandler, on}), metricnoop.NewMeterProvider())
		c.ShardChildren = func(s *Shard) []supervision.ChildSpec {
			return []supervision.ChildSpec{{Name: "a", New: func() actor.Actor {
				return actor.ReceiveFunc(func(c actor.Context) {
					if _, is := c.Message().(*actor.Started); !is {
						return
					}
					if shard = s; s.DB() == nil {
						t.Error("a child starts before the open")
					}
					if _, is := told.Load("shard 0 started"); !is {
						t.Error("a child starts before the start is told")
					}
				})
			}}}
		}
	})
	r.mustOpen(0)
	r.mustShut(0)
	if _, is := told.Load("shard 0 stopped"); !is {
		t.Error("the stop is not told before the strategy hears of it")
	}
}

func TestSHD10_AStopOfTheNodeStopsItsShards(t *testing.T) {
	var h *heard
	t.Run("node", func(t *testing.T) {
		r := newRig(t, 3, store.Memory(), nil)
		h = hear(r)
		r.mustOpen(0, 1)
		if _, err := r.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.want(r, 0, "shard.start shard.stop(stopped,stopping,false)")
		h.want(r, 1, "shard.start shard.stop(stopped,stopping,false)")
	})
	if got := h.story(2); got != "" {
		t.Errorf("a shard that was never opened tells %s", got)
	}
}

func TestP4_3_WhatTakesTooLongIsToldAndShownUntilItEnds(t *testing.T) {
	proxy := s3test.NewProxy(t, s3test.Start(t, "bucket"))
	hold := proxy.Inject(s3test.Rule{Match: s3test.On("", "shard-000"), Fault: s3test.HoldRequest})
	reader := sdkmetric.NewManualReader()
	r := newRig(t, 2, proxy.Store("bucket", ""), func(c *Config) {
		c.OpenTimeout, c.CloseTimeout, c.MeterProvider = 500*time.Millisecond, 500*time.Millisecond, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	})
	abandoned := func() int64 { return points(t, reader)["slap.shard.abandoned{}"] }
	h := hear(r)
	if err := r.open(0); !errors.Is(err, errOpenAbandoned) {
		t.Fatal(err)
	}
	h.want(r, 0, "shard.abandoned(open) shard.failed("+errOpenAbandoned.Error()+")")
	if n := abandoned(); n != 1 {
		t.Errorf("%d shards are shown", n)
	}
	hold.Release()
	r.eventually("the open has ended", func() bool { return abandoned() == 0 })

	r.eventually("the other shard opens", func() bool { return r.open(1) == nil })
	hold = proxy.Inject(s3test.Rule{Match: s3test.On("", "shard-001"), Fault: s3test.HoldRequest})
	if _, err := r.shardAt(1).DB().Put(t.Context(), []byte("k"), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.shut(1); !errors.Is(err, errCloseAbandoned) {
		t.Errorf("%v", err)
	}
	if got := h.story(1); !strings.HasSuffix(got, "shard.start shard.abandoned(close) shard.stop(stopped,stopping,false)") {
		r.eventually("the abandoned close is told", func() bool {
			return strings.HasSuffix(h.story(1), "shard.start shard.abandoned(close) shard.stop(stopped,stopping,false)")
		})
	}
	if n := abandoned(); n != 1 {
		t.Errorf("%d shards are shown", n)
	}
	hold.Release()
	r.eventually("the close has ended", func() bool { return abandoned() == 0 })
}

func TestSHD11_TheLagIsWhatIsWrittenAndNotDurable(t *testing.T) {
	const interval = 20 * time.Millisecond
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.FlushInterval, c.LagInterval = time.Hour, interval })
	h := hear(r)
	r.mustOpen(0)
	lags := func() (all []messages.DurabilityLag) {
		for _, e := range h.events() {
			if lag, is := e.(messages.DurabilityLag); is {
				all = append(all, lag)
			}
		}
		return all
	}
	put := func() {
		if _, err := r.shardAt(0).DB().Put(t.Context(), []byte("k"), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	last := func(want uint64) {
		t.Helper()
		from := len(lags())
		r.eventually(fmt.Sprintf("the lag is %d", want), func() bool {
			all := lags()
			return len(all) > from && all[len(all)-1].Lag == want
		})
	}
	last(0)
	put() // is flushed at once; the next flush may begin in an hour
	last(0)
	for range 5 {
		put()
	}
	last(5)
	if err := r.shardAt(0).Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	last(0)
	started, ok := h.events()[slices.IndexFunc(h.events(), func(e messages.Event) bool { return e.Name() == "shard.start" })].(messages.ShardStarted)
	if first := lags()[0]; !ok || first.Time.Sub(started.Time) < interval {
		t.Errorf("the first sample is %v after the start", lags()[0].Time.Sub(started.Time))
	}
	for i, lag := range lags()[1:] {
		if gap := lag.Time.Sub(lags()[i].Time); gap < interval {
			t.Errorf("sample %d comes %v after the one before", i+1, gap)
		}
	}
	r.mustShut(0)
	r.eventually("the stop is told", func() bool { return strings.Contains(h.story(0), "shard.stop") })
	n := len(lags())
	time.Sleep(3 * interval)
	if more := len(lags()); more != n {
		t.Errorf("%d samples after the end", more-n)
	}
}

func TestSHD11_TheLagIsNeverNegative(t *testing.T) {
	r := newRig(t, 1, store.Memory(), nil)
	r.mustOpen(0)
	shard := r.shardAt(0)
	seq, err := shard.DB().Put(t.Context(), []byte("k"), nil, nil)
	if err == nil {
		err = shard.Flush(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	shard.written.Store(seq - 1) // as if the write's number were not noted yet
	if lag := shard.lag(); lag != 0 {
		t.Errorf("the lag is %d", lag)
	}
}
