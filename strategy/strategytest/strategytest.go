// Package strategytest checks that a [strategy.Strategy] keeps its contract. Whoever
// brings a strategy of their own calls [Run] from a test:
//
//	func TestConformance(t *testing.T) {
//		strategytest.Run(t, strategytest.Options{Backoff: 5 * time.Millisecond},
//			func(t *testing.T) strategy.Strategy {
//				return mine.New(mine.Options{Backoff: 5 * time.Millisecond})
//			})
//	}
//
// No engine is needed: the strategy's actor runs in a node whose shards open, fail,
// hang and go down as the checks want. Run it with -race, too. The strategy has to
// place at least two shards of [Options.Shards] on [Options.Node] by itself, and to
// open at least two at a time. Its pauses should be short.
//
// What is checked, besides what the contract says in words:
//
//   - Starts: the actor is permanent and ready in time; shards that belong here are
//     opened once, others not at all; Child itself starts nothing.
//   - Failures: whatever a start is answered, it is tried again after a pause, in which
//     nobody else is disturbed; a shard that was stopped is left alone.
//   - Downs: a shard that was fenced or crashed is opened again after a pause, or is
//     not Here any more.
//   - Blocking: HandleShardDown and Lookup return while the actor is held up in a call
//     of the Runtime, before there is an actor, and afterwards. A lock that is held
//     while the Runtime is called counts as blocking. Refresh ends with its context.
//   - Ends: a stop ends in time, and nothing is left that runs or asks for shards. After
//     a crash of the node's actors, or of its own, the strategy starts over.
//   - One cluster: in a second cluster at the same time, the actor fails to start.
package strategytest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/strategy"
)

// Options of the suite.
type Options struct {
	// Shards of the cluster, at least 2. Default: 8.
	Shards int

	// Node is the node's name. Default: "node".
	Node string

	// Backoff is the shortest pause that the strategy makes before it opens a shard
	// again. Default: 1 ms.
	Backoff time.Duration

	// Wait is how long the suite waits for what has to happen. It has to be well above the
	// pause after four failures in a row. Default: 30 s.
	Wait time.Duration

	// SharedGoroutines says that the strategy uses goroutines which outlive it, such as
	// those of an HTTP client: then those that are left after the stop are not looked for.
	SharedGoroutines bool
}

func (o Options) withDefaults() Options {
	if o.Shards == 0 {
		o.Shards = 8
	}
	if o.Node == "" {
		o.Node = "node"
	}
	if o.Backoff == 0 {
		o.Backoff = time.Millisecond
	}
	if o.Wait == 0 {
		o.Wait = 30 * time.Second
	}
	return o
}

// check is one part of the suite.
type check struct {
	name string
	run  func(s *subject)
	// lenient checks send reports that are not true, so that a start may come at any time.
	lenient bool
}

var checks = []check{
	{name: "Starts", run: checkStarts},
	{name: "StartFails", run: checkStartFails},
	{name: "StartAlreadyStarted", run: checkStartAlreadyStarted},
	{name: "StartStopped", run: checkStartStopped},
	{name: "OpenFails", run: checkOpenFails},
	{name: "OpenHangs", run: checkOpenHangs},
	{name: "Crashed", run: func(s *subject) { checkReopens(s, strategy.Crashed) }},
	{name: "Fenced", run: func(s *subject) { checkReopens(s, strategy.Fenced) }},
	{name: "Stopped", run: checkStopped},
	{name: "StoppedWhileOpening", run: checkStoppedWhileOpening},
	{name: "ReportsAtAnyTime", run: checkReportsAtAnyTime, lenient: true},
	{name: "LookupAtAnyTime", run: checkLookupAtAnyTime},
	{name: "NeverBlocks", run: checkNeverBlocks, lenient: true},
	{name: "Refresh", run: checkRefresh},
	{name: "Stop", run: checkStop},
	{name: "StartsOver", run: checkStartsOver},
	{name: "OneCluster", run: checkOneCluster},
}

// Run checks the strategies that open returns, each in a node of its own. It must not
// run beside other tests of the process, whose goroutines it would take for the strategy's.
func Run(t *testing.T, o Options, open func(t *testing.T) strategy.Strategy) {
	t.Helper()
	o = o.withDefaults()
	system := actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(time.Millisecond), // as long as a goroutine stays after a dead letter
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	defer system.Shutdown()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			o := o
			if c.lenient {
				o.Backoff = 0
			}
			s := newSubject(t, o, system, open(t))
			defer s.end()
			c.run(s)
		})
	}
}
