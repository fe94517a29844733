package lease

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/slap-go/slap/strategy"
)

// tick is the unit of time of the exploration, in which the TTL is four, the interval two
// and the margin one.
const tick = time.Second

// database is how far the shard's database is in an explored node.
type database uint8

const (
	dbClosed database = iota
	dbOpening
	dbOpen
	dbClosing
)

// outcome is how a request ends.
type outcome uint8

const (
	fine outcome = iota
	missing
	conflict
	unknown
	refusedOutcome
)

func (o outcome) err() error {
	return [...]error{nil, ErrMissing, ErrConflict, ErrUnknownOutcome, errors.New("refused")}[o]
}

// wire is a request on its way.
type wire struct {
	act      action
	answered bool // it has been carried out, and the reply is on its way
	gone     bool // the node has given it up; it may still be carried out
	held     bool // nobody knows for how long
	outcome  outcome
	version  Version
	lease    Lease
	beat     Beat
	listing  Listing
	peer     strategy.Node
}

// report is a message of the runner to the loop.
type report struct {
	kind   string
	failed bool
	reason strategy.DownReason
}

// explored is a node of the exploration: a core, a queue and a database, for one shard.
type explored struct {
	name, inc string
	options   Options
	core      *core
	queue     *queue
	lease     *strategy.Lease // that the core holds
	served    *strategy.Lease // of the database
	promise   strategy.Instant
	now       strategy.Instant
	wake      strategy.Instant

	started, dead, paused, left bool

	db        database
	held      bool // the open or close takes longer
	old       bool // another has opened since
	stuck     bool // an open or close that was given up goes on
	kept      bool // by a bug: a late open serves without a lease
	toRunner  []action
	toLoop    []report
	wires     []wire
	serial    int   // of nonces
	wall      int64 // Unix time, which goes on only as records are damaged
	ends      int   // with an error
	ahead     int   // ticks of its clock, beyond the others'
	wantsHint bool
	blind     bool // by a bug: for what is stuck
}

func newExplored(i int, name string, o Options) *explored {
	n := &explored{
		name: name, inc: fmt.Sprintf("%s%d", name, i), options: o, now: exploreBase, wall: 1, queue: newQueue(1),
	}
	n.core = newCore(strategy.Node{Name: name, Address: n.inc + ":1", Incarnation: n.inc}, 1, o)
	return n
}

var exploreBase = strategy.Now().Add(10_000 * time.Hour)

// clone is a copy that shares nothing that changes.
func (n *explored) clone() *explored {
	c := *n
	leases := map[*strategy.Lease]*strategy.Lease{nil: nil}
	copyLease := func(l *strategy.Lease) *strategy.Lease {
		if _, ok := leases[l]; !ok {
			leases[l] = strategy.NewLease(l.Generation(), l.Deadline())
		}
		return leases[l]
	}
	c.core = n.core.clone()
	c.queue = n.queue.clone(copyLease)
	c.lease, c.served = copyLease(n.lease), copyLease(n.served)
	c.toRunner, c.toLoop, c.wires = slices.Clone(n.toRunner), slices.Clone(n.toLoop), slices.Clone(n.wires)
	return &c
}

func (q *queue) clone(copyLease func(*strategy.Lease) *strategy.Lease) *queue {
	c := *q
	c.jobs, c.waiting, c.out = map[int]*job{}, nil, nil
	for n, j := range q.jobs {
		c.jobs[n] = &job{j.shard, copyLease(j.lease), j.stage, j.until}
	}
	for _, j := range q.waiting {
		c.waiting = append(c.waiting, c.jobs[j.shard])
	}
	return &c
}

