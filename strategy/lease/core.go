package lease

import (
	"fmt"
	"time"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// core decides what a node does about its leases. It is a state machine without
// goroutines, clocks or I/O; the transcripts in testdata show what it does. The rules are
// numbered as in the protocol: P2 leases, P3 the round, P4 failures, P6 coming and going.
type core struct {
	node     strategy.Node
	options  Options
	backoff  time.Duration        // after the first failure of a shard
	random   func(n int64) int64  // uniform in [0, n)
	nonce    func() string        // another at each call
	inFlight func(shard int) bool // an open or close of the shard was given up and goes on

	now     moment
	out     []action
	phase   phase
	join    join
	own     own
	round   round
	shards  []shard
	peers   map[string]*peer
	highest uint64 // generation that was seen
	ready   bool
	touched map[int]bool     // shards whose place may have changed
	moved   []int            // shards that were freed and whose new owners are to be hinted
	unsaid  strategy.Instant // since when the last of them was given up
}

// phase is how far the node has come.
type phase uint8

const (
	settingUp phase = iota // until the store is found fit
	joining                // until the name is this node's
	taking                 // part in the rounds
	leaving                // giving everything up
	over
)

func newCore(node strategy.Node, shards int, o Options) *core {
	c := &core{
		node: node, options: o, backoff: firstBackoff,
		shards: make([]shard, shards), peers: map[string]*peer{}, touched: map[int]bool{},
		own: own{state: Live},
	}
	for n := range c.shards {
		c.shards[n].number = n
	}
	return c
}

// handle takes what happened and returns what is to be done.
func (c *core) handle(now moment, input any) []action {
	c.now, c.out = now, nil
	c.take(input)
	c.settle()
	return c.out
}

func (c *core) take(input any) {
	switch in := input.(type) {
	case setUp:
		c.setUp(in.err)
	case beatRead:
		c.beatRead(in)
	case beatWritten:
		c.beatWritten(in)
	case listed:
		c.listed(in)
	case leaseRead:
		c.leaseRead(in)
	case leaseWritten:
		c.leaseWritten(in)
	case greeted:
		c.greeted(in)
	case opened:
		c.opened(in)
	case closed:
		c.closed(in.shard)
	case down:
		c.down(in)
	case expired:
		c.expired(in.shards)
	case look:
		c.round.hinted = true
	case refresh:
		c.refresh(in.shard)
	case leave:
		c.leave()
	}
}

// settle does what follows from the state and the time, whatever happened.
func (c *core) settle() {
	if c.phase == over {
		c.place()
		return
	}
	c.begin()
	c.tend()
	c.plan()
	c.beat()
	c.depart()
	c.getReady()
	c.place()
}

// wake is when the core wants to be woken at the latest.
func (c *core) wake() strategy.Instant {
	if c.phase == over {
		return never
	}
	next := sooner(sooner(c.round.due(c), c.join.due()), c.hintDue())
	for n := range c.shards {
		next = sooner(next, c.shards[n].due(c.now.at))
	}
	return sooner(next, never)
}

func (c *core) do(a action) { c.out = append(c.out, a) }

// tell publishes an event of a shard's lease.
func (c *core) tell(event func(messages.LeaseOrigin) messages.Event, shard int, generation uint64) {
	c.do(doTell{func(o messages.Origin) messages.Event {
		return event(messages.LeaseOrigin{Origin: o, Shard: shard, Generation: generation})
	}})
}

// failed notes that a request of the round has failed.
func (c *core) failed(err error) {
	if !c.round.failed {
		c.do(doTell{func(o messages.Origin) messages.Event { return messages.LeaseRenewFailed{Origin: o, Err: err} }})
	}
	c.round.failed = true
}

// end ends the node. It serves nothing any more.
func (c *core) end(err error) {
	for n := range c.shards {
		c.drop(&c.shards[n])
	}
	c.phase = over
	c.do(doEnd{err})
}

// superseded ends the node because another process has its name (P6.2).
func (c *core) superseded(incarnation string) {
	name := c.node.Name
	c.do(doTell{func(o messages.Origin) messages.Event {
		return messages.NodeSuperseded{Origin: o, Node: name, Incarnation: incarnation}
	}})
	c.end(fmt.Errorf("%w: node %q", messages.ErrSuperseded, name))
}

// getReady says once that the first round's decisions are carried out, or that they
// cannot be for now.
func (c *core) getReady() {
	if c.ready || c.phase < taking && !c.round.failed {
		return
	}
	if !c.round.failed && (c.round.stage != planned || c.busy()) {
		return
	}
	c.ready = true
	c.do(doReady{})
	if others := c.others(); len(others) > 0 {
		c.do(doHint{others}) // they may have something to give up
	}
}

// busy says whether a claim or an open is on its way.
func (c *core) busy() bool {
	for n := range c.shards {
		if s := &c.shards[n]; s.sent != nil || s.reading || s.local == opens {
			return true
		}
	}
	return false
}
