package actors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

func TestHOST1_TheHostRestartsNoShardByItself(t *testing.T) {
	r := newRig(t, 2, store.Memory(), nil)
	told := listen(r)
	if n := r.count.Load(); n != 0 {
		t.Errorf("%d openings that nobody asked for", n)
	}
	r.mustOpen(0)
	r.crash(0)
	told.want(t, "0 crashed")
	r.mustOpen(1) // the host has handled all before it
	if state, err := r.stateOf(0); state != StateUnassigned || err == nil {
		t.Errorf("shard 0 is %v, %v", state, err)
	}
	if n := r.count.Load(); n != 2 {
		t.Errorf("%d openings, want 2", n)
	}
}

func TestHOST2_EveryAnswerOfAStart(t *testing.T) {
	s := newStage()
	s.start, s.stop = make(chan struct{}, 1), make(chan struct{}, 1)
	r := newRig(t, 2, store.Memory(), func(c *Config) { c.ShardChildren = s.children })
	r.start(0)
	next(t, s.started)
	r.start(0)
	r.wantReply("started", 0, strategy.ErrAlreadyStarted) // while it opens
	s.start <- struct{}{}
	r.wantReply("started", 0, nil)
	r.start(0)
	r.wantReply("started", 0, strategy.ErrAlreadyStarted)
	r.stop(0)
	next(t, s.stopping)
	r.start(0)
	r.wantReply("started", 0, strategy.ErrClosing)
	s.stop <- struct{}{}
	r.wantReply("closed", 0, nil)
	for _, n := range []int{-1, 2} {
		r.start(n)
		r.wantReply("started", n, strategy.ErrInvalidShard)
	}
	r.start(1)
	next(t, s.started)
	r.stop(1)
	r.start(1)
	r.wantReply("started", 1, strategy.ErrClosing) // stopped while it opens
	s.start <- struct{}{}
	s.stop <- struct{}{}
	for range 2 {
		switch m := r.reply().(type) {
		case *strategy.Started:
			if !errors.Is(m.Err, strategy.ErrStopped) {
				t.Errorf("started: %v", m.Err)
			}
		case *strategy.Closed:
			if m.Err != nil {
				t.Errorf("closed: %v", m.Err)
			}
		}
	}
}

func TestHOST2_AnOpenThatFailsIsAnsweredWithItsOwnError(t *testing.T) {
	mine := errors.New("not today")
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.ShardChildren = func(*Shard) []supervision.ChildSpec {
			return []supervision.ChildSpec{{Name: "a", Ready: supervision.Manual, New: func() actor.Actor {
				return actor.ReceiveFunc(func(c actor.Context) {
					if _, ok := c.Message().(*actor.Started); ok {
						supervision.Fail(c, mine)
					}
				})
			}}}
		}
	})
	told := listen(r)
	if err := r.open(0); !errors.Is(err, mine) || errors.As(err, new(*supervision.StartError)) {
		t.Errorf("%v, want %v itself", err, mine)
	}
	if state, err := r.stateOf(0); state != StateUnassigned || !errors.Is(err, mine) {
		t.Errorf("the shard is %v, %v", state, err)
	}
	if len(told.told) > 0 {
		t.Errorf("the strategy is told %q of a shard that was never open", <-told.told)
	}
}

func TestHOST3_AStopIsAnsweredOnceTheChildrenHaveStoppedAndTheDatabaseIsFlushedAndClosed(t *testing.T) {
	key := []byte("k")
	s := newStage()
	s.stop = make(chan struct{})
	s.atStop = func(shard *Shard) error {
		if _, found, err := shard.DB().Get(context.Background(), key, nil); err != nil || !found {
			return fmt.Errorf("read %v, %w", found, err)
		}
		return nil
	}
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.ShardChildren, c.FlushInterval = s.children, time.Hour })
	if err := r.shut(0); !errors.Is(err, strategy.ErrNotStarted) {
		t.Errorf("before: %v", err)
	}
	r.mustOpen(0)
	shard := r.shardAt(0)
	for _, value := range []string{"first", "last"} { // the pace holds up the second one
		if _, err := shard.DB().Put(t.Context(), key, []byte(value), nil); err != nil {
			t.Fatal(err)
		}
	}
	r.stop(0)
	next(t, s.stopping)
	r.wantNoReply()
	if reason := shard.DB().Status().CloseReason; reason != slatedb.ReasonNone {
		t.Errorf("the database has ended (%v) before the children have", reason)
	}
	close(s.stop)
	if err := next(t, s.errs); err != nil {
		t.Errorf("the child at its stop: %v", err)
	}
	r.wantReply("closed", 0, nil)
	if reason := shard.DB().Status().CloseReason; reason != slatedb.ReasonClean {
		t.Errorf("answered with the database %v", reason)
	}
	if err := r.shut(0); !errors.Is(err, strategy.ErrNotStarted) {
		t.Errorf("afterwards: %v", err)
	}
	r.mustOpen(0)
	if value, _, err := r.shardAt(0).DB().Get(t.Context(), key, nil); string(value) != "last" || err != nil {
		t.Errorf("reopened with %q, %v", value, err)
	}
}

