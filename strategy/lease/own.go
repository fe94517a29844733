package lease

import (
	"errors"
	"slices"

	"github.com/slap-go/slap/strategy"
)

// own is this node's heartbeat.
type own struct {
	view

	state    NodeState
	version  Version          // that the next write replaces
	written  strategy.Instant // when the last one that was applied was sent
	verified bool             // in this round: it is still ours
	dirty    bool             // it does not say what is so
	behind   bool             // so it was when it was last tried to be written
	sent     *sentBeat        // on its way
	doubtful []sentBeat       // that may have been applied
	reading  bool
	retried  bool // in this round, after a look at what is there

	announced bool // that it leaves: the others know, or cannot be told
}

type sentBeat struct {
	nonce string
	at    strategy.Instant
}

// beat writes the heartbeat if it is not true any more.
func (c *core) beat() {
	if c.phase < taking || !c.own.dirty || c.own.sent != nil || c.own.reading {
		return
	}
	c.writeBeat()
}

func (c *core) writeBeat() {
	o := &c.own
	o.dirty = false
	o.sent = &sentBeat{c.nonce(), c.now.at}
	c.do(doWriteBeat{Beat{Version: o.version, Heartbeat: Heartbeat{
		Node: c.node.Name, Address: c.node.Address, Incarnation: c.node.Incarnation,
		State: o.state, TTL: c.options.TTL, Nonce: o.sent.nonce, Shards: c.heldShards(), At: c.now.wall,
	}}})
}

// heldShards are those that the heartbeat lists, and those that others may have above
// their quota since they cannot be opened here.
func (c *core) heldShards() []Held {
	var all []Held
	for n := range c.shards {
		s := &c.shards[n]
		switch {
		case s.held != nil:
			all = append(all, Held{n, s.state(), s.held.generation})
		case c.unfit(s):
			all = append(all, Held{n, Failed, s.read.Record.Generation})
		}
	}
	return all
}

func (c *core) beatWritten(in beatWritten) {
	o := &c.own
	if o.sent == nil || in.nonce != o.sent.nonce {
		return
	}
	sent := *o.sent
	o.sent = nil
	switch {
	case in.err == nil:
		c.beaten(in.version, sent.at)
	case errors.Is(in.err, ErrConflict), errors.Is(in.err, ErrUnknownOutcome):
		o.doubtful = doubting(o.doubtful, sent)
		o.reading = true
		c.do(doReadBeat{c.node.Name})
	default:
		c.unbeaten(in.err)
	}
}

// beaten goes on after a heartbeat that was applied.
func (c *core) beaten(v Version, sent strategy.Instant) {
	o := &c.own
	o.see(v, c.now.at)
	o.version, o.written, o.verified, o.behind, o.doubtful = v, sent, true, false, nil
	c.round.again = true
	o.announced = o.announced || o.state != Live && !o.dirty
	if c.phase == joining {
		c.joined()
		return
	}
	c.listAfterBeat()
}

// unbeaten goes on after one that was not.
func (c *core) unbeaten(err error) {
	c.failed(err)
	c.own.behind = true
	c.own.announced = c.own.announced || c.own.state != Live && !c.own.dirty
	if c.phase == joining {
		c.trouble(err)
		return
	}
	c.listAfterBeat()
}

func (c *core) listAfterBeat() {
	if c.round.stage == beating {
		c.list()
	}
}

// beatRead takes a heartbeat in.
func (c *core) beatRead(in beatRead) {
	switch {
	case in.node != c.node.Name:
		c.peerRead(in)
	case c.phase == joining && !c.own.reading:
		c.meet(in.beat, in.err)
	default:
		c.own.reading = false
		c.ownRead(in.beat, in.err)
	}
}

// ownRead judges what is there after a write of unknown outcome, or after a listing that
// shows another version than ours.
func (c *core) ownRead(b Beat, err error) {
	o := &c.own
	if err != nil && !errors.Is(err, ErrMissing) {
		c.unbeaten(err)
		return
	}
	i := slices.IndexFunc(o.doubtful, func(s sentBeat) bool { return s.nonce == b.Heartbeat.Nonce })
	switch {
	case i >= 0:
		c.beaten(b.Version, o.doubtful[i].at)
	case c.phase == joining:
		o.doubtful = nil
		c.join = join{}
		c.step()
	case b.Version != "" && b.Version == o.version && len(o.doubtful) == 0: // the listing was an old one
		o.verified, c.round.again = true, true
		if !o.dirty {
			c.listAfterBeat()
		}
	case b.Version != "" && !b.Unreadable && b.Heartbeat.Incarnation != c.node.Incarnation:
		c.superseded(b.Heartbeat.Incarnation)
	default:
		c.rewrite(b.Version)
	}
}

// rewrite replaces what is there, once in a round: an earlier write of ours, nothing, or
// what cannot be read.
func (c *core) rewrite(v Version) {
	o := &c.own
	o.version = v
	o.dirty = true
	if o.retried {
		o.dirty = false // the next round does
		c.unbeaten(ErrConflict)
	}
	o.retried = true
}
