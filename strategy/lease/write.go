package lease

import (
	"errors"
	"slices"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// write is a request to change a lease's record.
type write struct {
	kind       writeKind
	nonce      string
	generation uint64
	sent       strategy.Instant
	record     Record
}

type writeKind uint8

const (
	claims writeKind = iota
	renewals
	frees
)

// String is the kind in lower case.
func (k writeKind) String() string { return [...]string{"claim", "renew", "free"}[k] }

// keptDoubts is how many writes of unknown outcome are remembered for one record.
const keptDoubts = 16

// doubting remembers one more write of unknown outcome.
func doubting[W any](doubtful []W, one W) []W {
	doubtful = append(doubtful, one)
	return slices.Delete(doubtful, 0, max(len(doubtful)-keptDoubts, 0))
}

// prepare makes a write of the record over the version, which is on its way from now on.
func (c *core) prepare(s *shard, kind writeKind, v Version, r Record) Lease {
	r.TTL, r.Nonce = c.options.TTL, c.nonce()
	if r.Owner != "" {
		r.ExpiresAt = c.now.wall.Add(r.TTL)
	}
	s.sent = &write{kind, r.Nonce, r.Generation, c.now.at, r}
	return Lease{Shard: s.number, Version: v, Record: r}
}

// ours is the record of a lease that is this node's.
func (c *core) ours(generation uint64) Record {
	return Record{Owner: c.node.Name, Address: c.node.Address, Incarnation: c.node.Incarnation, Generation: generation}
}

// write claims or frees.
func (c *core) write(s *shard, kind writeKind, r Record) {
	v := s.version
	if s.held != nil {
		v = s.held.version
	}
	c.do(doWriteLease{kind, c.prepare(s, kind, v, r)})
}

// renew renews all leases of this node that are not fresh. The record of one in doubt is
// read first. One that is over is forgotten soon (P4.4).
func (c *core) renew() {
	var due []*shard
	for n := range c.shards {
		s := &c.shards[n]
		h := s.held
		if h == nil || h.abandoned || h.deadline <= c.now.at {
			continue
		}
		h.retried = false
		h.missed = s.sent != nil || s.reading
		switch {
		case h.missed:
		case h.doubt || h.fenced:
			c.read(s)
		case c.due(s):
			due = append(due, s)
		}
	}
	c.renewAll(due)
}

// due says whether a lease that is held and not in doubt is to be renewed.
func (c *core) due(s *shard) bool {
	h := s.held
	return c.stale(h.renewed) && h.deadline > c.now.at && (!h.releasing || s.local != away)
}

// catchUp does what a round has left out because a request was on its way that has ended
// without success.
func (c *core) catchUp(s *shard) {
	h := s.held
	if h == nil || !h.missed || h.abandoned || s.sent != nil || s.reading {
		return
	}
	h.missed = false
	switch {
	case h.doubt || h.fenced:
		c.read(s)
	case c.due(s):
		c.renewAll([]*shard{s})
	}
}

func (c *core) renewAll(due []*shard) {
	var list []Lease
	for _, s := range due {
		if s.sent == nil {
			list = append(list, c.prepare(s, renewals, s.held.version, c.ours(s.held.generation)))
		}
	}
	if len(list) > 0 {
		c.do(doRenew{list})
	}
}

// leaseWritten says how a write ended.
func (c *core) leaseWritten(in leaseWritten) {
	s := &c.shards[in.shard]
	if s.sent == nil || s.sent.nonce != in.nonce {
		return
	}
	w := *s.sent
	s.sent = nil
	switch {
	case in.err == nil:
		c.round.again = true
		s.see(in.version, c.now.at)
		c.note(s, Lease{Shard: s.number, Version: in.version, Record: w.record})
		c.applied(s, w, in.version)
	case errors.Is(in.err, ErrConflict), errors.Is(in.err, ErrUnknownOutcome):
		s.doubtful = doubting(s.doubtful, w)
		if s.held != nil {
			s.held.doubt = true
		}
		c.read(s)
		if !errors.Is(in.err, ErrConflict) {
			c.failed(in.err)
		}
	default:
		s.refused = true
		c.failed(in.err)
	}
	c.catchUp(s)
}

// applied follows a write that is known to be what the record says. The deadline counts
// from its sending (P2.2).
func (c *core) applied(s *shard, w write, v Version) {
	s.doubtful = nil
	switch {
	case w.kind == frees && s.held != nil:
		c.freed(s)
	case w.kind == claims && s.held == nil:
		c.claimed(s, w, v)
	case w.kind == renewals && s.held != nil && s.held.generation == w.generation:
		h := s.held
		h.version, h.doubt, h.renewed = v, false, max(h.renewed, w.sent)
		deadline := w.sent.Add(c.options.lasts())
		if deadline > h.deadline && h.deadline > c.now.at { // one that has passed is final (P5.1)
			h.deadline = deadline
			c.do(doExtend{s.number, deadline})
		}
	}
}

// claimed holds a lease from now on and opens its shard, if there is time left, and
// if what was open here is closed.
func (c *core) claimed(s *shard, w write, v Version) {
	deadline := w.sent.Add(c.options.lasts())
	if deadline <= c.now.at || s.local != away || c.phase != taking && c.phase != leaving {
		return
	}
	s.held = &holding{generation: w.generation, deadline: deadline, renewed: w.sent, version: v}
	s.failedUntil = 0
	c.touched[s.number] = true
	c.own.dirty = true
	c.do(doHold{s.number, w.generation, deadline})
	if c.phase == taking {
		c.open(s)
		return
	}
	c.release(s)
}

// release gives a shard up: it is closed, then its lease is freed, then the others are
// hinted (P3.4).
func (c *core) release(s *shard) {
	s.held.releasing, s.held.released, s.held.retry = true, c.now.at, 0
	c.own.dirty = true
	if s.local == opens || s.local == open {
		s.local = closes
		c.do(doClose{s.number})
	}
}

// freed is the end of a release.
func (c *core) freed(s *shard) {
	c.tell(func(o messages.LeaseOrigin) messages.Event { return messages.LeaseReleased{LeaseOrigin: o} }, s.number, s.held.generation)
	c.moved, c.unsaid = append(c.moved, s.number), max(c.unsaid, s.held.released)
	s.held = nil
	c.do(doDrop{s.number})
	c.touched[s.number] = true
	c.own.dirty = true
}
