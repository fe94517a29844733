package lease

import (
	"errors"
	"time"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// shard is what this node knows of a shard, and does with it.
type shard struct {
	number   int
	view          // of the lease
	absent   bool // the last listing did not show it, although it was there: it has to be read
	read     Lease
	wasRead  bool
	reading  bool
	ttl      time.Duration // of the last record that could be read
	refused  bool          // a request of this round for it failed: the next round goes on
	asked    bool          // somebody waits for a fresh read
	lister   *peer         // who says that the shard is his
	listed   uint64        // the generation that he says
	yielded  bool          // he is giving it up, or leaves
	placed   strategy.Placement
	sent     *write  // on its way
	doubtful []write // that may have been applied

	failedElsewhere bool // another node could not keep it open, and nobody holds it

	held        *holding
	local       local
	failedUntil strategy.Instant // until then this node does not claim it
	parked      uint64           // the generation in which it was given up because it failed; 0 if it was not
}

// holding is a lease of this node.
type holding struct {
	generation uint64
	deadline   strategy.Instant
	renewed    strategy.Instant // when the last write that was applied was sent
	version    Version          // that the next write replaces
	doubt      bool             // the record has to be read before the next write
	retried    bool             // renewed again after such a read
	missed     bool             // by the last round, because a request was on its way
	releasing  bool
	released   strategy.Instant // when the release began
	abandoned  bool             // an open or close hangs: the lease runs out (P4.3)
	retry      strategy.Instant // when to open, or to free, again
	fenced     bool             // somebody else opened the database: the record says whether he may
	told       bool             // that the shard was claimed
	fences     int              // in a row
	failures   int              // in a row
	up         strategy.Instant // since when it is open
}

// local is what becomes of the shard's database here.
type local uint8

const (
	away local = iota
	opens
	open
	closes
)

// upToDate says whether the record was read in the version that was seen last.
func (s *shard) upToDate() bool { return s.wasRead && s.read.Version == s.version }

// free says whether the record, as it was read, is nobody's.
func (s *shard) free() bool { return s.upToDate() && !s.read.Unreadable && s.read.Record.Owner == "" }

// state is how the shard is listed.
func (s *shard) state() HeldState {
	switch {
	case s.held.releasing:
		return Closing
	case s.local == open:
		return Running
	}
	return Opening
}

// due is when something of the shard is to be done, or looked at again.
func (s *shard) due(now strategy.Instant) strategy.Instant {
	var next strategy.Instant
	if s.failedUntil > now {
		next = s.failedUntil
	}
	if s.held == nil || s.local != away {
		return next
	}
	if retry := s.held.retry; retry > now {
		next = sooner(next, retry)
	}
	return sooner(next, s.held.deadline)
}

// assumedTTL is after which time without a change the lease seems to be over. Before it
// is claimed the record itself is read.
func (c *core) assumedTTL(s *shard) time.Duration {
	switch {
	case s.lister != nil && s.lister.ttl > 0 && s.ttl > 0:
		return min(s.lister.ttl, s.ttl)
	case s.ttl > 0:
		return s.ttl
	case s.lister != nil && s.lister.ttl > 0:
		return s.lister.ttl
	}
	return c.longestTTL()
}

// seeLeases takes in which leases a listing shows.
func (c *core) seeLeases(leases map[int]Version) {
	for n := range c.shards {
		s := &c.shards[n]
		v, shown := leases[n]
		s.absent = !shown && s.ever && s.version != ""
		if !s.absent && s.see(v, c.now.at) {
			c.touched[n] = true
		}
	}
}

// relist finds out who says that which shard is his; of two the higher generation counts.
func (c *core) relist() {
	for n := range c.shards {
		s := &c.shards[n]
		s.lister, s.listed, s.yielded, s.failedElsewhere = nil, 0, false, false
		c.touched[n] = true
	}
	for _, name := range c.names() {
		p := c.peers[name]
		if !p.alive(c) {
			continue
		}
		for _, h := range p.shards {
			if h.Shard >= 0 && h.Shard < len(c.shards) {
				c.shards[h.Shard].claimedBy(p, h)
			}
		}
	}
	for n := range c.shards {
		if c.shards[n].lister != nil {
			c.shards[n].failedElsewhere = false
		}
	}
}

func (s *shard) claimedBy(p *peer, h Held) {
	switch {
	case h.State == Failed:
		s.failedElsewhere = true
	case s.lister == nil || h.Generation > s.listed:
		s.lister, s.listed, s.yielded = p, h.Generation, h.State == Closing || p.state != Live
	}
}

// read asks for the shard's record.
func (c *core) read(s *shard) {
	if !s.reading {
		s.reading = true
		c.do(doReadLease{s.number})
	}
}

func (c *core) refresh(n int) {
	if n < 0 || n >= len(c.shards) || c.phase == settingUp || c.phase == over {
		c.do(doRefreshed{n})
		return
	}
	c.shards[n].asked = true
	c.read(&c.shards[n])
}

// leaseRead takes a record in.
func (c *core) leaseRead(in leaseRead) {
	s := &c.shards[in.shard]
	s.reading = false
	switch {
	case in.err == nil:
		c.learn(s, in.lease)
	case errors.Is(in.err, ErrMissing):
		c.learn(s, Lease{Shard: in.shard})
	default:
		s.refused = true
		c.failed(in.err)
	}
	c.catchUp(s)
	if s.asked {
		s.asked = false
		c.place()
		c.do(doRefreshed{in.shard})
	}
}

func (c *core) learn(s *shard, l Lease) {
	c.round.again = true
	s.see(l.Version, c.now.at)
	s.absent = false
	c.note(s, l)
	inDoubt := s.held != nil && (s.held.doubt || s.held.fenced)
	if w, ok := s.proven(l.Record.Nonce); ok {
		c.applied(s, w, l.Version)
	}
	if s.held != nil && (s.held.doubt || s.held.fenced) {
		c.judge(s, l)
	}
	if inDoubt && s.held != nil {
		c.renewAgain(s)
	}
}

// renewAgain renews a lease that was in doubt, once in a round.
func (c *core) renewAgain(s *shard) {
	h := s.held
	if c.due(s) && !h.retried && !h.fenced {
		h.retried = true
		c.renewAll([]*shard{s})
	}
}

// note keeps a record that was read or written.
func (c *core) note(s *shard, l Lease) {
	s.read, s.wasRead = l, true
	c.touched[s.number] = true
	if l.Version != "" && !l.Unreadable {
		s.ttl = l.Record.TTL
		c.highest = max(c.highest, l.Record.Generation)
	}
}

// proven is the write of unknown outcome that the nonce proves applied.
func (s *shard) proven(nonce string) (write, bool) {
	for _, w := range s.doubtful {
		if w.nonce == nonce {
			return w, true
		}
	}
	return write{}, false
}

// judge says what the record of a shard means that this node holds, after a write of
// unknown outcome (P2.2) or a fence (P4.1).
func (c *core) judge(s *shard, l Lease) {
	h := s.held
	record := l.Record
	ours := record.Owner == c.node.Name && record.Incarnation == c.node.Incarnation
	switch {
	case l.Version == "" || l.Unreadable:
		h.version, h.doubt = l.Version, false
	case !ours:
		c.lost(s)
	default:
		h.version, h.doubt = l.Version, false
		if h.fenced {
			c.reopenAfterFence(s)
		}
	}
}

// lost gives up a shard that is another node's by now.
func (c *core) lost(s *shard) {
	c.tell(func(o messages.LeaseOrigin) messages.Event { return messages.LeaseLost{LeaseOrigin: o} }, s.number, s.held.generation)
	c.drop(s)
}

// drop closes the shard and ends its lease here at once. The close comes first, so that
// the runner does not take it for a lease that nobody renewed.
func (c *core) drop(s *shard) {
	if s.held == nil {
		return
	}
	s.held, s.doubtful = nil, nil
	c.touched[s.number] = true
	c.own.dirty = true
	if s.local == opens || s.local == open {
		s.local = closes
		c.do(doClose{s.number})
	}
	c.do(doDrop{s.number})
}

// expired takes in which shards the runner has closed because their lease is over (P4.4).
func (c *core) expired(shards []int) {
	for _, n := range shards {
		if s := &c.shards[n]; s.held != nil {
			s.local = closes
			c.drop(s)
		}
	}
}
