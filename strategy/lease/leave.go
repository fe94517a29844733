package lease

// leave begins to leave (P6.3): the heartbeat says so first.
func (c *core) leave() {
	switch c.phase {
	case over:
		c.do(doLeft{})
	case settingUp, joining:
		c.phase = over
		c.do(doLeft{})
	case taking:
		c.phase = leaving
		c.own.state, c.own.dirty = Leaving, true
	case leaving:
	}
}

// depart gives up everything once the others know, and goes once nothing is left.
func (c *core) depart() {
	if c.phase != leaving || !c.own.announced {
		return
	}
	left := false
	for n := range c.shards {
		s := &c.shards[n]
		if s.held != nil && !s.held.releasing && !s.held.abandoned {
			c.release(s)
		}
		left = left || s.held != nil && !s.held.abandoned || s.local != away || s.sent != nil || s.reading && len(s.doubtful) > 0
	}
	switch {
	case left || c.own.sent != nil || c.own.reading:
	case c.own.state == Leaving:
		c.own.state = Left
		c.writeBeat()
	default:
		c.phase = over
		c.do(doLeft{})
	}
}
