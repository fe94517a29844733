package lease

import (
	"strconv"
	"strings"
	"time"
)

// shelf is the store of a transcript. A record that the node writes has the version of its
// nonce, v1 of n1; those of others are x1, x2 and so on.
type shelf struct {
	leases map[int]Lease
	beats  map[string]Beat
	others int
}

func newShelf() *shelf { return &shelf{leases: map[int]Lease{}, beats: map[string]Beat{}} }

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
	l.Version = versionOf(l.Record.Nonce)
	s.leases[l.Shard] = l
	return l.Version, nil
}

func (s *shelf) writeBeat(b Beat) (Version, error) {
	if s.beats[b.Heartbeat.Node].Version != b.Version {
		return "", ErrConflict
	}
	b.Version = versionOf(b.Heartbeat.Nonce)
	s.beats[b.Heartbeat.Node] = b
	return b.Version, nil
}

func versionOf(nonce string) Version { return Version("v" + strings.TrimPrefix(nonce, "n")) }

func (s *shelf) nextVersion() Version {
	s.others++
	return Version("x" + strconv.Itoa(s.others))
}

// plant writes leases as another does: b generation=3 incarnation=b2 ttl=9s ends=1s.
func (p *player) plant(shards []int, owner string, o named) {
	p.Helper()
	for _, n := range shards {
		l := Lease{Shard: n, Version: p.store.nextVersion(), Unreadable: owner == "unreadable"}
		if owner == "missing" {
			delete(p.store.leases, n)
			continue
		}
		l.Record = Record{
			Generation: uint64(p.number(o.get("generation", "0"))), Nonce: o.get("nonce", string(l.Version)), TTL: p.duration(o.get("ttl", "3s")),
		}
		if owner != "free" && owner != "unreadable" {
			l.Record.Owner, l.Record.Address, l.Record.Incarnation = owner, owner+":1", o.get("incarnation", owner+"1")
			l.Record.ExpiresAt = p.now.wall.Add(p.duration(o.get("ends", "3s")))
		}
		p.store.leases[n] = l
	}
}

// peer writes a heartbeat as another does: live ttl=9s incarnation=b2 0:running:3 1:failed:2.
func (p *player) peer(name, state string, words []string) {
	p.Helper()
	if state == "missing" {
		delete(p.store.beats, name)
		return
	}
	o := options(words)
	b := Beat{Version: p.store.nextVersion(), Unreadable: state == "unreadable"}
	b.Heartbeat = Heartbeat{
		Node: name, Address: o.get("address", name+":1"), Incarnation: o.get("incarnation", name+"1"), State: NodeState(state),
		TTL: p.duration(o.get("ttl", "3s")), Nonce: string(b.Version), At: time.Unix(0, 0),
	}
	for _, w := range words {
		if held := strings.Split(w, ":"); len(held) == 3 {
			for _, n := range p.shards(held[0]) {
				b.Heartbeat.Shards = append(b.Heartbeat.Shards, Held{n, HeldState(held[1]), uint64(p.number(held[2]))})
			}
		}
	}
	p.store.beats[name] = b
}
