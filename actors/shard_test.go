package actors

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// watchful lets a node see a fence of an idle database soon.
func watchful(c *Config) {
	c.WatchInterval = 5 * time.Millisecond
	c.Database.Settings = map[string]any{"flush_interval": nil, "manifest_poll_interval": "20ms"}
}

// unwatchful lets a node see no fence that it does not meet.
func unwatchful(c *Config) {
	c.WatchInterval = time.Hour
	c.Database.Settings = map[string]any{"flush_interval": nil, "manifest_poll_interval": "10m"}
}

func child(name string, receive actor.ReceiveFunc) supervision.ChildSpec {
	return supervision.ChildSpec{Name: name, New: func() actor.Actor { return receive }}
}

func (r *rig) put(shard int, key, value string) uint64 {
	r.t.Helper()
	seq, err := r.shardAt(shard).DB().Put(r.t.Context(), []byte(key), []byte(value), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return seq
}

func (r *rig) flushed(shard int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	if err := r.shardAt(shard).Flush(ctx); err != nil {
		r.t.Fatal(err)
	}
}

func TestCFG14_ThePathOfAShardIsPaddedForTheHighest(t *testing.T) {
	for _, c := range []struct {
		path   string
		shards int
		shard  int
		want   string
	}{
		{"", 64, 7, "shard-007"},
		{"streams", 5000, 7, "streams/shard-0007"},
		{"", 1, 0, "shard-000"},
		{"a/b", 1000, 999, "a/b/shard-999"}, // three digits are enough for 0 to 999
		{"", 1001, 7, "shard-0007"},
		{"", 1_000_000, 7, "shard-000007"},
	} {
		config := Config{Path: c.path, Shards: c.shards}
		if got := config.path(c.shard); got != c.want {
			t.Errorf("shard %d of %d: %q, want %q", c.shard, c.shards, got, c.want)
		}
	}
}

func TestCFG14_TheDatabaseIsThere(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, 2, store.Dir(dir), func(c *Config) { c.Path = "some/path" })
	r.mustOpen(1)
	if found, err := filepath.Glob(filepath.Join(dir, "some", "path", "shard-*", "manifest")); err != nil || len(found) != 1 ||
		!strings.Contains(found[0], "shard-001") {
		t.Errorf("%q, %v", found, err)
	}
}

func TestSHD1_P1_3_WhatAChildIsTold(t *testing.T) {
	options := &struct{ some string }{"thing"}
	pids := make(chan *actor.PID, 10)
	r := newRig(t, 3, store.Memory(), func(c *Config) {
		c.Cluster, c.Incarnation, c.ChildOptions = "some-cluster", "abc", options
		c.ShardChildren = func(*Shard) []supervision.ChildSpec {
			return []supervision.ChildSpec{child("a", func(c actor.Context) {
				if _, ok := c.Message().(*actor.Started); ok {
					pids <- c.Self()
				}
			})}
		}
	})
	openings := map[string]bool{}
	for round := range 3 {
		var lease *strategy.Lease
		if round == 2 {
			lease = strategy.NewLease(7, strategy.Now()+strategy.Instant(time.Hour))
		}
		r.hand.runtime.StartShard(2, lease, r.replyTo)
		r.wantReply("started", 2, nil)
		s := r.shardAt(2)
		if s.Number() != 2 || s.Cluster() != "some-cluster" || s.Options() != options || s.DB() == nil || s.Status() != Running {
			t.Errorf("%d, %q, %v, %v, %v", s.Number(), s.Cluster(), s.Options(), s.DB(), s.Status())
		}
		if want := uint64(max(0, round-1)) * 7; s.Generation() != want {
			t.Errorf("generation %d, want %d", s.Generation(), want)
		}
		if !strings.HasPrefix(s.Opening(), "abc.") || openings[s.Opening()] {
			t.Errorf("opening %q", s.Opening())
		}
		openings[s.Opening()] = true
		for _, pid := range []*actor.PID{next(t, pids), s.PID("a"), s.notifier.Load(), s.database.Load()} {
			if !strings.Contains(pid.GetId(), "/2-"+s.Opening()+"/") {
				t.Errorf("the opening %q is not part of %q", s.Opening(), pid.GetId())
			}
		}
		r.mustShut(2)
	}
}

