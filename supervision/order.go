package supervision

import (
	"slices"
	"time"
)

// settle decides what becomes of a kid that has just ended.
func (c *core) settle(now time.Time, k *kid, reason error) {
	switch {
	case c.stopping:
		c.lost = append(c.lost, k.lost...)
		c.started(k, ErrStopping)
		c.stopped(k)
		k.lost = nil
		return
	case k.want == gone:
		c.remove(k, ErrShutdown)
		return
	case k.want == cycle && k.spec.Restart == Temporary && k.begun:
		c.remove(k, ErrShutdown)
	case k.want == cycle:
		c.queue(k)
	case !k.begun:
		c.notStarted(k, reason)
	case k.again(reason):
		c.restart(now, k, reason)
	default:
		c.retire(k, reason)
	}
	k.lost = nil
}

// notStarted gives up a kid whose first start failed; a static one takes the supervisor with it.
func (c *core) notStarted(k *kid, reason error) {
	err := &StartError{Supervisor: c.id, Child: k.spec.Name, Reason: reason}
	if k.dynamic {
		c.remove(k, err)
		return
	}
	c.shutdown(err)
}

// retire lets a kid rest that ended for good.
func (c *core) retire(k *kid, reason error) {
	k.want = rest
	if k.dynamic || k.spec.Restart == Temporary {
		c.remove(k, reason)
	}
	if !k.spec.Significant {
		return
	}
	if c.auto == AnySignificant || c.auto == AllSignificant && !c.significant() {
		c.shutdown(&SignificantError{Supervisor: c.id, Child: k.spec.Name, Reason: reason})
	}
}

// significant tells whether any significant kid runs or is to run.
func (c *core) significant() bool {
	for _, k := range c.names {
		if k.spec.Significant && (k.phase != idle || k.want == up) {
			return true
		}
	}
	return false
}

// restart starts a kid again that ended, together with those that the strategy names, or ends the
// supervisor when that would be once too often.
func (c *core) restart(now time.Time, k *kid, reason error) {
	if !c.limit.allow(now) {
		emit(c, IntensityReached{
			Supervisor: c.id, Child: k.spec.Name,
			Intensity: c.limit.intensity, Period: c.limit.period, Reason: reason,
		})
		c.shutdown(&IntensityError{
			Supervisor: c.id, Child: k.spec.Name,
			Intensity: c.limit.intensity, Period: c.limit.period, Reason: reason,
		})
		return
	}
	if c.strategy == OneForOne || c.strategy == RestForOne && k.dynamic {
		c.spawn(k)
		return
	}
	c.queue(k)
	for _, other := range c.static {
		if other != k && (c.strategy == OneForAll || other.seq > k.seq) {
			c.recycle(other)
		}
	}
	c.stopDynamic()
}

// recycle makes a static kid of a group go down, if it runs, and up again in its turn.
func (c *core) recycle(k *kid) {
	k.grouped = k.phase != idle
	if k.want == gone {
		return
	}
	k.ordered = true
	k.want = cycle
	if k.phase == idle {
		k.want = up
	}
}

// stopDynamic stops all dynamic kids at the same time, for good or to be started again with their group.
func (c *core) stopDynamic() {
	for _, k := range c.dynamics() {
		if c.stopping {
			c.started(k, ErrStopping)
		} else if k.want == up {
			k.want = cycle
		}
		if k.phase == idle {
			k.want = up
			continue
		}
		if !k.grouped {
			k.grouped = true
			c.going++
		}
		if k.alive() {
			c.stop(k)
		}
	}
}

// ungroup notes that a kid of a group is down.
func (c *core) ungroup(k *kid) {
	if k.grouped && k.dynamic {
		c.going--
	}
	k.grouped = false
}

// queue makes an idle kid wait for its turn to start.
func (c *core) queue(k *kid) {
	k.want, k.ordered = up, true
	if k.dynamic {
		c.waiting++
	}
}

// unqueue is queue's end for a dynamic kid.
func (c *core) unqueue(k *kid) {
	if k.dynamic && k.ordered && k.phase == idle {
		k.ordered = false
		c.waiting--
	}
}

// advance takes every step that the order allows.
func (c *core) advance() {
	switch {
	case c.descend():
	case c.stopping:
		c.finish()
	default:
		c.ascend()
	}
}

// descend stops the last static kid that must go down and tells whether something has still to end
// before anything else may happen.
func (c *core) descend() bool {
	if c.going > 0 {
		return true
	}
	for _, k := range slices.Backward(c.static) {
		if k.phase == idle || !c.stopping && !k.grouped {
			continue
		}
		if k.alive() {
			c.stop(k)
		}
		return true
	}
	return false
}

// ascend starts the kids whose turn it is.
func (c *core) ascend() {
	blocked := false
	for _, k := range c.static {
		if k.phase == idle && k.want == up && !blocked {
			c.spawn(k)
		}
		blocked = blocked || k.ordered
	}
	if blocked {
		return
	}
	if c.waiting > 0 {
		c.ascendDynamic()
	}
	if !c.up {
		c.up = true
		emit(c, SupervisorStarted{Supervisor: c.id})
		c.do(action{do: doReady})
	}
}

// ascendDynamic starts all dynamic kids that wait, at the same time.
func (c *core) ascendDynamic() {
	for _, k := range c.dynamics() {
		if k.phase == idle && k.ordered {
			c.unqueue(k)
			c.spawn(k)
		}
	}
}

// busy tells whether several children are being started in order, or stopped for it.
func (c *core) busy() bool {
	if !c.up || c.going > 0 {
		return true
	}
	for _, k := range c.static {
		if k.ordered || k.grouped {
			return true
		}
	}
	return false
}

// spawn starts a kid.
func (c *core) spawn(k *kid) {
	k.phase, k.want, k.ready = starting, up, false
	c.do(action{do: doSpawn, kid: k})
}

// stop tells a kid to stop, and bounds the time that it takes.
func (c *core) stop(k *kid) {
	k.phase, k.bound = stopping, c.allowed(k)
	c.do(action{do: doStop, kid: k, after: k.bound})
}

// allowed is the time that a kid has to stop.
func (c *core) allowed(k *kid) time.Duration {
	if c.killed || k.shutdown == Brutal {
		return 0
	}
	return k.shutdown
}

// arm bounds the end of a kid, by zero to cut it off now.
func (c *core) arm(k *kid, after time.Duration) {
	k.bound = after
	c.do(action{do: doArm, kid: k, after: after})
}

// finish ends the supervisor, once.
func (c *core) finish() {
	if !c.finished {
		c.finished = true
		emit(c, SupervisorStopped{Supervisor: c.id, Reason: c.reason, Abandoned: c.lost})
		c.do(action{do: doFinish})
	}
}
