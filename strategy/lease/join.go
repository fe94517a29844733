package lease

import (
	"errors"
	"fmt"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// join is how a node comes to its name (P6.1): one that nobody has, or whose owner is
// gone. Two processes must not take it from each other for ever.
type join struct {
	busy  bool             // with a request
	retry strategy.Instant // when to go on; 0 at once
	watch bool             // whoever has the name does not answer: does its heartbeat move?
	other Beat             // the heartbeat that stands in the way
}

// due is when the join goes on; 0 while it waits for an answer, or is over.
func (j *join) due() strategy.Instant {
	if j.busy {
		return 0
	}
	return j.retry
}

// step takes the next step before the node takes part.
func (c *core) step() {
	if c.join.busy || c.now.at < c.join.retry {
		return
	}
	c.join.busy, c.join.retry, c.round.failed = true, 0, false
	if c.phase == settingUp {
		c.do(doSetUp{})
		return
	}
	c.do(doReadBeat{c.node.Name})
}

// again goes on after a while.
func (c *core) again(at strategy.Instant) { c.join.busy, c.join.retry = false, at }

// trouble goes on after a request that failed, in half an interval.
func (c *core) trouble(err error) {
	c.failed(err)
	c.again(c.now.at.Add(c.options.Interval / 2))
}

func (c *core) setUp(err error) {
	switch {
	case errors.Is(err, ErrUnsupported):
		c.end(err)
	case err != nil:
		c.trouble(err)
	default:
		c.phase = joining
		c.again(0)
	}
}

// meet looks at the heartbeat under this node's name.
func (c *core) meet(b Beat, err error) {
	if err != nil && !errors.Is(err, ErrMissing) {
		c.trouble(err)
		return
	}
	fresh := c.own.see(b.Version, c.now.at)
	other := b.Version != "" && (b.Unreadable || b.Heartbeat.Incarnation != c.node.Incarnation && b.Heartbeat.State != Left)
	switch {
	case !other:
		c.takeOver(b.Version)
	case c.join.watch && fresh:
		c.inUse(b)
	case c.join.watch:
		c.wait(b)
	default:
		c.join.other = b
		if b.Unreadable || b.Heartbeat.Address == "" {
			c.wait(b)
			return
		}
		c.do(doGreet{b.Heartbeat.Address})
	}
}

// greeted says who answers where the owner of the name should be.
func (c *core) greeted(in greeted) {
	b := c.join.other
	switch {
	case errors.Is(in.err, strategy.ErrNobody):
		c.takeOver(b.Version)
	case in.err != nil:
		c.wait(b)
	case in.node.Name == c.node.Name && in.node.Incarnation != c.node.Incarnation:
		c.inUse(b)
	default:
		c.takeOver(b.Version)
	}
}

// wait watches the heartbeat until it moves, or has not for as long as it lasts.
func (c *core) wait(b Beat) {
	ttl := b.Heartbeat.TTL
	if b.Unreadable {
		ttl = c.options.TTL
	}
	if !c.join.watch {
		c.join.watch = true
		c.do(doWatch{b.Heartbeat.Address, ttl})
	}
	if c.own.lasted(ttl, c.now.at) {
		c.takeOver(b.Version)
		return
	}
	c.again(sooner(c.own.since.Add(ttl), c.now.at.Add(c.options.Interval)))
}

func (c *core) inUse(b Beat) {
	c.end(fmt.Errorf("%w: node %q at %s: give this one another Name, or stop that one first",
		messages.ErrNameInUse, c.node.Name, b.Heartbeat.Address))
}

// takeOver writes this node's first heartbeat over the one that was judged, and no other.
func (c *core) takeOver(v Version) {
	c.join.busy = true
	c.own.version = v
	c.writeBeat()
}

// joined begins the first round with the heartbeat that was just written.
func (c *core) joined() {
	c.phase = taking
	c.join = join{busy: true}
	c.startRound()
}
