package strategytest

import (
	"errors"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/fakenode"
)

var errOpen = errors.New("the open failed")

// checkStarts wants each shard opened once where it belongs.
func checkStarts(s *subject) {
	s.run()
	for n := range s.options.Shards {
		p, want := s.strategy.Lookup(n), 0
		if p.Here {
			want = 1
		}
		s.wantStarts(n, want)
	}
}

// checkStartFails lets the first starts of all shards fail: the strategy becomes ready
// all the same, and opens them later.
func checkStartFails(s *subject) {
	s.script(errOpen, strategy.ErrClosing, strategy.ErrFenced)
	s.run()
}

// checkStartAlreadyStarted lets somebody else open the shards first. They are open, so
// that they come back when they go down.
func checkStartAlreadyStarted(s *subject) {
	s.script(strategy.ErrAlreadyStarted)
	for _, n := range s.run() {
		s.reopen(n, strategy.Crashed)
	}
}

// checkStartStopped lets somebody stop all shards while they open for the first time.
func checkStartStopped(s *subject) {
	s.script(strategy.ErrStopped)
	s.launch()
	for _, n := range s.here() {
		s.wantStarts(n, 1)
	}
}

// checkOpenFails lets one shard fail in each way. The others do not notice.
func checkOpenFails(s *subject) {
	here := s.run()
	s.node.Script(here[0], errOpen, strategy.ErrFenced, strategy.ErrClosing)
	s.reopen(here[0], strategy.Crashed)
	for _, n := range here[1:] {
		s.wantStarts(n, 1)
	}
	s.settle()
}

// checkOpenHangs lets one shard open for ever. The others come back meanwhile.
func checkOpenHangs(s *subject) {
	here := s.run()
	s.node.Script(here[0], fakenode.ErrHold)
	s.down(here[0], strategy.Crashed)
	s.await("the shard opens", func() bool { return s.node.Starts(here[0]) == 2 || !s.isHere(here[0]) })
	s.reopen(here[1], strategy.Crashed)
	s.cycle(here[len(here)-1])
	s.wantStarts(here[0], 2)
	s.node.Release(here[0], nil)
	s.settle()
}

// checkReopens lets all shards go down at once, and one several times.
func checkReopens(s *subject, reason strategy.DownReason) {
	here := s.run()
	for _, n := range here {
		s.down(n, reason)
	}
	for _, n := range here {
		s.await("every shard is opened again", func() bool { return s.served(n) })
	}
	s.reopen(here[0], reason)
	s.reopen(here[0], reason)
}

// checkStopped wants a shard left alone that was stopped.
func checkStopped(s *subject) {
	here := s.run()
	s.down(here[0], strategy.Stopped)
	s.cycle(here[1])
	s.wantStarts(here[0], 1)
}

// checkStoppedWhileOpening is the same for one that was stopped while it opened.
func checkStoppedWhileOpening(s *subject) {
	here := s.run()
	s.node.Script(here[0], strategy.ErrStopped)
	s.down(here[0], strategy.Crashed)
	s.await("the shard is started", func() bool { return s.node.Starts(here[0]) == 2 || !s.isHere(here[0]) })
	s.cycle(here[1])
	s.wantStarts(here[0], 2)
}
