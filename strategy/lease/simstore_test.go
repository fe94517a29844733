package lease

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

func (w *world) half() time.Duration { return time.Duration(w.random.Int64N(int64(w.latency) + 1)) }

// send carries a request to the store and its answer back, unless it meets a fault.
func (w *world) send(n *simNode, a action) {
	w.requests[n.name]++
	w.seconds[int(w.time/time.Second)]++
	if r, ok := a.(doRenew); ok {
		w.requests[n.name]--
		w.seconds[int(w.time/time.Second)]--
		for _, l := range r.leases {
			w.send(n, doWriteLease{renewals, l})
		}
		return
	}
	f := none
	if w.faults != nil {
		f = w.faults(w, n, a)
	}
	patience := n.options.patience()
	reply := func(d time.Duration, input any) {
		w.after(d, func() { n.deliver(func() { n.handle(input) }) })
	}
	switch f {
	case none:
		w.after(w.half(), func() { reply(w.half(), w.apply(n, a)) })
	case refused:
		reply(w.half(), failure(a, errors.New("refused")))
	case lostReply:
		w.after(w.half(), func() { w.apply(n, a) })
		reply(patience, failure(a, ErrUnknownOutcome))
	case lateApply:
		w.after(patience+w.half()+time.Duration(w.random.Int64N(int64(n.options.TTL))), func() { w.apply(n, a) })
		reply(patience, failure(a, ErrUnknownOutcome))
	case hangs:
		reply(patience, failure(a, ErrUnknownOutcome))
	}
}

// failure is the input that says that the request failed.
func failure(a action, err error) any {
	switch a := a.(type) {
	case doSetUp:
		return setUp{err}
	case doList:
		return listed{err: err}
	case doReadLease:
		return leaseRead{shard: a.shard, err: err}
	case doReadBeat:
		return beatRead{node: a.node, err: err}
	case doWriteBeat:
		return beatWritten{nonce: a.beat.Heartbeat.Nonce, err: err}
	case doWriteLease:
		return leaseWritten{shard: a.lease.Shard, nonce: a.lease.Record.Nonce, err: err}
	case doGreet:
		return greeted{err: context.DeadlineExceeded}
	}
	return due{}
}

// apply does in the store what is asked, and gives the answer.
func (w *world) apply(n *simNode, a action) any {
	switch a := a.(type) {
	case doList:
		l := Listing{map[int]Version{}, map[string]Version{}}
		for shard, r := range w.leases {
			l.Leases[shard] = r.Version
		}
		for name, b := range w.beats {
			l.Heartbeats[name] = b.Version
		}
		return listed{listing: w.old(l)}
	case doReadLease:
		if r := w.leases[a.shard]; r != nil {
			return leaseRead{shard: a.shard, lease: *r}
		}
		return leaseRead{shard: a.shard, err: ErrMissing}
	case doReadBeat:
		if b := w.beats[a.node]; b != nil {
			return beatRead{node: a.node, beat: *b}
		}
		return beatRead{node: a.node, err: ErrMissing}
	case doWriteBeat:
		v, err := w.writeBeat(a.beat)
		return beatWritten{a.beat.Heartbeat.Nonce, v, err}
	case doWriteLease:
		v, err := w.writeLease(a.lease)
		return leaseWritten{a.lease.Shard, a.lease.Record.Nonce, v, err}
	case doRemoveBeat:
		delete(w.beats, a.node)
		return due{}
	case doGreet:
		return w.greet(a.address)
	}
	return setUp{}
}

// old is a listing that may be behind, and may omit what is there.
func (w *world) old(l Listing) Listing {
	if !w.oldLists {
		return l
	}
	w.lists = append(w.lists[max(len(w.lists)-20, 0):], Listing{maps.Clone(l.Leases), maps.Clone(l.Heartbeats)})
	if w.random.IntN(2) == 0 {
		return l
	}
	was := w.lists[w.random.IntN(len(w.lists))]
	l = Listing{maps.Clone(was.Leases), maps.Clone(was.Heartbeats)}
	for shard := range w.shards {
		if w.random.IntN(4) == 0 {
			delete(l.Leases, shard)
		}
	}
	for _, n := range w.nodes {
		if w.random.IntN(4) == 0 {
			delete(l.Heartbeats, n.name)
		}
	}
	return l
}

func (w *world) next() Version { w.writes++; return Version(fmt.Sprint("v", w.writes)) }

func (w *world) writeLease(l Lease) (Version, error) {
	var old Version
	if r := w.leases[l.Shard]; r != nil {
		old = r.Version
		if !r.Unreadable && l.Record.Generation < r.Record.Generation && l.Version == old {
			w.Errorf("seed %d: at %v the generation of shard %d falls from %d to %d", w.seed, w.time, l.Shard, r.Record.Generation, l.Record.Generation)
		}
	}
	if old != l.Version {
		return "", ErrConflict
	}
	l.Version = w.next()
	w.leases[l.Shard] = &l
	return l.Version, nil
}

func (w *world) writeBeat(b Beat) (Version, error) {
	var old Version
	if r := w.beats[b.Heartbeat.Node]; r != nil {
		old = r.Version
	}
	if old != b.Version {
		return "", ErrConflict
	}
	b.Version = w.next()
	w.beats[b.Heartbeat.Node] = &b
	return b.Version, nil
}

// greet asks the newest process at the address.
func (w *world) greet(address string) any {
	if address == w.silent {
		return greeted{err: context.DeadlineExceeded}
	}
	for i := len(w.nodes) - 1; i >= 0; i-- {
		n := w.nodes[i]
		switch {
		case n.core.node.Address != address || n.core.phase < taking:
		case n.dead:
		case n.paused:
			return greeted{err: context.DeadlineExceeded}
		default:
			return greeted{node: n.core.node}
		}
	}
	return greeted{err: errNobody}
}
