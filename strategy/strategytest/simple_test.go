package strategytest_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// pause is how long the simple strategy waits before it opens a shard again.
const pause = 20 * time.Millisecond

// simple is a strategy for the suite to look at: even shards are opened here, odd ones
// belong elsewhere. Each of its bugs can be switched on.
type simple struct {
	bugs map[string]bool

	mu     sync.Mutex // held too long by the bug that locks
	serves atomic.Bool
	self   atomic.Pointer[actor.PID]
	root   atomic.Pointer[actor.RootContext]
	known  map[int]bool // used by the bugs that remember
	asked  int          // used by the bug that does not lock
}

func newSimple(bugs ...string) *simple {
	s := &simple{bugs: map[string]bool{}, known: map[int]bool{}}
	for _, b := range bugs {
		s.bugs[b] = true
	}
	return s
}

func (s *simple) Validate(c strategy.Cluster) error {
	if s.bugs["refuses its cluster"] {
		return errors.New("as told")
	}
	return nil
}

func (s *simple) Child(r strategy.Runtime) supervision.ChildSpec {
	spec := supervision.ChildSpec{
		Name: "strategy", Ready: supervision.Manual,
		New: func() actor.Actor { return &worker{simple: s, runtime: r, state: map[int]string{}} },
	}
	switch {
	case s.bugs["panics in Child"]:
		panic("as told")
	case s.bugs["has no name"]:
		spec.Name = ""
	case s.bugs["is temporary"]:
		spec.Restart = supervision.Temporary
	case s.bugs["starts shards in Child"]:
		r.StartShard(0, nil, nil)
	}
	return spec
}

func (s *simple) Lookup(shard int) strategy.Placement {
	switch {
	case s.bugs["locks"]:
		s.mu.Lock()
		defer s.mu.Unlock()
	case s.bugs["does not lock"]:
		s.asked++
	case s.bugs["looks up after the start only"]:
		_ = s.self.Load().GetId() + s.root.Load().Self().GetId()
	case s.bugs["says Here and where"]:
		return strategy.Placement{Here: shard%2 == 0, Owner: strategy.Node{Name: "node"}}
	case s.bugs["owns one shard"]:
		return strategy.Placement{Here: shard == 0}
	}
	if shard%2 == 0 {
		return strategy.Placement{Here: true}
	}
	return strategy.Placement{Owner: strategy.Node{Name: "other"}}
}

func (s *simple) HandleShardDown(shard int, reason strategy.DownReason) {
	if s.bugs["locks for downs"] {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	self, root := s.self.Load(), s.root.Load()
	switch {
	case s.bugs["panics without an actor"] && self == nil:
		panic("as told")
	case self == nil:
		return
	case s.bugs["waits for its actor"]:
		_ = root.RequestFuture(self, down{shard, reason}, time.Minute).Wait()
	default:
		root.Send(self, down{shard, reason})
	}
}

func (s *simple) Refresh(ctx context.Context, _ int) {
	if s.bugs["refreshes for ever"] {
		<-context.WithoutCancel(ctx).Done()
	}
}

// Messages to the worker.
type (
	down struct {
		shard  int
		reason strategy.DownReason
	}
	again struct{ shard int }
)

// worker is the strategy's actor.
type worker struct {
	*simple
	runtime strategy.Runtime
	state   map[int]string // opening, open, waiting or parked
	untried int
	holder  bool
}

func (w *worker) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		w.start(c)
	case *actor.Stopping:
		w.end()
	case *strategy.Started:
		w.attempted(c, m)
	case down:
		w.down(c, m)
	case again:
		if w.state[m.shard] == "waiting" {
			w.open(c, m.shard)
		}
	}
}