func TestSHD2_TheStatusOnlyEverGetsWorse(t *testing.T) {
	steps := map[string]func(*status){"s": func(s *status) { s.stopping() }, "f": func(s *status) { s.fenced() }}
	for way, want := range map[string]Status{
		"": Running, "s": Stopping, "f": Fenced, "ss": Stopping, "sf": Fenced, "fs": Fenced, "sfs": Fenced, "ff": Fenced,
	} {
		var s status
		for _, step := range way {
			steps[string(step)](&s)
		}
		if got := s.get(); got != want {
			t.Errorf("%q: %v, want %v", way, got, want)
		}
	}
	for range 1000 { // a stop that races with a fence
		var s status
		var both sync.WaitGroup
		both.Go(func() { s.fenced() })
		both.Go(func() { s.stopping() })
		both.Wait()
		if got := s.get(); got != Fenced {
			t.Fatalf("%v", got)
		}
	}
}

func TestSHD2_AShardIsRunningFromItsCreation(t *testing.T) {
	s := newStage()
	s.start = make(chan struct{})
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.ShardChildren = s.children })
	r.start(0)
	next(t, s.started)
	if status := r.opening(0).Status(); status != Running {
		t.Errorf("%v while it opens", status)
	}
	close(s.start)
	r.wantReply("started", 0, nil)
}

// TestSHD3 reads the database in the first and in the last callback of three children.
func TestSHD3_ChildrenStartAfterTheOpenAndStopInReverseBeforeTheClose(t *testing.T) {
	notes := make(chan string, 100)
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.ShardChildren = func(shard *Shard) []supervision.ChildSpec {
			var specs []supervision.ChildSpec
			for _, name := range []string{"a", "b", "c"} {
				specs = append(specs, child(name, func(c actor.Context) {
					var when string
					switch c.Message().(type) {
					case *actor.Started:
						when = "starts"
					case *actor.Stopping:
						when = "stops"
					default:
						return
					}
					_, _, err := shard.DB().Get(context.Background(), []byte("k"), nil)
					notes <- fmt.Sprintf("%s %s, %v, %v", name, when, shard.Status(), err)
				}))
			}
			return specs
		}
	})
	r.mustOpen(0)
	r.mustShut(0)
	for _, want := range []string{
		"a starts, running, <nil>", "b starts, running, <nil>", "c starts, running, <nil>",
		"c stops, stopping, <nil>", "b stops, stopping, <nil>", "a stops, stopping, <nil>",
	} {
		if got := next(t, notes); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if len(notes) > 0 {
		t.Errorf("and %q", <-notes)
	}
}

// TestSHD4 looks from an actor two levels below the shard's supervisor.
func TestSHD4_API9_WhyTheShardEndsIsReadAtAnyDepthAndForEver(t *testing.T) {
	for want, end := range map[Status]func(*rig){
		Stopping: func(r *rig) { r.mustShut(0) },
		Fenced:   func(r *rig) { intrude(t, r.config.Objects, "shard-000") },
	} {
		t.Run(want.String(), func(t *testing.T) {
			seen := make(chan Status, 10)
			r := newRig(t, 1, store.Memory(), func(c *Config) {
				watchful(c)
				c.ShardChildren = func(shard *Shard) []supervision.ChildSpec {
					deep := child("deep", func(c actor.Context) {
						switch c.Message().(type) {
						case *actor.Started, *actor.Stopping, *actor.Stopped:
							seen <- shard.Status()
						}
					})
					group := func(name string, below supervision.ChildSpec) supervision.ChildSpec {
						return supervision.ChildSpec{Name: name, Supervisor: &supervision.Spec{Children: []supervision.ChildSpec{below}}}
					}
					return []supervision.ChildSpec{group("upper", group("lower", deep))}
				}
			})
			told := listen(r)
			r.mustOpen(0)
			shard := r.shardAt(0)
			end(r)
			for _, want := range []Status{Running, want, want} {
				if got := next(t, seen); got != want {
					t.Errorf("it saw %v, want %v", got, want)
				}
			}
			next(t, told.told)
			if shard.Status() != want {
				t.Errorf("after the end: %v", shard.Status())
			}
			r.mustOpen(0)
			if shard.Status() != want || r.shardAt(0).Status() != Running {
				t.Errorf("the next opening: %v, this one %v", r.shardAt(0).Status(), shard.Status())
			}
		})
	}
}

