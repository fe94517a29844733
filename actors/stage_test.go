package actors

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// stage is a set of children that announce their callbacks and wait until they may go on.
type stage struct {
	started, stopping chan int           // the numbers of the shards whose children entered a callback
	start, stop       chan struct{}      // closed, or filled, to let the callbacks go on; nil: they do not wait
	atStop            func(*Shard) error // what a child does as it stops
	errs              chan error         // what that said
}

func newStage() *stage {
	return &stage{started: make(chan int, 100), stopping: make(chan int, 100), errs: make(chan error, 100)}
}

func (s *stage) children(shard *Shard) []supervision.ChildSpec {
	return []supervision.ChildSpec{{Name: "gated", Shutdown: time.Minute, New: func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) { s.receive(shard, c.Message()) })
	}}}
}

// onlyOf gives the children to one shard alone.
func (s *stage) onlyOf(number int) func(*Shard) []supervision.ChildSpec {
	return func(shard *Shard) []supervision.ChildSpec {
		if shard.number != number {
			return nil
		}
		return s.children(shard)
	}
}

func (s *stage) receive(shard *Shard, message any) {
	switch message.(type) {
	case *actor.Started:
		s.started <- shard.number
		if s.start != nil {
			<-s.start
		}
	case *actor.Stopping:
		s.stopping <- shard.number
		if s.stop != nil {
			<-s.stop
		}
		if s.atStop != nil {
			s.errs <- s.atStop(shard)
		}
	}
}

// downs is what a strategy is told of shards that go down.
type downs struct{ told chan string }

func listen(r *rig) *downs {
	d := &downs{told: make(chan string, 100)}
	r.hand.down = func(shard int, reason strategy.DownReason) { d.told <- fmt.Sprintf("%d %v", shard, reason) }
	return d
}

// want waits for the next report. What follows a report that must not come is another
// one that must: the host tells them in order.
func (d *downs) want(t *testing.T, want string) {
	t.Helper()
	if got := next(t, d.told); got != want {
		t.Errorf("the strategy is told %q, want %q", got, want)
	}
}

func next[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("nothing within a minute")
		panic("unreachable")
	}
}

func (r *rig) start(shard int) { r.hand.runtime.StartShard(shard, nil, r.replyTo) }
func (r *rig) stop(shard int)  { r.hand.runtime.StopShard(shard, r.replyTo) }

func (r *rig) stateOf(shard int) (State, error) {
	a := r.State(shard)
	return a.State, a.Err
}

// awaitState waits until the shard is seen in the state.
func (r *rig) awaitState(shard int, want State) {
	r.t.Helper()
	r.eventually(fmt.Sprintf("shard %d is %v", shard, want), func() bool {
		state, _ := r.stateOf(shard)
		return state == want
	})
}

// wantReply waits for the next answer: "started 0: error", "closed 1: nil".
func (r *rig) wantReply(what string, shard int, want error) {
	r.t.Helper()
	var got error
	var gotWhat string
	var n int
	switch m := r.reply().(type) {
	case *strategy.Started:
		gotWhat, n, got = "started", m.Shard, m.Err
	case *strategy.Closed:
		gotWhat, n, got = "closed", m.Shard, m.Err
	}
	if gotWhat != what || n != shard || !errors.Is(got, want) || want == nil && got != nil {
		r.t.Errorf("%s %d: %v, want %s %d: %v", gotWhat, n, got, what, shard, want)
	}
}

func (r *rig) wantNoReply() {
	r.t.Helper()
	select {
	case m := <-r.replies:
		r.t.Errorf("answered too early: %+v", m)
	default:
	}
}

func (r *rig) mustOpen(shards ...int) {
	r.t.Helper()
	for _, n := range shards {
		if err := r.open(n); err != nil {
			r.t.Fatalf("shard %d: %v", n, err)
		}
	}
}

func (r *rig) mustShut(shards ...int) {
	r.t.Helper()
	for _, n := range shards {
		if err := r.shut(n); err != nil {
			r.t.Errorf("shard %d: %v", n, err)
		}
	}
}

// crash ends the shard's database as a fault in it would.
func (r *rig) crash(shard int) { r.system.Root.Stop(r.shardAt(shard).database.Load()) }
