package lease

import (
	"slices"
)

// plan does what the picture of this round asks for: give up what is above this node's
// quota, read what is in doubt, claim what is free below the quota (P3.3).
func (c *core) plan() {
	if c.phase != taking || c.round.stage != planned || !c.round.again {
		return
	}
	c.round.again = false
	quota := c.quota()
	c.give(quota)
	c.examine()
	if c.own.verified {
		c.claim(quota)
	}
}

// quota is how many shards this node is to hold.
func (c *core) quota() int {
	shards := len(c.shards)
	for n := range c.shards {
		if s := &c.shards[n]; s.held == nil && s.lister == nil && (s.failedElsewhere || c.unfit(s)) {
			shards--
		}
	}
	live := []holder{{c.node.Name, c.staying() + c.coming()}}
	for _, name := range c.names() {
		p := c.peers[name]
		if p.alive(c) && p.state == Live {
			live = append(live, holder{name, p.holds()})
		}
	}
	return quota(shards, live, c.node.Name)
}

// staying is how many shards this node holds and does not give up.
func (c *core) staying() (held int) {
	for n := range c.shards {
		if h := c.shards[n].held; h != nil && !h.releasing {
			held++
		}
	}
	return held
}

// coming is how many shards are under this node's name without being held: it had them
// before it started, or until it was late, and they need not move.
func (c *core) coming() (shards int) {
	for n := range c.shards {
		s := &c.shards[n]
		if s.held == nil && s.upToDate() && s.read.Record.Owner == c.node.Name && s.local == away && !c.unfit(s) {
			shards++
		}
	}
	return shards
}

// holds is how many shards the node holds and does not give up.
func (p *peer) holds() (held int) {
	for _, h := range p.shards {
		if h.State == Opening || h.State == Running {
			held++
		}
	}
	return held
}

// give releases the shards above the quota: of those that are settled, the highest first.
func (c *core) give(quota int) {
	excess := c.staying() - quota
	for _, settled := range []bool{true, false} {
		for n := len(c.shards) - 1; n >= 0 && excess > 0; n-- {
			s := &c.shards[n]
			if s.held != nil && !s.held.releasing && settled == (s.local == open) {
				c.release(s)
				excess--
			}
		}
	}
}

// examine reads the leases that are in doubt: of which nobody says that it is his to keep,
// or that seem to be over.
func (c *core) examine() {
	for n := range c.shards {
		s := &c.shards[n]
		if s.held != nil || s.reading || s.sent != nil || s.refused || !s.known || s.upToDate() && !s.absent {
			continue
		}
		if s.lister == nil || s.yielded || s.absent || s.lasted(c.assumedTTL(s), c.now.at) || c.options.MaxClockSkew > 0 && !s.changed {
			c.read(s)
		}
	}
}

// claim claims what is free up to the quota, what others could not keep open, and all that
// is under this node's name (P6.1): nobody else may claim that for a TTL, and what is above
// the quota is handed over.
func (c *core) claim(quota int) {
	need := quota - c.taken()
	for _, s := range c.candidates() {
		if need <= 0 && !s.failedElsewhere && s.read.Record.Owner != c.node.Name {
			continue
		}
		if !s.failedElsewhere {
			need--
		}
		c.write(s, claims, c.ours(c.nextGeneration(s)))
	}
}

// taken is how many shards this node holds, those it gives up among them, or claims.
func (c *core) taken() (taken int) {
	for n := range c.shards {
		if s := &c.shards[n]; s.held != nil || s.sent != nil && s.sent.kind == claims {
			taken++
		}
	}
	return taken
}

// candidates are the shards that may be claimed now: at first those under this node's
// name, then the others in random order, so that nodes seldom meet.
func (c *core) candidates() []*shard {
	var named, others []*shard
	for n := range c.shards {
		switch s := &c.shards[n]; {
		case !c.claimable(s):
		case s.read.Record.Owner == c.node.Name:
			named = append(named, s)
		default:
			others = append(others, s)
		}
	}
	for i := len(others) - 1; i > 0; i-- {
		j := int(c.random(int64(i) + 1))
		others[i], others[j] = others[j], others[i]
	}
	return slices.Concat(named, others)
}

// claimable says whether the lease may be claimed, by the version last seen (P2.3).
func (c *core) claimable(s *shard) bool {
	if s.held != nil || s.sent != nil || s.reading || s.refused || s.absent || !s.upToDate() || c.unfit(s) {
		return false
	}
	return c.expiredOrFree(s) && s.local == away
}

// unfit says whether the shard, which is not held, cannot be opened here for now: it failed
// too often, or an open or close that was given up goes on.
func (c *core) unfit(s *shard) bool { return s.failedUntil > c.now.at || c.inFlight(s.number) }

func (c *core) expiredOrFree(s *shard) bool {
	record := s.read.Record
	switch {
	case s.version == "" && !s.ever && s.lister == nil:
		return true
	case s.version == "" || s.read.Unreadable:
		return s.lasted(max(c.longestTTL(), s.ttl), c.now.at)
	case record.Owner == "" || record.Owner == c.node.Name:
		return true
	case c.options.MaxClockSkew > 0 && !s.changed && record.ExpiresAt.Add(c.options.MaxClockSkew).Before(c.now.wall):
		return true
	}
	return s.lasted(record.TTL, c.now.at)
}

// nextGeneration is that of a claim (P1.4).
func (c *core) nextGeneration(s *shard) uint64 {
	if s.version != "" && !s.read.Unreadable {
		return s.read.Record.Generation + 1
	}
	return max(c.highest+1, uint64(max(c.now.wall.Unix(), 1)))
}