func TestSHD5_ChildrenRestartOneForOneUpToTheLimit(t *testing.T) {
	starts := make(chan string, 100)
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.ShardChildren = func(s *Shard) []supervision.ChildSpec {
			var specs []supervision.ChildSpec
			for _, name := range []string{"a", "b"} {
				w := &worker{s}
				specs = append(specs, child(name, func(c actor.Context) {
					if _, ok := c.Message().(*actor.Started); ok {
						starts <- name
					}
					w.Receive(c)
				}))
			}
			return specs
		}
	})
	told := listen(r)
	r.mustOpen(0)
	shard := r.shardAt(0)
	for range supervision.DefaultIntensity {
		if _, err := r.Ask(t.Context(), 0, "a", word("panic"), Retry{}); !errors.Is(err, messages.ErrPanicked) {
			t.Errorf("%v", err)
		}
		r.eventually("it serves again", func() bool {
			_, err := r.Ask(t.Context(), 0, "a", word("echo"), Retry{})
			return err == nil
		})
	}
	if r.shardAt(0) != shard || len(told.told) > 0 {
		t.Error("the shard went down within the limit")
	}
	r.eventually("it is too often", func() bool { // more than once if the first ones were long ago
		_, _ = r.Ask(t.Context(), 0, "a", word("panic"), Retry{})
		return len(told.told) > 0
	})
	told.want(t, "0 crashed")
	var order []string
	for len(starts) > 0 {
		order = append(order, <-starts)
	}
	if len(order) < 2+supervision.DefaultIntensity || order[0] != "a" || order[1] != "b" || slices.Contains(order[2:], "b") {
		t.Errorf("started in the order %s, want b once", order)
	}
}

func TestSHD5_AShardWithoutChildrenIsOneToo(t *testing.T) {
	r := newRig(t, 1, store.Memory(), nil)
	r.mustOpen(0)
	if _, err := r.Ask(t.Context(), 0, "a", word("echo"), Retry{}); !errors.Is(err, messages.ErrNoChild) {
		t.Errorf("%v", err)
	}
	r.put(0, "k", "v")
	r.flushed(0)
	r.mustShut(0)
}

func TestSHD6_AShardWhoseDatabaseEndedIsNotReopenedHere(t *testing.T) {
	r := newRig(t, 2, store.Memory(), nil)
	told := listen(r)
	r.mustOpen(0)
	r.crash(0)
	told.want(t, "0 crashed")
	other, err := slatedb.Open(t.Context(), r.config.Objects, "shard-000", nil) // its new owner
	if err != nil {
		t.Fatal(err)
	}
	r.mustOpen(1)
	r.mustShut(1)
	if _, err := other.Put(t.Context(), []byte("k"), nil, nil); err != nil {
		t.Errorf("the new owner was fenced: %v", err)
	}
	if err := other.Close(t.Context(), nil); err != nil {
		t.Errorf("the new owner was fenced: %v", err)
	}
}

func TestSHD7_OneHandleAndOneFlushForAllWhoWait(t *testing.T) {
	const waiters = 100
	dir := t.TempDir()
	handles := make(chan *slatedb.DB, 10)
	r := newRig(t, 1, store.Dir(dir), func(c *Config) {
		c.FlushInterval = time.Hour
		c.ShardChildren = func(shard *Shard) []supervision.ChildSpec {
			note := func(c actor.Context) {
				if _, ok := c.Message().(*actor.Started); ok {
					handles <- shard.DB()
				}
			}
			return []supervision.ChildSpec{child("a", note), child("b", note)}
		}
	})
	r.mustOpen(0)
	if a, b := next(t, handles), next(t, handles); a != b || a != r.shardAt(0).DB() {
		t.Error("there is more than one handle")
	}
	logs := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "shard-000", "wal", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	r.put(0, "k", "v") // the pace holds up what follows
	r.flushed(0)
	before := logs()
	told := make(chan bool, waiters)
	for range waiters {
		r.shardAt(0).whenDurable(waiter{seq: r.put(0, "k", "v"), tell: func(durable bool, _ error) { told <- durable }})
	}
	r.flushed(0)
	for range waiters {
		if !next(t, told) {
			t.Fatal("not durable")
		}
	}
	if made := logs() - before; made != 1 {
		t.Errorf("%d flushes for %d waiters", made, waiters)
	}
}

