package lease

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/slap-go/slap/strategy"
)

// forgotten is after how many of its TTLs a heartbeat that does not move is removed.
const forgotten = 10

// peer is another node, by its heartbeat. One that cannot be read is not a dead node.
type peer struct {
	view

	node    strategy.Node
	state   NodeState
	ttl     time.Duration    // 0 until it was read
	shards  []Held           // that it lists
	taken   Version          // that was read last
	shown   strategy.Instant // by the last listing that did
	gone    bool             // the last one did not
	reading bool
}

// alive says whether the node's heartbeat lasts; one that is gone without having said
// goodbye lasts from when it was last seen (P6.3).
func (p *peer) alive(c *core) bool { return p.state != Left && c.now.at < p.end(c) }

// end is when the heartbeat is expired, if it does not change. One that was expired before
// it was gone stays so.
func (p *peer) end(c *core) strategy.Instant {
	ttl := p.ttl
	if ttl == 0 {
		ttl = c.longestTTL()
	}
	end := p.since.Add(ttl)
	if p.gone && p.shown < end {
		return p.shown.Add(ttl)
	}
	return end
}

// longestTTL is the longest that anybody is known to use.
func (c *core) longestTTL() time.Duration {
	ttl := c.options.TTL
	for _, p := range c.peers {
		ttl = max(ttl, p.ttl)
	}
	return ttl
}

// names are those of the peers, in order.
func (c *core) names() []string { return slices.Sorted(maps.Keys(c.peers)) }

// seePeers takes in which heartbeats a listing shows, and reads those that were not read so.
func (c *core) seePeers(heartbeats map[string]Version) {
	for _, name := range slices.Sorted(maps.Keys(heartbeats)) {
		if name == c.node.Name {
			continue
		}
		p := c.peers[name]
		if p == nil {
			p = &peer{node: strategy.Node{Name: name}, state: Live}
			c.peers[name] = p
		}
		p.shown, p.gone = c.now.at, false
		p.see(heartbeats[name], c.now.at)
		if p.taken != p.version && !p.reading {
			c.readPeer(p)
		}
	}
	for _, name := range c.names() {
		if _, shown := heartbeats[name]; !shown && !c.peers[name].reading {
			c.readPeer(c.peers[name]) // a listing may miss it
		}
	}
}

func (c *core) readPeer(p *peer) {
	p.reading = true
	c.do(doReadBeat{p.node.Name})
}

// peerRead takes a heartbeat in.
func (c *core) peerRead(in beatRead) {
	p := c.peers[in.node]
	if p == nil {
		return
	}
	p.reading = false
	switch {
	case errors.Is(in.err, ErrMissing):
		p.gone = true
		if p.state == Left || c.now.at >= p.end(c) {
			delete(c.peers, in.node)
		}
	case in.err != nil:
		c.failed(in.err)
	default:
		p.shown, p.gone = c.now.at, false
		p.see(in.beat.Version, c.now.at)
		p.take(in.beat)
		c.noteGenerations(in.beat.Heartbeat.Shards)
	}
	c.listAfterReads()
}

func (p *peer) take(b Beat) {
	p.taken = b.Version
	if b.Unreadable {
		return
	}
	h := b.Heartbeat
	p.node = strategy.Node{Name: p.node.Name, Address: h.Address, Incarnation: h.Incarnation}
	p.state, p.ttl, p.shards = h.State, h.TTL, h.Shards
}

func (c *core) noteGenerations(list []Held) {
	for _, h := range list {
		c.highest = max(c.highest, h.Generation)
	}
}

// cleanUp removes heartbeats of nodes that have left, or that nobody has heard of for
// long. A node that is back under its name meanwhile writes its heartbeat again.
func (c *core) cleanUp() {
	for _, name := range c.names() {
		p := c.peers[name]
		ttl := max(p.ttl, c.options.TTL)
		if !p.gone && (p.state == Left && p.lasted(ttl, c.now.at) || p.lasted(forgotten*ttl, c.now.at)) {
			c.do(doRemoveBeat{name})
		}
	}
}

// others are the nodes that take part, this one aside.
func (c *core) others() []strategy.Node {
	var nodes []strategy.Node
	for _, name := range c.names() {
		if p := c.peers[name]; p.alive(c) && p.state == Live && p.node.Address != "" {
			nodes = append(nodes, p.node)
		}
	}
	return nodes
}
