package lease

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/transcript"
	"github.com/slap-go/slap/strategy"
)

// player is a core with its clocks and its store, or a queue; see TestTranscripts.
type player struct {
	*testing.T
	out     *strings.Builder
	heading string              // of what is written next
	hides   func(a action) bool // what is not written
	now     moment
	ahead   time.Duration // of the time that is written

	core   *core
	nonces int
	busy   map[int]bool // what goes on that was given up
	opens  bool         // shards open and close at once
	asked  []action     // requests without an answer
	late   []action     // those that may still be carried out
	store  *shelf
	others int // records that others wrote

	queue  *queue
	leases map[int]*strategy.Lease // that the queue was given
}

func newPlayer(t *testing.T, out *strings.Builder) func([]string) {
	t.Helper()
	return (&player{T: t, out: out}).input
}

func (p *player) input(words []string) {
	switch rest := words[1:]; words[0] {
	case "node":
		p.node(rest[0], p.options(rest[1:], "shards", "ttl", "interval", "skew", "jitter"))
	case "queue":
		p.reset(time.Duration(strategy.Now()) + time.Hour) // leases can be renewed before they are over
		p.queue, p.leases = newQueue(p.number(rest[0])), map[int]*strategy.Lease{}
	case "lease":
		p.lease(p.shards(rest[0]), rest[1], p.options(rest[2:], "generation", "incarnation", "ttl", "ends"))
	case "heartbeat":
		p.heartbeat(rest[0], rest[1], rest[2:])
	case "after":
		p.pass(p.duration(rest[0]), func() {})
	case "run":
		p.hides = routine
		p.pass(p.duration(rest[0]), p.serve)
		p.hides = nil
	case "wall":
		p.now.wall = p.now.wall.Add(p.duration(rest[0]))
	case "wakes":
		p.wakes()
	case "busy", "idle":
		p.busy[p.number(rest[0])] = words[0] == "busy"
	case "open", "close", "renew", "drop":
		p.asksQueue(words[0], p.number(rest[0]), rest[1:])
	default:
		p.replies(words[0], rest)
	}
}

// replies is what becomes of requests.
func (p *player) replies(how string, words []string) {
	switch how {
	case "ok", "fails", "unfit", "lost", "late":
		for _, what := range p.requests(words) {
			p.answer(p.request(what), how)
		}
	case "answers":
		p.request("greet")
		p.tell(greeted{node: strategy.Node{Name: p.core.node.Name, Incarnation: words[0]}})
	case "lands":
		p.carryOut(p.late[0])
		p.late = p.late[1:]
	case "serve":
		p.serve()
	case "begin":
		p.hides, p.opens = func(action) bool { return true }, true
		p.serve()
		p.hides, p.opens = nil, false
	default:
		p.happens(how, words)
	}
}

func (p *player) reset(ahead time.Duration) {
	begin := strategy.Instant(10 * time.Second).Add(ahead)
	*p = player{T: p.T, out: p.out, now: moment{begin, time.Unix(1_000, 0)}, ahead: ahead, busy: map[int]bool{}}
}

// node makes a core. Chance is the middle of all that may come, but for jitter=late.
func (p *player) node(name string, o map[string]string) {
	p.reset(0)
	p.store = newShelf(func(nonce string) Version { return Version("v" + strings.TrimPrefix(nonce, "n")) })
	settings, err := Options{
		TTL: p.duration(o["ttl"]), Interval: p.duration(o["interval"]), MaxClockSkew: p.duration(o["skew"]),
	}.withDefaults()
	if err != nil {
		p.Fatal(err)
	}
	p.core = newCore(strategy.Node{Name: name, Address: name + ":1", Incarnation: name + "1"}, max(p.number(o["shards"]), 1), settings)
	p.core.random = func(n int64) int64 {
		if o["jitter"] == "late" || n <= int64(len(p.core.shards)) { // nothing is shuffled
			return n - 1
		}
		return n / 2
	}
	p.core.nonce = func() string { p.nonces++; return fmt.Sprint("n", p.nonces) }
	p.core.inFlight = func(shard int) bool { return p.busy[shard] }
	p.tell(due{})
}