func (w *worker) start(c actor.Context) {
	if !w.bugs["serves everybody"] && !w.serves.CompareAndSwap(false, true) {
		supervision.Fail(c, errors.New("serves another cluster"))
		return
	}
	w.holder = true
	w.self.Store(c.Self())
	w.root.Store(c.ActorSystem().Root)
	if w.bugs["leaves a goroutine"] {
		go func() { time.Sleep(time.Minute) }()
	}
	for n := 0; n < w.runtime.Shards(); n += w.step() {
		switch {
		case w.bugs["forgets a shard"] && n == 2, w.bugs["owns one shard"] && n > 0, w.bugs["remembers"] && w.known[n]:
			continue
		}
		w.untried++
		w.open(c, n)
		if w.bugs["starts a shard twice"] && n == 0 {
			w.open(c, n)
		}
	}
	if w.bugs["starts what is not there"] {
		w.runtime.StartShard(w.runtime.Shards(), nil, c.Self())
	}
	if w.untried == 0 {
		supervision.Ready(c)
	}
}

// step is the distance between the shards that it opens.
func (w *worker) step() int {
	if w.bugs["opens what is another's"] {
		return 1
	}
	return 2
}

func (w *worker) end() {
	if !w.holder {
		return
	}
	w.serves.Store(false)
	if w.bugs["asks after its end"] {
		time.AfterFunc(pause/2, func() { w.runtime.StartShard(0, nil, w.self.Load()) })
	}
	if w.bugs["hangs in its stop"] {
		time.Sleep(time.Minute)
	}
}

func (w *worker) open(c actor.Context, shard int) {
	w.state[shard] = "opening"
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.bugs["locks"] && !w.bugs["locks for downs"] {
		w.mu.Unlock()
		defer w.mu.Lock()
	}
	switch {
	case w.bugs["gives a lease that is over"]:
		w.runtime.StartShard(shard, strategy.NewLease(1, 1), c.Self())
	case w.bugs["wants no answer"]:
		w.runtime.StartShard(shard, nil, nil)
	default:
		w.runtime.StartShard(shard, nil, c.Self())
	}
}

func (w *worker) attempted(c actor.Context, m *strategy.Started) {
	first := w.state[m.Shard] == "opening" && w.untried > 0
	switch {
	case m.Err == nil:
		w.state[m.Shard], w.known[m.Shard] = "open", true
	case w.bugs["dies of a failure"]:
		panic(m.Err)
	case w.bugs["never tries again"]:
		w.state[m.Shard] = "open"
	case w.bugs["waits for a failed shard"]:
		w.later(c, m.Shard)
		first = false
	case errors.Is(m.Err, strategy.ErrStopped):
		w.state[m.Shard] = "parked"
	case errors.Is(m.Err, strategy.ErrAlreadyStarted):
		w.state[m.Shard] = "open"
		if w.bugs["forgets what is open"] {
			w.state[m.Shard] = "parked"
		}
	case w.bugs["all for a failure"]:
		for n := range w.state {
			w.runtime.StopShard(n, c.Self())
			w.later(c, n)
		}
	default:
		w.later(c, m.Shard)
	}
	if first {
		if w.untried--; w.untried == 0 && !w.bugs["is never ready"] {
			supervision.Ready(c)
		}
	}
}

func (w *worker) down(c actor.Context, m down) {
	if w.bugs["waits for its actor"] {
		c.Respond(m)
	}
	switch {
	case w.state[m.shard] == "opening", w.state[m.shard] == "parked" && w.bugs["forgets what is open"], w.state[m.shard] == "":
	case m.reason == strategy.Stopped && !w.bugs["opens what was stopped"]:
		w.state[m.shard] = "parked"
	case w.bugs["ignores "+m.reason.String()]:
	case w.bugs["believes reports only once"] && w.known[-1-m.shard]:
	case w.state[m.shard] != "waiting":
		w.known[-1-m.shard] = true
		w.later(c, m.shard)
	}
}

// later opens the shard after the pause.
func (w *worker) later(c actor.Context, shard int) {
	w.state[shard] = "waiting"
	root, self := c.ActorSystem().Root, c.Self()
	switch {
	case w.bugs["makes no pause"]:
		root.Send(self, again{shard})
	case w.bugs["one at a time"] && w.opening():
		time.AfterFunc(pause, func() { root.Send(self, down{shard, strategy.Crashed}) })
		w.state[shard] = "open"
	default:
		time.AfterFunc(pause, func() { root.Send(self, again{shard}) })
	}
}

func (w *worker) opening() bool {
	for _, state := range w.state {
		if state == "opening" {
			return true
		}
	}
	return false
}
