package lease

import (
	"time"

	"github.com/slap-go/slap/strategy"
)

// lookPause is the least time between two rounds that hints of other nodes begin.
const lookPause = 100 * time.Millisecond

// round is one pass (P3): heartbeat and renewals, a listing, the heartbeats that are new,
// then what follows for the shards.
type round struct {
	began  strategy.Instant
	next   strategy.Instant // when the pace asks for another
	stage  stage
	failed bool             // a request did
	hinted bool             // another node asks to look
	again  bool             // what is planned has to be thought over
	expiry strategy.Instant // the first moment at which something that others write will be expired
}

type stage uint8

const (
	idle stage = iota
	beating
	listing
	reading
	planned
)

// due is when the next round begins.
func (r *round) due(c *core) strategy.Instant {
	if c.phase < taking {
		return 0
	}
	next := r.next
	if r.failed {
		next = sooner(next, r.began.Add(c.options.Interval/2))
	}
	if r.hinted {
		next = sooner(next, max(r.began.Add(lookPause), 1))
	}
	if r.expiry > r.began {
		next = sooner(next, r.expiry)
	}
	return next
}

// expiry is the first moment after an instant at which something that others write will
// be expired; 0 if there is none.
func (c *core) expiry(after strategy.Instant) (first strategy.Instant) {
	note := func(end strategy.Instant) {
		if end > after {
			first = sooner(first, end)
		}
	}
	for n := range c.shards {
		if s := &c.shards[n]; s.held == nil && s.known && s.version != "" && !s.free() {
			note(s.since.Add(c.assumedTTL(s)))
		}
	}
	for _, p := range c.peers {
		if p.state != Left {
			note(p.end(c))
		}
	}
	return first
}

// begin begins what is due.
func (c *core) begin() {
	switch {
	case c.phase < taking:
		c.step()
	case c.now.at >= c.round.due(c):
		c.startRound()
	}
}

func (c *core) startRound() {
	r := &c.round
	r.failed, r.hinted, r.began = false, false, c.now.at
	if c.now.at >= r.next {
		r.next = c.now.at.Add(c.jittered())
	}
	c.own.retried = false
	for n := range c.shards {
		c.shards[n].refused = false
	}
	c.renew()
	if c.own.behind || c.stale(c.own.written) {
		r.stage = beating
		c.own.verified = false
		c.own.dirty = true
		return
	}
	c.list()
}

// jittered is the interval, a tenth more or less.
func (c *core) jittered() time.Duration {
	tenth := c.options.Interval / 10
	return c.options.Interval - tenth + time.Duration(c.random(int64(2*tenth)+1))
}

// stale says whether what was sent then is to be sent anew in this round. Rounds that
// come early do not write everything again.
func (c *core) stale(sent strategy.Instant) bool { return c.now.at.Sub(sent) >= c.options.Interval/2 }

func (c *core) list() {
	c.round.stage = listing
	c.do(doList{})
}

// listed takes a listing in.
func (c *core) listed(in listed) {
	if in.err != nil {
		c.failed(in.err)
		if c.round.stage == listing {
			c.round.stage = idle
		}
		return
	}
	c.seeLeases(in.listing.Leases)
	c.seePeers(in.listing.Heartbeats)
	c.seeOwn(in.listing.Heartbeats[c.node.Name])
	if c.round.stage == listing {
		c.round.stage = reading
		c.listAfterReads()
	}
}

// seeOwn finds out whether the heartbeat is still this node's.
func (c *core) seeOwn(v Version) {
	o := &c.own
	switch {
	case o.sent != nil || o.reading:
	case v == o.version:
		o.verified = true
	default:
		o.verified, o.reading = false, true
		c.do(doReadBeat{c.node.Name})
	}
}

// listAfterReads goes on once all heartbeats are read.
func (c *core) listAfterReads() {
	if c.round.stage != reading {
		return
	}
	for _, p := range c.peers {
		if p.reading {
			return
		}
	}
	c.round.stage, c.round.again = planned, true
	c.relist()
	c.round.expiry = c.expiry(c.now.at)
	c.cleanUp()
}
