package lease

import (
	"strconv"
	"strings"
	"time"
)

// versionOf is that of a record that the node writes: v1 of the nonce n1. Those of others are
// x1, x2 and so on.
func versionOf(nonce string) Version { return Version("v" + strings.TrimPrefix(nonce, "n")) }

func (p *player) nextVersion() Version {
	p.others++
	return Version("x" + strconv.Itoa(p.others))
}

// plant writes leases as another does: b generation=3 incarnation=b2 ttl=9s ends=1s.
func (p *player) plant(shards []int, owner string, o named) {
	p.Helper()
	for _, n := range shards {
		l := Lease{Shard: n, Version: p.nextVersion(), Unreadable: owner == "unreadable"}
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
	b := Beat{Version: p.nextVersion(), Unreadable: state == "unreadable"}
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