// tell says what happened, and writes what is done about it.
func (p *player) tell(input any) {
	if p.queue != nil {
		p.toQueue(input)
		return
	}
	for _, a := range p.core.handle(p.now, input) {
		if p.hides == nil || !p.hides(a) {
			p.printf("%v", a)
		}
		switch a := a.(type) {
		case doRenew:
			for _, l := range a.leases {
				p.asked = append(p.asked, doWriteLease{renewals, l})
			}
		case doSetUp, doList, doReadLease, doReadBeat, doWriteBeat, doWriteLease, doRemoveBeat, doGreet:
			p.asked = append(p.asked, a)
		case doOpen, doClose:
			if p.opens {
				p.asked = append(p.asked, a)
			}
		}
	}
}

func (p *player) printf(format string, args ...any) {
	p.out.WriteString(p.heading + "  " + fmt.Sprintf(format, args...) + "\n")
	p.heading = ""
}

// wake is when the core or the queue wants to be woken.
func (p *player) wake() strategy.Instant {
	if p.queue != nil {
		return cmp.Or(p.queue.due(), never)
	}
	return p.core.wake()
}

func (p *player) wakes() {
	if p.wake() == never {
		p.printf("never")
		return
	}
	p.printf("in %v", max(p.wake().Sub(p.now.at), 0))
}

// pass lets time pass, and do be done at its beginning and after each waking.
func (p *player) pass(d time.Duration, do func()) {
	end := p.now.at.Add(d)
	do()
	for p.wake() <= end {
		p.goTo(max(p.wake(), p.now.at))
		p.heading = fmt.Sprintf("  at %v\n", elapsed(p.now.at)-p.ahead)
		p.tell(due{})
		do()
		p.heading = ""
		if p.wake() <= p.now.at {
			p.Fatalf("it wakes for ever at %v", elapsed(p.now.at)-p.ahead)
		}
	}
	p.goTo(end)
}

func (p *player) goTo(at strategy.Instant) { p.now = moment{at, p.now.wall.Add(at.Sub(p.now.at))} }

// routine is what a node does all the time.
func routine(a action) bool {
	switch a.(type) {
	case doRenew, doExtend, doList, doReadLease, doReadBeat, doWriteBeat:
		return true
	}
	return false
}

func (p *player) serve() {
	for len(p.asked) > 0 {
		a := p.asked[0]
		p.asked = p.asked[1:]
		p.answer(a, "ok")
	}
}

// requests are those that words name: each of several shards has its own.
func (p *player) requests(words []string) (texts []string) {
	last := len(words) - 1
	if !strings.Contains(words[last], "-") {
		return []string{strings.Join(words, " ")}
	}
	for _, n := range p.shards(words[last]) {
		texts = append(texts, strings.Join(words[:last], " ")+" "+strconv.Itoa(n))
	}
	return texts
}

// request takes the first request that begins with these words.
func (p *player) request(words string) action {
	i := slices.IndexFunc(p.asked, func(a action) bool { return strings.HasPrefix(a.String()+" ", words+" ") })
	if i < 0 {
		p.Fatalf("no request %q among %v", words, p.asked)
	}
	a := p.asked[i]
	p.asked = slices.Delete(p.asked, i, i+1)
	return a
}

func (p *player) answer(a action, how string) {
	switch how {
	case "ok":
		p.tell(p.carryOut(a))
	case "fails":
		p.tell(failure(a, errBroken))
	case "unfit":
		p.tell(failure(a, ErrUnsupported))
	case "lost":
		p.carryOut(a)
		p.tell(failure(a, ErrUnknownOutcome))
	case "late":
		p.late = append(p.late, a)
		p.tell(failure(a, ErrUnknownOutcome))
	}
}

// carryOut does what is asked, and gives what comes of it.
func (p *player) carryOut(a action) any {
	switch a := a.(type) {
	case doGreet:
		return greeted{err: strategy.ErrNobody}
	case doOpen:
		return opened{shard: a.shard}
	case doClose:
		return closed(a)
	}
	return p.store.apply(a)
}