func TestHOST4_SUP3_OpensAndClosesRunBesideEachOtherAndTheHostAnswers(t *testing.T) {
	const shards = 8
	s := newStage()
	s.start, s.stop = make(chan struct{}), make(chan struct{})
	r := newRig(t, shards, store.Memory(), func(c *Config) { c.ShardChildren = s.children })
	answers := func() { // the host does
		r.start(shards)
		r.wantReply("started", shards, strategy.ErrInvalidShard)
	}
	for n := range shards {
		r.start(n)
	}
	for range shards {
		next(t, s.started) // all of them are in it at once
	}
	answers()
	close(s.start)
	for range shards {
		if m, ok := r.reply().(*strategy.Started); !ok || m.Err != nil {
			t.Errorf("%+v", m)
		}
	}
	for n := range shards {
		r.stop(n)
	}
	for range shards {
		next(t, s.stopping)
	}
	answers()
	close(s.stop)
	for range shards {
		if m, ok := r.reply().(*strategy.Closed); !ok || m.Err != nil {
			t.Errorf("%+v", m)
		}
	}
}

func TestHOST7_SeveralStopsWaitForOneClose(t *testing.T) {
	s := newStage()
	s.stop = make(chan struct{})
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.ShardChildren = s.children })
	told := listen(r)
	r.mustOpen(0)
	for range 3 {
		r.stop(0)
	}
	next(t, s.stopping)
	r.stop(0) // also one that comes while it closes
	r.start(1)
	r.wantReply("started", 1, strategy.ErrInvalidShard) // the host has handled it
	r.wantNoReply()
	close(s.stop)
	for range 4 {
		r.wantReply("closed", 0, nil)
	}
	told.want(t, "0 stopped")
	if len(told.told) > 0 || len(s.stopping) > 0 {
		t.Error("it was stopped more than once")
	}
}

func TestHOST9_AFenceIsReportedOnceTheShardIsDownAndHoldsUpNobody(t *testing.T) {
	s := newStage()
	s.stop = make(chan struct{})
	seen := make(chan Status, 10)
	s.atStop = func(shard *Shard) error { seen <- shard.Status(); return nil }
	r := newRig(t, 2, store.Memory(), func(c *Config) {
		c.WatchInterval = 5 * time.Millisecond
		c.Database.Settings = map[string]any{"flush_interval": nil, "manifest_poll_interval": "20ms"}
		c.ShardChildren = s.onlyOf(0)
	})
	told := listen(r)
	r.mustOpen(0)
	shard := r.shardAt(0)
	intrude(t, r.config.Objects, "shard-000")
	next(t, s.stopping)
	for range 3 { // while the child holds up the teardown
		r.mustOpen(1)
		r.mustShut(1)
		told.want(t, "1 stopped")
	}
	close(s.stop)
	if status := next(t, seen); status != Fenced {
		t.Errorf("the child saw %v", status)
	}
	told.want(t, "0 fenced")
	if !shard.closed() || shard.DB().Status().CloseReason != slatedb.ReasonFenced {
		t.Errorf("reported before the close: %v", shard.DB().Status())
	}
	if state, err := r.stateOf(0); state != StateUnassigned || !errors.Is(err, ErrFenced) {
		t.Errorf("the shard is %v, %v", state, err)
	}
	if strings.Contains(r.log.String(), "shard 0 crashed") {
		t.Errorf("a fence is logged as a crash:\n%s", r.log)
	}
}