func (c *core) clone() *core {
	d := *c
	d.random, d.nonce, d.inFlight, d.out = nil, nil, nil, nil
	d.own.sent = copied(c.own.sent)
	d.own.doubtful = slices.Clone(c.own.doubtful)
	d.touched, d.moved = maps.Clone(c.touched), slices.Clone(c.moved)
	peers := map[*peer]*peer{}
	copyPeer := func(p *peer) *peer {
		if p != nil && peers[p] == nil {
			peers[p] = copied(p)
		}
		return peers[p]
	}
	d.peers = map[string]*peer{}
	for name, p := range c.peers {
		d.peers[name] = copyPeer(p)
	}
	d.shards = slices.Clone(c.shards)
	for i := range d.shards {
		s := &d.shards[i]
		s.lister, s.sent, s.held, s.doubtful = copyPeer(s.lister), copied(s.sent), copied(s.held), slices.Clone(s.doubtful)
	}
	return &d
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// gate says whether the node would answer requests.
func (n *explored) gate() bool {
	return !n.dead && n.db == dbOpen && (n.kept || n.served.Deadline() > n.now)
}

func (n *explored) runs() bool { return n.started && !n.dead && !n.left }

// handle feeds the core, and carries out what it says but for requests to come.
func (n *explored) handle(input any) {
	c := n.core
	c.random = func(k int64) int64 { return (k - 1) / 2 }
	c.nonce = func() string { n.serial++; return fmt.Sprintf("%c%s-%d", mark, n.inc, n.serial) }
	c.inFlight = func(int) bool { return n.stuck && !n.blind }
	for _, a := range c.handle(moment{n.now, time.Unix(n.wall, 0)}, input) {
		n.carryOut(a)
	}
	n.wake = c.wake()
	c.now, c.out, c.random, c.nonce, c.inFlight = moment{}, nil, nil, nil, nil
}

func (n *explored) carryOut(a action) {
	switch a := a.(type) {
	case doHold:
		n.lease, n.promise = strategy.NewLease(a.generation, a.deadline), a.deadline
	case doExtend:
		if n.lease.Deadline() > n.now {
			n.lease.Renew(a.deadline)
			n.promise = a.deadline
		}
	case doDrop:
		n.lease.End()
		n.lease = nil
	case doOpen, doClose:
		n.toRunner = append(n.toRunner, a)
	case doHint:
		n.wantsHint = true
	case doLeft:
		n.left = true
	case doEnd:
		n.ends++
		n.die()
	case doPlace, doTell, doRefreshed, doReady:
	case doRenew:
		for _, l := range a.leases {
			n.wires = append(n.wires, wire{act: doWriteLease{renewals, l}})
		}
	default:
		n.wires = append(n.wires, wire{act: a})
	}
}

// die is the end of the process. What is on its way stays so.
func (n *explored) die() {
	n.dead, n.db, n.stuck, n.kept, n.served, n.lease = true, dbClosed, false, false, nil, nil
	n.toRunner, n.toLoop, n.paused = nil, nil, false
	var gone []wire
	for _, w := range n.wires {
		if _, writes := w.act.(doWriteLease); writes && !w.answered {
			w.gone, w.held = true, false
			gone = append(gone, w)
		}
	}
	n.wires = gone
	n.core, n.queue = newCore(strategy.Node{}, 1, n.options), newQueue(1)
	n.wake, n.promise = never, 0
}

// runner gives the queue a message.
func (n *explored) runner(a action) {
	switch a.(type) {
	case doOpen:
		lease := n.lease
		if lease == nil {
			lease = strategy.NewLease(0, 1) // it is over already
		}
		n.queue.open(0, lease)
	case doClose:
		n.queue.close(0)
	}
	n.pump()
}

// pump carries out what the queue says.
func (n *explored) pump() {
	n.queue.expire(n.now)
	for steps := n.queue.take(); len(steps) > 0; steps = n.queue.take() {
		for _, s := range steps {
			n.step(s)
		}
	}
}

func (n *explored) step(s step) {
	switch {
	case s.start != nil:
		n.db, n.served, n.held, n.old = dbOpening, s.start.lease, false, false
	case s.told == nil:
		if n.db == dbClosed {
			n.queue.stopped(0)
			return
		}
		n.db, n.held = dbClosing, false
	default:
		n.toLoop = append(n.toLoop, toReport(s.told))
	}
}

func toReport(told any) report {
	switch m := told.(type) {
	case opened:
		return report{kind: "opened", failed: m.err != nil}
	case closed:
		return report{kind: "closed"}
	case down:
		return report{kind: "down", reason: m.reason}
	}
	return report{kind: "expired"}
}

func (r report) input() any {
	switch r.kind {
	case "opened":
		if r.failed {
			return opened{0, errors.New("failed")}
		}
		return opened{}
	case "closed":
		return closed{}
	case "down":
		return down{0, r.reason}
	}
	return expired{[]int{0}}
}

// reply is what the core learns from a request that has ended.
func (w *wire) reply() any {
	err := w.outcome.err()
	switch a := w.act.(type) {
	case doList:
		return listed{w.listing, err}
	case doReadLease:
		return leaseRead{0, w.lease, err}
	case doReadBeat:
		return beatRead{a.node, w.beat, err}
	case doWriteBeat:
		return beatWritten{a.beat.Heartbeat.Nonce, w.version, err}
	case doWriteLease:
		return leaseWritten{0, a.lease.Record.Nonce, w.version, err}
	case doGreet:
		if w.outcome == missing {
			err = strategy.ErrNobody
		}
		return greeted{w.peer, err}
	case doSetUp:
		return setUp{err}
	}
	return due{}
}
