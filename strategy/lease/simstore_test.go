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
		w.after(w.half(), func() { reply(w.half(), w.apply(a)) })
	case refused:
		reply(w.half(), failure(a, errors.New("refused")))
	case lostReply:
		w.after(w.half(), func() { w.apply(a) })
		reply(patience, failure(a, ErrUnknownOutcome))
	case lateApply:
		w.after(patience+w.half()+time.Duration(w.random.Int64N(int64(n.options.TTL))), func() { w.apply(a) })
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

// apply does what is asked, and gives the answer.
func (w *world) apply(a action) any {
	switch a := a.(type) {
	case doList:
		return listed{listing: w.old(w.store.list())}
	case doWriteLease:
		w.rising(a.lease)
	case doGreet:
		return w.greet(a.address)
	}
	return w.store.apply(a)
}

// rising checks that no write that will be applied lowers a generation.
func (w *world) rising(l Lease) {
	r, ok := w.store.leases[l.Shard]
	if ok && !r.Unreadable && l.Record.Generation < r.Record.Generation && l.Version == r.Version {
		w.Errorf("seed %d: at %v the generation of shard %d falls from %d to %d", w.seed, w.time, l.Shard, r.Record.Generation, l.Record.Generation)
	}
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