func TestHOST10_ACrashIsReportedAndLogged(t *testing.T) {
	for name, crash := range map[string]func(*rig){
		"the database's actor ends": func(r *rig) { r.crash(0) },
		"the database is closed":    func(r *rig) { _ = r.shardAt(0).DB().Close(t.Context(), nil) },
		"children restart too often": func(r *rig) {
			r.eventually("it is too often", func() bool {
				_, _ = r.Ask(t.Context(), 0, "a", word("panic"), Retry{})
				state, _ := r.stateOf(0)
				return state == StateUnassigned
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2, store.Memory(), func(c *Config) { c.ShardChildren = workers })
			told := listen(r)
			r.mustOpen(0, 1)
			sibling := r.shardAt(1)
			crash(r)
			told.want(t, "0 crashed")
			if n := strings.Count(r.log.String(), `level=ERROR msg="shard 0 crashed: `); n != 1 {
				t.Errorf("%d errors are logged:\n%s", n, r.log)
			}
			if state, err := r.stateOf(0); state != StateUnassigned || err == nil {
				t.Errorf("the shard is %v, %v", state, err)
			}
			if r.shardAt(1) != sibling {
				t.Error("the other shard went down too")
			}
			r.mustOpen(0)
		})
	}
}

func TestHOST10_AShardThatIsFencedAlreadyIsReportedAsFenced(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.WatchInterval = time.Hour })
	told := listen(r)
	r.mustOpen(0)
	intrude(t, r.config.Objects, "shard-000")
	r.shardAt(0).status.fenced() // as a write would have met it
	r.crash(0)
	told.want(t, "0 fenced")
}

func TestHOST11_AStopIsReportedOnceClosed(t *testing.T) {
	r := newRig(t, 1, store.Memory(), nil)
	told := listen(r)
	r.mustOpen(0)
	shard := r.shardAt(0)
	closed := make(chan bool, 1)
	r.hand.down = func(n int, reason strategy.DownReason) {
		closed <- shard.closed()
		told.told <- fmt.Sprintf("%d %v", n, reason)
	}
	r.mustShut(0)
	told.want(t, "0 stopped")
	if !<-closed {
		t.Error("reported before the close")
	}
}

// panicking is a child that panics in one of its callbacks.
func panicking[T any](*Shard) []supervision.ChildSpec {
	return []supervision.ChildSpec{{Name: "a", New: func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if _, ok := c.Message().(T); ok {
				panic("as told")
			}
		})
	}}}
}

func TestHOST12_APanicInAnOpenOrACloseConcernsThatShardAlone(t *testing.T) {
	for name, c := range map[string]struct {
		children func(*Shard) []supervision.ChildSpec
		opens    bool
	}{
		"the children are asked for": {func(*Shard) []supervision.ChildSpec { panic("as told") }, false},
		"a child starts":             {panicking[*actor.Started], false},
		"a child stops":              {panicking[*actor.Stopping], true},
		"a child has stopped":        {panicking[*actor.Stopped], true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2, store.Memory(), func(config *Config) {
				config.ShardChildren = func(s *Shard) []supervision.ChildSpec {
					if s.number == 0 {
						return c.children(s)
					}
					return nil
				}
			})
			r.mustOpen(1)
			sibling := r.shardAt(1)
			for range 2 {
				err := r.open(0)
				if c.opens != (err == nil) || err != nil && !strings.Contains(err.Error(), "as told") {
					t.Errorf("opened: %v", err)
				}
				if err := r.shut(0); c.opens && err != nil || !c.opens && !errors.Is(err, strategy.ErrNotStarted) {
					t.Errorf("closed: %v", err)
				}
			}
			if r.shardAt(1) != sibling || sibling.Status() != Running {
				t.Error("the other shard went down too")
			}
		})
	}
}

