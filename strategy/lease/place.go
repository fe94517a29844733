package lease

import (
	"maps"
	"slices"

	"github.com/slap-go/slap/strategy"
)

// place publishes where shards are that may have moved.
func (c *core) place() {
	for _, n := range slices.Sorted(maps.Keys(c.touched)) {
		s := &c.shards[n]
		if p := c.placement(s); p != s.placed {
			s.placed = p
			c.do(doPlace{n, p})
		}
	}
	clear(c.touched)
}

// placement is where the shard is: as its record says if that was read in the version
// that is there, else as the heartbeats say, which are older (P2.6).
func (c *core) placement(s *shard) strategy.Placement {
	if s.held != nil {
		return strategy.Placement{Here: true}
	}
	var p strategy.Placement
	if s.lister != nil {
		p = strategy.Placement{Owner: s.lister.node, Generation: s.listed}
	}
	r := s.read.Record
	if !s.upToDate() || s.version == "" || s.read.Unreadable || r.Generation < p.Generation {
		return p
	}
	if r.Owner == "" || r.Owner == c.node.Name || s.lasted(r.TTL, c.now.at) {
		return strategy.Placement{}
	}
	return strategy.Placement{
		Owner: strategy.Node{Name: r.Owner, Address: r.Address, Incarnation: r.Incarnation}, Generation: r.Generation,
	}
}
