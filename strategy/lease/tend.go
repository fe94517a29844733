package lease

import (
	"time"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

const (
	firstBackoff = time.Second
	maxFailures  = 3           // in a row, then the shard is given up
	longBackoff  = time.Minute // of a shard that nobody can keep open

	hintPause = 50 * time.Millisecond // for which a hint waits for another write
)

// tend does what is due for the shards that this node holds.
func (c *core) tend() {
	for n := range c.shards {
		s := &c.shards[n]
		h := s.held
		if h == nil || s.local != away {
			continue
		}
		switch {
		case h.deadline <= c.now.at: // one that is open is the runner's to close
			c.drop(s)
		case h.abandoned || h.doubt || h.fenced || s.sent != nil || h.retry > c.now.at:
		case h.releasing:
			h.retry = c.now.at.Add(c.options.Interval / 2) // should this one fail
			c.write(s, frees, Record{Generation: h.generation})
		case h.retry > 0:
			h.retry = 0
			c.open(s)
		}
	}
	c.hint()
}

// hint lets the others look for what was freed, once nothing more is about to be, and the
// heartbeat says that it is given up: they read no lease of which it says otherwise.
func (c *core) hint() {
	if len(c.moved) == 0 || c.hintDue() > c.now.at {
		return
	}
	c.moved, c.unsaid = nil, 0
	if others := c.others(); len(others) > 0 {
		c.do(doHint{others})
	}
}

// hintDue is until when the hint waits for writes that are on their way; 0 if for none.
func (c *core) hintDue() (due strategy.Instant) {
	if len(c.moved) == 0 {
		return 0
	}
	for n := range c.shards {
		if s := &c.shards[n]; s.sent != nil && s.sent.kind == frees {
			due = max(due, s.sent.sent.Add(hintPause))
		}
	}
	if b := c.own.sent; c.phase == taking && c.own.written < c.unsaid && b != nil {
		due = max(due, b.at.Add(hintPause))
	}
	return due
}

func (c *core) open(s *shard) {
	s.local = opens
	c.do(doOpen{s.number})
}

// opened says how an open ended.
func (c *core) opened(in opened) {
	s := &c.shards[in.shard]
	if s.local != opens || s.held == nil {
		return
	}
	c.round.again = true
	if in.err != nil {
		s.local = away
		c.unopened(s, in.err)
		return
	}
	s.local = open
	s.held.up = c.now.at
	c.own.dirty = true
	if !s.held.told {
		s.held.told = true
		c.tell(func(o messages.LeaseOrigin) messages.Event { return messages.LeaseClaimed{LeaseOrigin: o} }, s.number, s.held.generation)
	}
}

// closed says that nothing of the shard is open here any more, or that its close hangs.
func (c *core) closed(n int) {
	s := &c.shards[n]
	if s.local != closes {
		return // said twice: the runner and this core ended the lease at the same time
	}
	s.local, c.round.again = away, true
	if s.held != nil && c.inFlight(n) {
		s.held.abandoned = true
	}
}

// down says that a shard ended by itself.
func (c *core) down(in down) {
	s := &c.shards[in.shard]
	if s.local != open && s.local != opens || in.reason == strategy.Stopped {
		return
	}
	s.local, c.round.again = away, true
	if s.held == nil {
		return
	}
	if in.reason == strategy.Fenced {
		c.fenced(s)
		return
	}
	c.fail(s)
}
