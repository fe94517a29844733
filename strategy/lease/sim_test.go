package lease

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy"
)

// world is a cluster of cores and queues over one store in one goroutine: time, the order of
// replies and every fault come from a seed.
type world struct {
	testing.TB

	seed   uint64
	random *rand.Rand
	base   strategy.Instant // ahead of the real clock, so that no lease is over by that
	time   time.Duration
	seq    int
	events timeline
	nodes  []*simNode

	store  *shelf
	writes int

	shards   int
	options  Options
	latency  time.Duration // of half a request, at most
	opening  time.Duration
	faults   func(w *world, n *simNode, a action) fault
	requests map[string]int
	moves    int // claims of shards that another node held before
	lastHeld map[int]string
	seconds  map[int]int // requests in each second
	fences   int         // shards that were fenced because their lease ran out
	overlaps int         // of gates, where they are expected
	tolerant bool        // of them
	lists    []Listing   // that were given before, if listings are old
	oldLists bool
	silent   string // an address that does not answer
	log      []string
}

// fault is what happens to a request.
type fault uint8

const (
	none      fault = iota
	refused         // nothing happens, and the node knows
	lostReply       // applied, and the node does not know
	lateApply       // applied only after the node has given up
	hangs           // never applied
)

var errBroken = errors.New("broken")

type event struct {
	at  time.Duration
	seq int
	do  func()
}
type timeline []event

func (t *timeline) Len() int { return len(*t) }

func (t *timeline) Less(i, j int) bool {
	a, b := (*t)[i], (*t)[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

func (t *timeline) Swap(i, j int) { (*t)[i], (*t)[j] = (*t)[j], (*t)[i] }
func (t *timeline) Push(x any)    { *t = append(*t, x.(event)) }
func (t *timeline) Pop() any {
	old := *t
	e := old[len(old)-1]
	*t = old[:len(old)-1]
	return e
}

func newWorld(t testing.TB, seed uint64, shards int, o Options) *world {
	t.Helper()
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		TB: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), base: strategy.Now().Add(10_000 * time.Hour),
		shards: shards, options: o,
		latency: 5 * time.Millisecond, opening: 30 * time.Millisecond, requests: map[string]int{}, lastHeld: map[int]string{},
		seconds: map[int]int{},
	}
	w.store = newShelf(func(string) Version { return w.next() })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d; the last steps:\n%s", seed, strings.Join(w.log[max(len(w.log)-200, 0):], "\n"))
		}
	})
	return w
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.events, event{w.time + d, w.seq, do})
}

// run lets time pass.
func (w *world) run(d time.Duration) {
	end := w.time + d
	for len(w.events) > 0 && w.events[0].at <= end {
		e := heap.Pop(&w.events).(event)
		w.time = e.at
		e.do()
		if w.Failed() {
			w.FailNow()
		}
	}
	w.time = end
}

func (w *world) notef(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%10v ", w.time)+fmt.Sprintf(format, args...))
}

// simNode is a node of the world.
type simNode struct {
	w       *world
	name    string
	inc     string
	core    *core
	queue   *queue
	leases  map[int]*strategy.Lease
	serving map[int]bool
	options Options

	rate   float64       // of its clock
	wall   time.Duration // of its wall clock
	dead   bool
	paused bool
	inbox  []func() // while it is paused
	timers [2]int   // of the core and the runner: the last one set counts
	ended  error
	left   bool
	ready  bool
	stuck  map[int]bool // opens that were given up and go on
	hangs  map[int]bool // opens, until they are given up
	fails  map[int]bool // opens
	opens  map[int]int  // that were tried
}

func (w *world) start(name string) *simNode { return w.startWith(name, w.options) }

func (w *world) startWith(name string, o Options) *simNode {
	n := &simNode{
		w: w, name: name, inc: fmt.Sprintf("%s%d", name, len(w.nodes)), queue: newQueue(o.MaxConcurrency),
		leases: map[int]*strategy.Lease{}, serving: map[int]bool{}, options: o, rate: 1, stuck: map[int]bool{}, fails: map[int]bool{}, hangs: map[int]bool{}, opens: map[int]int{},
	}
	n.core = newCore(strategy.Node{Name: name, Address: name + ":1", Incarnation: n.inc}, w.shards, o)
	n.core.random = w.random.Int64N
	n.core.nonce = func() string { w.writes++; return fmt.Sprint("n", w.writes) }
	n.core.inFlight = func(shard int) bool { return n.stuck[shard] }
	w.nodes = append(w.nodes, n)
	n.handle(due{})
	return n
}

func (n *simNode) now() strategy.Instant {
	return n.w.base.Add(time.Duration(float64(n.w.time) * n.rate))
}

// later is when so much has passed on the node's clock.
func (n *simNode) later(i strategy.Instant) time.Duration {
	return max(time.Duration(float64(i.Sub(n.w.base))/n.rate)-n.w.time, 0) + 1
}

// deliver brings something to the node, or keeps it until it is awake.
func (n *simNode) deliver(do func()) {
	switch {
	case n.dead:
	case n.paused:
		n.inbox = append(n.inbox, do)
	default:
		do()
	}
}

func (n *simNode) handle(input any) {
	if n.dead {
		return
	}
	now := moment{n.now(), time.Unix(1_800_000_000, 0).Add(n.w.time + n.wall)}
	for _, a := range n.core.handle(now, input) {
		n.w.notef("%s %v", n.name, a)
		n.carryOut(a)
	}
	n.pump()
	n.wakeAt(n.core.wake())
}