func TestHOST13_P3_5_RequestsAreCarriedOutInTheirOrder(t *testing.T) {
	r := newRig(t, 4, store.Memory(), nil)
	told := listen(r)
	for round := range scaled(20, 500) {
		for n := range 4 {
			r.start(n)
			r.stop(n)
		}
		for range 8 {
			switch m := r.reply().(type) {
			case *strategy.Started:
				if m.Err != nil && !errors.Is(m.Err, strategy.ErrStopped) {
					t.Fatalf("round %d: started %d: %v", round, m.Shard, m.Err)
				}
			case *strategy.Closed: // a stop that overtook its start would find nothing
				if m.Err != nil {
					t.Fatalf("round %d: closed %d: %v", round, m.Shard, m.Err)
				}
			}
		}
		for n := range 4 {
			if state, err := r.stateOf(n); state != StateUnassigned {
				t.Fatalf("round %d: shard %d is %v, %v", round, n, state, err)
			}
			if got := next(t, told.told); !strings.HasSuffix(got, "stopped") {
				t.Fatalf("round %d: %s", round, got)
			}
		}
	}
}

// TestHOST14 ends the node's tree while one shard runs and another opens.
func TestHOST14_ShardsAreMarkedBeforeTheTreeEnds(t *testing.T) {
	for name, end := range map[string]func(*rig){
		"the node stops": func(r *rig) {
			if _, err := r.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"the host panics": func(r *rig) { // everything starts over
			r.hand.down = func(int, strategy.DownReason) { panic("as told") }
			r.stop(2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			s.start = make(chan struct{}, 2)
			seen := make(chan Status, 10)
			s.atStop = func(shard *Shard) error {
				if shard.number < 2 {
					seen <- shard.Status()
				}
				return nil
			}
			r := newRig(t, 3, store.Memory(), func(c *Config) { c.ShardChildren = s.children })
			s.start <- struct{}{}
			s.start <- struct{}{}
			r.mustOpen(2, 0)
			for range 2 {
				next(t, s.started)
			}
			r.start(1)
			next(t, s.started)
			opening := r.opening(1)
			var ends sync.WaitGroup
			ends.Go(func() { end(r) })
			r.eventually("the opening shard is marked", func() bool { return opening.Status() == Stopping })
			close(s.start)
			for range 2 {
				if status := next(t, seen); status != Stopping {
					t.Errorf("a child saw %v", status)
				}
			}
			ends.Wait()
		})
	}
}

func TestHOST15_ALateNoticeIsIgnored(t *testing.T) {
	r := newRig(t, 2, store.Memory(), nil)
	told := listen(r)
	r.mustOpen(0)
	first := fmt.Sprintf("0-%s", r.shardAt(0).opening)
	r.mustShut(0)
	told.want(t, "0 stopped")
	r.mustOpen(0)
	second := r.shardAt(0)
	for _, name := range []string{first, "1-i.9", "nonsense", ""} {
		r.system.Root.Send(r.host, exited{name: name, reason: ErrFenced})
	}
	r.mustOpen(1)
	if r.shardAt(0) != second || second.Status() != Running {
		t.Error("a notice of an older opening ended a newer one")
	}
	r.mustShut(1)
	told.want(t, "1 stopped") // and nothing before it
}

func TestHOST15_AShardThatCrashesWhileItStopsIsReportedAsStoppedOnce(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, 2, store.Memory(), func(c *Config) {
		c.DrainTimeout = time.Minute
		c.ShardChildren = func(*Shard) []supervision.ChildSpec {
			return []supervision.ChildSpec{{Name: "a", Shutdown: time.Minute, New: func() actor.Actor {
				return actor.ReceiveFunc(func(c actor.Context) {
					if _, ok := c.Message().(*wrapperspb.StringValue); ok {
						close(entered)
						<-release
					}
				})
			}}}
		}
	})
	told := listen(r)
	r.mustOpen(0, 1)
	answered := make(chan error, 1)
	go func() {
		_, err := r.Ask(t.Context(), 0, "a", word("hold"), Retry{})
		answered <- err
	}()
	next(t, entered)
	shard := r.shardAt(0)
	r.stop(0)
	r.awaitState(0, StateClosing)
	r.system.Root.Stop(shard.database.Load())
	r.eventually("the shard takes its children down", func() bool { return shard.database.Load() != nil && shard.Status() == Stopping })
	close(release)
	if err := next(t, answered); !errors.Is(err, messages.ErrOutcomeUnknown) {
		t.Errorf("the request: %v", err)
	}
	r.wantReply("closed", 0, nil)
	told.want(t, "0 stopped")
	r.mustShut(1)
	told.want(t, "1 stopped")
	r.mustOpen(0)
}
