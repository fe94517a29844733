package lease

// shelf is the store of a test.
type shelf struct {
	leases  map[int]Lease
	beats   map[string]Beat
	version func(nonce string) Version // of a write with this nonce
}

func newShelf(version func(nonce string) Version) *shelf {
	return &shelf{leases: map[int]Lease{}, beats: map[string]Beat{}, version: version}
}

// apply does what a core asks of the store, and gives what comes of it; nil for what is none
// of the store's.
func (s *shelf) apply(a action) any {
	switch a := a.(type) {
	case doSetUp:
		return setUp{}
	case doList:
		return listed{listing: s.list()}
	case doReadLease:
		l, err := s.readLease(a.shard)
		return leaseRead{a.shard, l, err}
	case doReadBeat:
		b, err := s.readBeat(a.node)
		return beatRead{a.node, b, err}
	case doWriteBeat:
		v, err := s.writeBeat(a.beat)
		return beatWritten{a.beat.Heartbeat.Nonce, v, err}
	case doWriteLease:
		v, err := s.writeLease(a.lease)
		return leaseWritten{a.lease.Shard, a.lease.Record.Nonce, v, err}
	case doRemoveBeat:
		delete(s.beats, a.node)
		return due{}
	}
	return nil
}

func (s *shelf) list() Listing {
	l := Listing{Leases: map[int]Version{}, Heartbeats: map[string]Version{}}
	for n, at := range s.leases {
		l.Leases[n] = at.Version
	}
	for name, at := range s.beats {
		l.Heartbeats[name] = at.Version
	}
	return l
}

func (s *shelf) readLease(shard int) (Lease, error) {
	l, ok := s.leases[shard]
	if !ok {
		return l, ErrMissing
	}
	return l, nil
}

func (s *shelf) readBeat(node string) (Beat, error) {
	b, ok := s.beats[node]
	if !ok {
		return b, ErrMissing
	}
	return b, nil
}

func (s *shelf) writeLease(l Lease) (Version, error) {
	if s.leases[l.Shard].Version != l.Version {
		return "", ErrConflict
	}
	l.Version = s.version(l.Record.Nonce)
	s.leases[l.Shard] = l
	return l.Version, nil
}

func (s *shelf) writeBeat(b Beat) (Version, error) {
	if s.beats[b.Heartbeat.Node].Version != b.Version {
		return "", ErrConflict
	}
	b.Version = s.version(b.Heartbeat.Nonce)
	s.beats[b.Heartbeat.Node] = b
	return b.Version, nil
}
