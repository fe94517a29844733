package strategytest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slap-go/slap/strategy"
)

// callers is how many goroutines call at once.
const callers = 16

// together runs the function in several goroutines at once, and panics if one of them did.
func together(call func()) {
	var all sync.WaitGroup
	var panicked atomic.Value
	for range callers {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panicked.Store(fmt.Sprint(p))
				}
			}()
			call()
		})
	}
	all.Wait()
	if p := panicked.Load(); p != nil {
		panic(p)
	}
}

// reports sends reports of shards that did not go down.
func (s *subject) reports(reasons ...strategy.DownReason) {
	s.Helper()
	s.atOnce("HandleShardDown", func() {
		together(func() {
			for n := range s.options.Shards {
				for _, reason := range reasons {
					s.strategy.HandleShardDown(n, reason)
				}
			}
		})
	})
}

// lookups asks for every shard.
func (s *subject) lookups() {
	s.Helper()
	s.atOnce("Lookup", func() {
		together(func() {
			for n := range s.options.Shards {
				s.checkPlacement(n, s.strategy.Lookup(n))
			}
		})
	})
}

func (s *subject) checkPlacement(shard int, p strategy.Placement) {
	switch {
	case p.Here && p.Owner != (strategy.Node{}):
		s.Errorf("Lookup(%d) says Here and Owner %v: Owner is for others", shard, p.Owner)
	case p.Owner.Name == s.options.Node:
		s.Errorf("Lookup(%d) says Owner %q, which is this node: say Here", shard, p.Owner.Name)
	}
}

// checkReportsAtAnyTime reports, from many goroutines, what is not true: before there is
// an actor, while shards are open, and after the end.
func checkReportsAtAnyTime(s *subject) {
	s.reports(strategy.Stopped, strategy.Crashed, strategy.Fenced)
	here := s.run()
	s.reports(strategy.Crashed, strategy.Fenced)
	for _, n := range here {
		s.reopen(n, strategy.Crashed)
	}
	s.settle()
	s.stop()
	s.reports(strategy.Stopped, strategy.Crashed, strategy.Fenced)
}

// checkLookupAtAnyTime asks, from many goroutines, before there is an actor, while shards
// go down, and after the end.
func checkLookupAtAnyTime(s *subject) {
	s.lookups()
	here := s.run()
	for range 20 {
		told := s.node.Down(here[0], strategy.Crashed)
		s.lookups()
		s.within("HandleShardDown", told)
		s.await("the shard is opened again", func() bool { return s.served(here[0]) })
	}
	s.stop()
	s.lookups()
}

// checkNeverBlocks holds the strategy's actor up and calls everything meanwhile.
func checkNeverBlocks(s *subject) {
	here := s.run()
	s.node.Pause()
	s.down(here[0], strategy.Crashed)
	s.await("the actor is held up", func() bool { return s.node.Caught() > 0 || !s.isHere(here[0]) })
	s.lookups()
	s.reports(strategy.Crashed)
	s.refresh()
	s.node.Resume()
	s.settle()
}

// checkRefresh wants Refresh to end with its context.
func checkRefresh(s *subject) {
	s.refresh()
	s.run()
	s.refresh()
	s.stop()
	s.refresh()
}

// refresh asks for fresh placements with little time, and with none.
func (s *subject) refresh() {
	s.Helper()
	r, ok := s.strategy.(strategy.Refresher)
	if !ok {
		return
	}
	for _, d := range []time.Duration{0, 10 * time.Millisecond} {
		s.atOnce(fmt.Sprintf("Refresh with a context of %v", d), func() {
			ctx, cancel := context.WithTimeout(context.Background(), d)
			defer cancel()
			together(func() { r.Refresh(ctx, 0) })
		})
	}
}
