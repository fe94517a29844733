package lease

import (
	"errors"
	"time"

	"github.com/slap-go/slap/strategy"
)

// unopened says why a shard did not open.
func (c *core) unopened(s *shard, err error) {
	switch {
	case errors.Is(err, strategy.ErrFenced):
		c.fenced(s)
	case c.inFlight(s.number):
		s.held.abandoned = true
		c.own.dirty = true
	case errors.Is(err, strategy.ErrStopped): // by hand: as one that was open
		s.local = open
		c.own.dirty = true
	case errors.Is(err, strategy.ErrClosing), errors.Is(err, strategy.ErrAlreadyStarted):
		s.held.retry = c.now.at.Add(c.backoff)
	default:
		c.fail(s)
	}
}

// fenced reads whose the shard is (P4.1).
func (c *core) fenced(s *shard) {
	s.held.fenced = true
	c.calm(s)
	c.read(s)
}

// reopenAfterFence opens a shard again that is still this node's: at first after a
// second, then after twice that, at most after a TTL.
func (c *core) reopenAfterFence(s *shard) {
	h := s.held
	h.fenced = false
	h.retry = c.now.at.Add(min(c.backoff<<min(h.fences, 20), max(c.options.TTL, c.backoff)))
	h.fences++
}

// fail backs off. After three failures in a row the lease is freed, so that another node
// may try; if it comes back untaken, it is kept (P4.2).
func (c *core) fail(s *shard) {
	c.calm(s)
	h := s.held
	h.failures++
	switch {
	case c.inFlight(s.number):
		h.abandoned = true
	case s.parked > 0 && h.generation == s.parked+1: // nobody has taken it
		h.retry = c.now.at.Add(longBackoff)
	case h.failures < maxFailures:
		h.retry = c.now.at.Add(time.Duration(h.failures) * c.backoff)
	default:
		s.parked = h.generation
		s.failedUntil = c.now.at.Add(longBackoff)
		c.release(s)
	}
}

// calm starts the counts over after a shard was up for a TTL.
func (c *core) calm(s *shard) {
	h := s.held
	if h.up > 0 && c.now.at.Sub(h.up) >= c.options.TTL {
		h.fences, h.failures, s.parked = 0, 0, 0
	}
	h.up = 0
}