// happens is an input of those shards, or of none.
func (p *player) happens(what string, words []string) {
	shards := []int{-1}
	if len(words) > 0 {
		shards = p.shards(words[0])
		what = strings.Join(append([]string{what}, words[1:]...), " ")
	}
	for _, n := range shards {
		in, ok := inputs(n)[what]
		if !ok {
			p.Fatalf("input %q", what)
		}
		p.tell(in)
	}
}

func inputs(shard int) map[string]any {
	return map[string]any{
		"opened":         opened{shard: shard},
		"failed":         opened{shard, errBroken},
		"failed closing": opened{shard, strategy.ErrClosing},
		"failed fenced":  opened{shard, strategy.ErrFenced},
		"failed stopped": opened{shard, strategy.ErrStopped},
		"failed there":   opened{shard, strategy.ErrAlreadyStarted},
		"closed":         closed{shard},
		"down crashed":   down{shard, strategy.Crashed},
		"down fenced":    down{shard, strategy.Fenced},
		"down stopped":   down{shard, strategy.Stopped},
		"expired":        expired{[]int{shard}},
		"look":           look{},
		"refresh":        refresh{shard},
		"leave":          leave{},
	}
}

// lease writes leases as their owner does.
func (p *player) lease(shards []int, owner string, o map[string]string) {
	ttl := p.ttl(o)
	for _, n := range shards {
		l := Lease{Shard: n, Version: p.version(), Unreadable: owner == "unreadable"}
		l.Record = Record{Generation: uint64(p.number(o["generation"])), Nonce: string(l.Version), TTL: ttl}
		switch owner {
		case "missing":
			delete(p.store.leases, n)
			continue
		case "free", "unreadable":
		default:
			l.Record.Owner, l.Record.Address, l.Record.Incarnation = owner, owner+":1", cmp.Or(o["incarnation"], owner+"1")
			l.Record.ExpiresAt = p.now.wall.Add(p.duration(cmp.Or(o["ends"], ttl.String())))
		}
		p.store.leases[n] = l
	}
}

// heartbeat writes one as its node does.
func (p *player) heartbeat(name, state string, words []string) {
	if state == "missing" {
		delete(p.store.beats, name)
		return
	}
	i := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, ":") })
	if i < 0 {
		i = len(words)
	}
	o := p.options(words[:i], "incarnation", "ttl")
	b := Beat{Version: p.version(), Unreadable: state == "unreadable"}
	b.Heartbeat = Heartbeat{
		Node: name, Address: name + ":1", Incarnation: cmp.Or(o["incarnation"], name+"1"), State: NodeState(state),
		TTL: p.ttl(o), Nonce: string(b.Version), At: time.Unix(0, 0),
	}
	for _, w := range words[i:] {
		held := strings.Split(w, ":")
		for _, n := range p.shards(held[0]) {
			b.Heartbeat.Shards = append(b.Heartbeat.Shards, Held{n, HeldState(held[1]), uint64(p.number(held[2]))})
		}
	}
	p.store.beats[name] = b
}

// version is that of a record that another writes: x1, x2 and so on.
func (p *player) version() Version {
	p.others++
	return Version("x" + strconv.Itoa(p.others))
}

// options are words such as ttl=3s. What is not given is "".
func (p *player) options(words []string, keys ...string) map[string]string {
	o := map[string]string{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		if !slices.Contains(keys, key) {
			p.Fatalf("option %q", w)
		}
		o[key] = value
	}
	return o
}

func (p *player) ttl(o map[string]string) time.Duration {
	return cmp.Or(p.duration(o["ttl"]), p.core.options.TTL)
}

func (p *player) shards(text string) (s strategy.Shards) {
	if err := s.UnmarshalText([]byte(text)); err != nil {
		p.Fatal(err)
	}
	return s
}

// number is what is written, and 0 what is not.
func (p *player) number(text string) int { return transcript.Number(p.T, cmp.Or(text, "0")) }

// duration is what is written, and 0 what is not.
func (p *player) duration(text string) time.Duration {
	return transcript.Duration(p.T, cmp.Or(text, "0"))
}
