package strategytest

import (
	"time"

	"go.uber.org/goleak"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/fakenode"
)

// checkStop stops the strategy while one shard opens and others wait to be opened.
func checkStop(s *subject) {
	ignored := goleak.IgnoreCurrent()
	here := s.run()
	s.node.Script(here[0], fakenode.ErrHold)
	s.down(here[0], strategy.Crashed)
	s.await("the shard opens", func() bool { return s.node.Starts(here[0]) == 2 || !s.isHere(here[0]) })
	for _, n := range here[1:] {
		s.down(n, strategy.Crashed)
	}
	s.stop()
	s.checkGoroutines(ignored)
	s.pause(max(10*s.options.Backoff, 50*time.Millisecond)) // what is left would ask for shards now
}

// checkGoroutines wants none that were not there before.
func (s *subject) checkGoroutines(ignored goleak.Option) {
	if s.options.SharedGoroutines {
		return
	}
	err := goleak.Find(ignored)
	for deadline := clock.Now().Add(s.options.Wait); err != nil && clock.Now().Before(deadline); {
		err = goleak.Find(ignored)
	}
	if err != nil {
		s.Errorf("goroutines are left after the stop: %v", err)
	}
}

// checkStartsOver lets the node's actors crash, and the strategy's: all shards are closed
// then, whatever was before, and open again.
func checkStartsOver(s *subject) {
	here := s.run()
	for _, kill := range []func(){s.node.KillHost, s.node.KillStrategy, s.node.KillHost} {
		s.down(here[0], strategy.Stopped)
		s.down(here[1], strategy.Crashed)
		life, starts := s.node.Lives(), s.node.Starts(here[0])
		kill()
		s.await("the node's actors start over", func() bool { return s.node.Lives() > life })
		s.await("a shard that was stopped in the life before is opened", func() bool {
			return s.node.Starts(here[0]) > starts || !s.isHere(here[0])
		})
		here = s.settle()
	}
}

// checkOneCluster hands the value to a second cluster, which has to be told so. The
// first does not notice.
func checkOneCluster(s *subject) {
	here := s.run()
	second := s.newNode()
	if err := s.start(second); err == nil {
		s.Error("the value serves two clusters at once: let its actor fail in the second, by supervision.Fail")
		s.halt(second)
	}
	for _, n := range here {
		s.reopen(n, strategy.Crashed)
	}
	s.settle()
}
