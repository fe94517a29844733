package strategytest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/fakenode"
)

// subject is a strategy in a node.
type subject struct {
	*testing.T
	options  Options
	system   *actor.ActorSystem
	strategy strategy.Strategy
	node     *fakenode.Node
}

func newSubject(t *testing.T, o Options, system *actor.ActorSystem, under strategy.Strategy) *subject {
	t.Helper()
	s := &subject{T: t, options: o, system: system, strategy: under}
	s.node = s.newNode()
	v, ok := under.(strategy.Validator)
	if !ok {
		return s
	}
	for range 2 {
		if err := v.Validate(strategy.Cluster{Shards: o.Shards, Node: o.Node}); err != nil {
			t.Fatalf("Validate: %v", err)
		}
	}
	return s
}

func (s *subject) newNode() *fakenode.Node {
	return fakenode.New(fakenode.Options{
		System: s.system, Name: s.options.Node, Shards: s.options.Shards, Backoff: s.options.Backoff,
	})
}

// end stops the strategy and says what it did wrong.
func (s *subject) end() {
	s.stop()
	for _, w := range s.node.Wrong() {
		s.Error(w)
	}
}

// stop stops the strategy, in time.
func (s *subject) stop() {
	s.Helper()
	s.node.Resume()
	s.halt(s.node)
}

func (s *subject) halt(node *fakenode.Node) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Wait)
	defer cancel()
	if err := node.Stop(ctx); err != nil {
		s.Errorf("the stop: %v", err)
	}
}

// launch starts the strategy in the node, and fails unless it becomes ready.
func (s *subject) launch() {
	s.Helper()
	if err := s.start(s.node); err != nil {
		s.Fatalf("it does not become ready: %v", err)
	}
}

// start starts the strategy in a node, in time.
func (s *subject) start(node *fakenode.Node) (err error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Wait)
	defer cancel()
	s.atOnce("the start", func() {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		err = node.Start(ctx, s.strategy)
	})
	return err
}

// run starts the strategy and waits until the shards that belong here are open.
func (s *subject) run() (here []int) {
	s.Helper()
	s.launch()
	return s.settle()
}

// settle waits until the shards that belong here are open, and returns them.
func (s *subject) settle() (here []int) {
	s.Helper()
	s.await("every shard that Lookup says is Here is open, and the suite needs two", func() bool {
		here = s.here()
		return len(here) > 1 && !slices.ContainsFunc(here, func(n int) bool { return !s.node.Open(n) })
	})
	return here
}

func (s *subject) here() (shards []int) {
	for n := range s.options.Shards {
		if s.isHere(n) {
			shards = append(shards, n)
		}
	}
	return shards
}

func (s *subject) isHere(shard int) bool { return s.strategy.Lookup(shard).Here }

// served says whether the shard is open, unless it does not belong here.
func (s *subject) served(shard int) bool { return s.node.Open(shard) || !s.isHere(shard) }

// down makes the shard go down and waits until the strategy was told.
func (s *subject) down(shard int, reason strategy.DownReason) {
	s.Helper()
	told := s.node.Down(shard, reason)
	s.within(fmt.Sprintf("HandleShardDown(%d, %v)", shard, reason), told)
}

// reopen makes the shard go down and waits until it is served again.
func (s *subject) reopen(shard int, reason strategy.DownReason) {
	s.Helper()
	s.down(shard, reason)
	s.await(fmt.Sprintf("shard %d is opened again after it was %v", shard, reason), func() bool { return s.served(shard) })
}

// cycle lets one shard crash and come back several times: meanwhile what is to be left
// alone would have been opened.
func (s *subject) cycle(shard int) {
	s.Helper()
	for range 3 {
		s.reopen(shard, strategy.Crashed)
	}
}

// script writes the same answers for all shards.
func (s *subject) script(answers ...error) {
	for n := range s.options.Shards {
		s.node.Script(n, answers...)
	}
}

// wantStarts says how often a start of the shard may have been asked for.
func (s *subject) wantStarts(shard, want int) {
	s.Helper()
	if got := s.node.Starts(shard); got != want {
		s.Errorf("shard %d was started %d times, want %d", shard, got, want)
	}
}

// await waits for what has to happen.
func (s *subject) await(what string, happened func() bool) {
	s.Helper()
	for deadline := clock.Now().Add(s.options.Wait); !happened(); {
		if clock.Now().After(deadline) {
			s.Fatalf("not within %v: %s", s.options.Wait, what)
		}
		s.pause(time.Millisecond)
	}
}

func (s *subject) pause(d time.Duration) { _ = clock.Sleep(context.Background(), d) }

// atOnce calls what has to return soon.
func (s *subject) atOnce(what string, call func()) {
	s.Helper()
	done := make(chan struct{})
	var panicked any
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		call()
	}()
	s.within(what, done)
	if panicked != nil {
		s.Fatalf("%s panicked: %v", what, panicked)
	}
}

// within waits for the end of a call.
func (s *subject) within(what string, done <-chan struct{}) {
	s.Helper()
	timer := clock.NewTimer(2 * s.options.Wait) // more than a call has that ends with a context
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		s.Fatalf("%s does not return", what)
	}
}
