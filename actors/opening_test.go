package actors

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// TestHOST5 stops a shard while a child, or the store, holds up its open.
func TestHOST5_AStopWhileOpeningIsSeenAtOnceAndAnsweredAfterTheClose(t *testing.T) {
	t.Run("a child holds it up", func(t *testing.T) {
		s := newStage()
		s.start = make(chan struct{})
		r := newRig(t, 2, store.Memory(), func(c *Config) { c.ShardChildren = s.onlyOf(0) })
		r.start(0)
		next(t, s.started)
		stopWhileOpening(r, func() { close(s.start) })
	})
	t.Run("the store holds it up", func(t *testing.T) {
		proxy := s3test.NewProxy(t, s3test.Start(t, "bucket"))
		hold := proxy.Inject(s3test.Rule{Match: s3test.On("", "shard-000"), Fault: s3test.HoldRequest})
		r := newRig(t, 2, proxy.Store("bucket", ""), nil)
		r.start(0)
		hold.Await(t, 1)
		stopWhileOpening(r, hold.Release)
	})
}

func stopWhileOpening(r *rig, release func()) {
	r.t.Helper()
	told := listen(r)
	shard := r.opening(0)
	r.stop(0)
	r.awaitState(0, StateClosing)
	if status := shard.Status(); status != Stopping {
		r.t.Errorf("the shard is %v", status)
	}
	r.mustOpen(1) // an answer that comes too early would come before this one's
	r.wantNoReply()
	release()
	closedBefore := func() {
		if shard.DB() != nil && shard.DB().Status().CloseReason != slatedb.ReasonClean || !shard.closed() {
			r.t.Error("answered before the close")
		}
	}
	for _, what := range []string{"first", "second"} {
		switch m := r.reply().(type) {
		case *strategy.Started:
			closedBefore()
			if !errors.Is(m.Err, strategy.ErrStopped) {
				r.t.Errorf("%s: the opener: %v", what, m.Err)
			}
		case *strategy.Closed:
			closedBefore()
			if m.Err != nil {
				r.t.Errorf("%s: the stopper: %v", what, m.Err)
			}
		}
	}
	told.want(r.t, "0 stopped")
	if state, _ := r.stateOf(0); state != StateUnassigned {
		r.t.Errorf("the shard is %v", state)
	}
	r.mustOpen(0)
}

// opening is the shard whose database was opened last.
func (r *rig) opening(shard int) *Shard {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.openings[shard]
	if len(all) == 0 {
		r.t.Fatalf("shard %d was not opened", shard)
	}
	return all[len(all)-1]
}

func TestHOST6_AnOpenThatFailsWhileAStopWaits(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.ShardChildren = func(*Shard) []supervision.ChildSpec {
			close(entered)
			<-release
			return []supervision.ChildSpec{{}} // invalid
		}
	})
	told := listen(r)
	r.start(0)
	next(t, entered)
	r.stop(0)
	r.awaitState(0, StateClosing)
	close(release)
	for range 2 {
		switch m := r.reply().(type) {
		case *strategy.Started:
			if m.Err == nil || errors.Is(m.Err, strategy.ErrStopped) || !strings.Contains(m.Err.Error(), "ShardChildren") {
				t.Errorf("the opener: %v, want the open's own error", m.Err)
			}
		case *strategy.Closed:
			if m.Err != nil {
				t.Errorf("the stopper: %v", m.Err)
			}
		}
	}
	told.want(t, "0 stopped")
	if state, _ := r.stateOf(0); state != StateUnassigned {
		t.Errorf("the shard is %v", state)
	}
}

func TestHOST8_FencedWhileOpeningIsAnAnswerAndNoReport(t *testing.T) {
	s := newStage()
	s.start = make(chan struct{}, 1)
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.ShardChildren, c.WatchInterval = s.children, 5*time.Millisecond
		c.Database.Settings = map[string]any{"flush_interval": nil, "manifest_poll_interval": "20ms"}
	})
	defer close(s.start) // whatever fails
	told := listen(r)
	r.start(0)
	next(t, s.started)
	shard := r.opening(0)
	intrude(t, r.config.Objects, "shard-000")
	r.eventually("the shard goes down", func() bool {
		all, err := supervision.At(r.system, shard.pid).Children(t.Context())
		return errors.Is(err, supervision.ErrStopping) ||
			slices.ContainsFunc(all, func(c supervision.Child) bool {
				return c.Name == "database" && c.State != "running" && c.State != "leaving"
			})
	})
	s.start <- struct{}{}
	r.wantReply("started", 0, strategy.ErrFenced)
	if state, _ := r.stateOf(0); state != StateUnassigned {
		t.Errorf("the shard is %v", state)
	}
	s.start <- struct{}{}
	r.mustOpen(0)
	r.mustShut(0)
	told.want(t, "0 stopped") // and nothing before it
}

// A strategy of many shards asks of each, in every decision.
func TestP4_3_WhetherAnOpenIsInFlightCostsNothingToAsk(t *testing.T) {
	n := &Node{openings: map[int][]*Shard{}}
	for number := range 1000 {
		s := &Shard{number: number}
		s.database.Store(actor.NewPID("here", "database"))
		n.remember(s)
	}
	if !n.inFlight(7) || n.inFlight(1000) {
		t.Error("of those that are not closed it says otherwise")
	}
	if allocs := testing.AllocsPerRun(1_000, func() { n.inFlight(7); n.inFlight(1000) }); allocs > 0 {
		t.Errorf("it allocates %v times", allocs)
	}
}