func (n *simNode) wakeAt(i strategy.Instant) {
	n.timers[0]++
	mine := n.timers[0]
	if i == never {
		return
	}
	n.w.after(n.later(i), func() {
		if mine == n.timers[0] {
			n.deliver(func() { n.handle(due{}) })
		}
	})
}

// pump lets the runner's queue work.
func (n *simNode) pump() {
	n.queue.expire(n.now())
	for steps := n.queue.take(); len(steps) > 0; steps = n.queue.take() {
		for _, s := range steps {
			n.step(s)
		}
	}
	n.timers[1]++
	mine := n.timers[1]
	if next := n.queue.due(); next != 0 {
		n.w.after(n.later(next), func() {
			if mine == n.timers[1] {
				n.deliver(n.pump)
			}
		})
	}
}

func (n *simNode) step(s step) {
	switch {
	case s.start != nil:
		shard, lease := s.start.shard, s.start.lease
		n.opens[shard]++
		n.w.after(time.Duration(n.w.random.Int64N(int64(2*n.w.opening)+1)), func() {
			n.deliver(func() {
				switch {
				case n.hangs[shard]:
					n.stuck[shard] = true
					n.queue.started(shard, context.DeadlineExceeded)
				case n.fails[shard]:
					n.queue.started(shard, errBroken)
				default:
					n.serving[shard] = lease.Deadline() > n.now()
					n.w.checkShard(shard)
					n.queue.started(shard, nil)
				}
				n.pump()
			})
		})
	case s.told == nil:
		shard := s.stop
		delete(n.serving, shard)
		n.w.after(time.Duration(n.w.random.Int64N(int64(n.w.opening)+1)), func() {
			n.deliver(func() { n.queue.stopped(shard); n.pump() })
		})
	default:
		if e, ok := s.told.(expired); ok {
			n.w.fences += len(e.shards)
		}
		n.w.after(0, func() { n.deliver(func() { n.handle(s.told) }) })
	}
}

func (n *simNode) carryOut(a action) {
	switch a := a.(type) {
	case doHold:
		n.leases[a.shard] = strategy.NewLease(a.generation, a.deadline)
		if last := n.w.lastHeld[a.shard]; last != "" && last != n.name {
			n.w.moves++
		}
		n.w.lastHeld[a.shard] = n.name
	case doExtend:
		if l := n.leases[a.shard]; l.Deadline() > n.now() {
			l.Renew(a.deadline)
			n.w.checkShard(a.shard)
		}
	case doDrop:
		n.leases[a.shard].End()
		delete(n.leases, a.shard)
		delete(n.serving, a.shard)
	case doOpen:
		n.queue.open(a.shard, n.leases[a.shard])
	case doClose:
		n.queue.close(a.shard)
	case doHint:
		for _, to := range a.nodes {
			n.w.hint(to.Name)
		}
	case doReady:
		n.ready = true
	case doLeft:
		n.left = true
	case doEnd:
		n.ended = a.err
		n.kill()
	case doPlace, doTell, doRefreshed:
	default:
		n.w.send(n, a)
	}
}

func (w *world) hint(name string) {
	for _, n := range w.nodes {
		if n.name == name && !n.dead {
			w.after(w.half(), func() { n.deliver(func() { n.handle(look{}) }) })
		}
	}
}

func (n *simNode) kill() {
	n.dead = true
	clear(n.serving)
}

func (n *simNode) pause() { n.paused = true }

func (n *simNode) resume() {
	n.paused = false
	inbox := n.inbox
	n.inbox = nil
	for _, do := range inbox {
		n.deliver(do)
	}
}

// serves says whether the node would answer requests for the shard.
func (n *simNode) serves(shard int) bool {
	return !n.dead && !n.paused && n.serving[shard] && n.leases[shard] != nil && n.leases[shard].Deadline() > n.now()
}

// check is what must be so at any time: one gate at most is open (I2).
func (w *world) check() {
	for shard := range w.shards {
		w.checkShard(shard)
	}
}

func (w *world) checkShard(shard int) {
	var owner *simNode
	for _, n := range w.nodes {
		if !n.serves(shard) {
			continue
		}
		switch {
		case owner == nil:
		case w.tolerant:
			w.overlaps++
		default:
			w.Errorf("seed %d: at %v shard %d is served by %s and %s", w.seed, w.time, shard, owner.inc, n.inc)
		}
		owner = n
	}
}

// owners is who serves each shard.
func (w *world) owners() map[int]string {
	all := map[int]string{}
	for shard := range w.shards {
		for _, n := range w.nodes {
			if n.serves(shard) {
				all[shard] = n.name
			}
		}
	}
	return all
}

// shares is how many shards each live node serves.
func (w *world) shares() map[string]int {
	all := map[string]int{}
	for _, n := range w.nodes {
		if !n.dead && !n.left {
			all[n.name] += 0
		}
	}
	for _, name := range w.owners() {
		all[name]++
	}
	return all
}

// balanced fails unless every shard is served and shares differ by at most one.
func (w *world) balanced() {
	w.Helper()
	low, high, all := w.shards, 0, 0
	for _, k := range w.shares() {
		low, high, all = min(low, k), max(high, k), all+k
	}
	if all != w.shards || high-low > 1 {
		w.Fatalf("seed %d: at %v the shares are %v of %d", w.seed, w.time, w.shares(), w.shards)
	}
}