func TestSHD7_EveryOpenHasTheOptionsOfTheNode(t *testing.T) {
	r := newRig(t, 2, store.Memory(), func(c *Config) {
		c.Database.MergeOperator = func(_, existing, operand []byte) ([]byte, error) {
			return append(slices.Clone(existing), operand...), nil
		}
	})
	for range 2 {
		r.mustOpen(0, 1)
		for n := range 2 {
			if _, err := r.shardAt(n).DB().Merge(t.Context(), []byte("k"), []byte{'0' + byte(n)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		r.mustShut(0, 1)
	}
	r.mustOpen(0, 1)
	for n, want := range []string{"00", "11"} {
		if value, _, err := r.shardAt(n).DB().Get(t.Context(), []byte("k"), nil); string(value) != want || err != nil {
			t.Errorf("shard %d: %q, %v, want %q", n, value, err, want)
		}
	}
	bad := newRig(t, 1, store.Memory(), func(c *Config) { c.Database.Settings = map[string]any{"l0_max_sst": 1} })
	if err := bad.open(0); !errors.Is(err, slatedb.ErrInvalid) {
		t.Errorf("a bad setting reaches no open: %v", err)
	}
}

func TestSHD8_ADatabaseThatEndsUnaskedCrashesItsShard(t *testing.T) {
	r := newRig(t, 1, store.Memory(), watchful)
	told := listen(r)
	r.mustOpen(0)
	if err := r.shardAt(0).DB().Close(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	told.want(t, "0 crashed") // although nobody uses it
	if _, err := r.stateOf(0); !errors.Is(err, slatedb.ErrClosed) {
		t.Errorf("the shard is down with %v", err)
	}
}

// TestSHD9 closes a shard that has been fenced without its knowledge. The engine may be
// closed for good before it looks, and calls that a clean end although the close failed;
// then the shard cannot know better.
func TestSHD9_ACloseThatMeetsAFenceIsAFenceAndNoFailure(t *testing.T) {
	rounds := 1
	for began := time.Now(); closeFenced(t) != Fenced; rounds++ {
		if time.Since(began) > time.Minute {
			t.Fatalf("none of %d closes has seen the fence", rounds)
		}
	}
}

func closeFenced(t *testing.T) Status {
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		unwatchful(c)
		c.FlushInterval, c.DrainTimeout = time.Hour, 10*time.Millisecond
	})
	told := listen(r)
	r.mustOpen(0)
	shard := r.shardAt(0)
	r.put(0, "k", "old")
	r.flushed(0)
	lost := make(chan error, 1)
	shard.whenDurable(waiter{seq: r.put(0, "k", "lost"), tell: func(durable bool, reason error) {
		if durable {
			reason = nil
		}
		lost <- reason
	}})
	other, err := slatedb.Open(t.Context(), r.config.Objects, "shard-000", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Put(t.Context(), []byte("k"), []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	if err := other.Flush(t.Context(), slatedb.WAL); err != nil {
		t.Fatal(err)
	}
	r.stop(0)
	r.wantReply("closed", 0, nil)
	told.want(t, "0 stopped")
	if err := next(t, lost); err == nil || (shard.Status() == Fenced) != errors.Is(err, ErrFenced) {
		t.Errorf("%v: who waits is told %v", shard.Status(), err)
	}
	if err := other.Close(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	r.mustOpen(0)
	if value, _, err := r.shardAt(0).DB().Get(t.Context(), []byte("k"), nil); string(value) != "new" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
	return shard.Status()
}
