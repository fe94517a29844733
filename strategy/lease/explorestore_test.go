package lease

import (
	"slices"
)

// apply carries a request out in the store.
func (s *situation) apply(n *explored, w *wire) {
	switch a := w.act.(type) {
	case doList:
		w.listing = Listing{Leases: map[int]Version{}, Heartbeats: map[string]Version{}}
		if s.record.Version != "" {
			w.listing.Leases[0] = s.record.Version
		}
		for name, b := range s.beats {
			if s.alone && name != n.name {
				continue
			}
			w.listing.Heartbeats[name] = b.Version
		}
	case doReadLease:
		if w.lease = s.record; s.record.Version == "" {
			w.outcome = missing
		}
	case doReadBeat:
		b, ok := s.beats[a.node]
		if w.beat = b; !ok {
			w.outcome = missing
		}
	case doWriteBeat:
		s.writeBeat(a.beat, w)
	case doWriteLease:
		s.writeLease(a, w)
	case doRemoveBeat:
		delete(s.beats, a.node)
	case doGreet:
		s.greet(a.address, w)
	}
}

func (s *situation) writeBeat(b Beat, w *wire) {
	if s.beats[b.Heartbeat.Node].Version != b.Version {
		w.outcome = conflict
		return
	}
	b.Version = s.next()
	s.beats[b.Heartbeat.Node], w.version = b, b.Version
}

func (s *situation) writeLease(a doWriteLease, w *wire) {
	l := a.lease
	if s.store != nil && a.kind == claims {
		s.store(s, &l)
	}
	if s.record.Version != l.Version {
		w.outcome = conflict
		return
	}
	if a.kind == claims {
		if slices.Contains(s.used, l.Record.Generation) {
			s.violate("S5")
		}
		s.used = append(s.used, l.Record.Generation)
	}
	l.Version = s.next()
	s.record, w.version = l, l.Version
}

// greet asks who has the address: one process does at most.
func (s *situation) greet(address string, w *wire) {
	w.outcome = missing
	for _, n := range s.nodes {
		switch {
		case n.core.node.Address != address || !n.runs():
		case n.paused:
			w.outcome = unknown
		default:
			w.outcome, w.peer = fine, n.core.node
		}
	}
}
