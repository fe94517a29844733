package lease

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/transcript"
	"github.com/slap-go/slap/strategy"
)

// TestTranscripts plays what happens to a core, line by line, and compares what it does
// about it, the indented lines, with the file.
//
//	node a shards=2 ttl=3s      a core, and an empty store; time begins at 10s
//	plant 0 b generation=3      another writes the lease of a shard: of a node, free, unreadable, missing
//	peer b live 0:running:3     another writes the heartbeat of a node; or unreadable, missing
//	set up, listed, read 0, read b, written 0-1, written heartbeat
//	                            the store carries a request out and answers; or: error; and for a write:
//	                            lost, carried out, without a reply; dropped, neither
//	greeted nobody, silent, or the incarnation of who answers
//	opened 0, failed 0 fenced, closed 0, down 0 crashed, expired 0-1, busy 0, idle 0
//	                            the runner, and whether something goes on that was given up
//	look, refresh 0, leave      other nodes, and callers
//	after 2s                    time passes; what the core does when it wakes is below its time
//	serve                       the store answers everything, until nothing more is asked
//	begin                       the same, and shards open and close at once; nothing is written
//	run 9s                      time passes with serve; of what the core does, the routine is left out
func TestTranscripts(t *testing.T) {
	for _, c := range []struct{ rules, file string }{
		{"LL-2, P3.1", "round"},
		{"LL-3, P3.2", "pace"},
		{"LL-5, P3.4", "releases"},
		{"P3.4, P2.3", "handover"},
		{"LL-6, P2.2, OL-8", "renewals"},
		{"LL-14, P4.1", "fences"},
		{"LL-16, P6.3", "leaving"},
		{"LL-20, LL-22", "owners"},
		{"LL-23", "events"},
		{"LL-25", "already_there"},
		{"OL-4, OL-5", "claims"},
		{"OL-6, P2.3", "claim_lost"},
		{"OL-12, P2.6", "who_owns_what"},
		{"OL-13", "peers"},
		{"P4.3", "abandoned"},
	} {
		t.Run(c.rules+": "+c.file, func(t *testing.T) {
			transcript.File(t, filepath.Join("testdata", c.file+".txt"), newPlayer)
		})
	}
}

const transcriptBegin = strategy.Instant(10 * time.Second)

// player is a core, its clock and its store.
type player struct {
	*testing.T
	out    *strings.Builder
	core   *core
	now    moment
	nonces int
	store  *shelf
	others int          // records that were planted
	busy   map[int]bool // what goes on that was given up
	quiet  func(a action) bool
	opens  bool // shards open and close at once
	asked  []action
}

func newPlayer(t *testing.T, out *strings.Builder) func([]string) {
	t.Helper()
	p := &player{T: t, out: out}
	return func(words []string) {
		t.Helper()
		p.input(words)
	}
}

func (p *player) input(words []string) {
	switch words[0] {
	case "node":
		p.begin(words[1:])
	case "plant":
		p.plant(p.shards(words[1]), words[2], options(words[3:]))
	case "peer":
		p.peer(words[1], words[2], words[3:])
	case "wall":
		p.now.wall = p.now.wall.Add(p.duration(words[1]))
	case "busy", "idle":
		p.busy[p.number(words[1])] = words[0] == "busy"
	case "after":
		p.pass(p.duration(words[1]), func() {})
	case "run":
		p.quiet = routine
		p.pass(p.duration(words[1]), p.serve)
		p.quiet = nil
	case "serve":
		p.serve()
	case "begin":
		p.quiet, p.opens = func(action) bool { return true }, true
		p.serve()
		p.quiet, p.opens = nil, false
	default:
		p.happens(words)
	}
}

// begin makes a core: a shards=4 ttl=3s skew=1s jitter=1s.
func (p *player) begin(words []string) {
	o := options(words[1:])
	name := words[0]
	p.now = moment{transcriptBegin, time.Unix(1_000, 0)}
	p.store, p.busy, p.asked, p.nonces, p.others = newShelf(versionOf), map[int]bool{}, nil, 0, 0
	settings, err := Options{
		TTL: p.duration(o.get("ttl", "3s")), Interval: p.duration(o.get("interval", "0s")),
		MaxClockSkew: p.duration(o.get("skew", "0s")),
	}.withDefaults()
	if err != nil {
		p.Fatal(err)
	}
	p.core = newCore(strategy.Node{Name: name, Address: name + ":1", Incarnation: name + "1"}, p.number(o.get("shards", "1")), settings)
	late := o.get("jitter", "") == "late"
	p.core.random = func(n int64) int64 {
		switch {
		case n <= int64(len(p.core.shards)) || late: // no shuffle
			return n - 1
		default:
			return n / 2
		}
	}
	p.core.nonce = func() string {
		p.nonces++
		return "n" + strconv.Itoa(p.nonces)
	}
	p.core.inFlight = func(n int) bool { return p.busy[n] }
	p.handle(due{})
}

// handle feeds the core and writes what it does.
func (p *player) handle(input any) {
	for _, a := range p.core.handle(p.now, input) {
		if p.quiet == nil || !p.quiet(a) {
			fmt.Fprintf(p.out, "  %v\n", a)
		}
		switch a.(type) {
		case doHint, doHold, doExtend, doDrop, doPlace, doTell, doReady, doRefreshed, doLeft, doEnd:
		default:
			p.asked = append(p.asked, a)
		}
	}
}

// pass lets time pass, and do be done at its beginning and whenever the core wakes.
func (p *player) pass(d time.Duration, do func()) {
	end := p.now.at.Add(d)
	do()
	for p.core.wake() <= end {
		p.goTo(max(p.core.wake(), p.now.at))
		before := p.out.Len()
		fmt.Fprintf(p.out, "  at %v\n", elapsed(p.now.at))
		heading := p.out.Len()
		p.handle(due{})
		do()
		if p.out.Len() == heading {
			text := p.out.String()[:before]
			p.out.Reset()
			p.out.WriteString(text)
		}
		if p.core.wake() <= p.now.at {
			p.Fatalf("the core wakes for ever at %v", elapsed(p.now.at))
		}
	}
	p.goTo(end)
}

func (p *player) goTo(at strategy.Instant) {
	p.now = moment{at, p.now.wall.Add(at.Sub(p.now.at))}
}

// routine is what a node does all the time.
func routine(a action) bool {
	switch a.(type) {
	case doRenew, doExtend, doList, doReadLease, doReadBeat, doWriteBeat:
		return true
	}
	return false
}

// serve answers all requests to the store, and those that follow.
func (p *player) serve() {
	for i := 0; i < len(p.asked); {
		a := p.asked[i]
		if in := p.answer(a); in != nil {
			p.asked = append(p.asked[:i:i], p.asked[i+1:]...)
			for _, one := range in {
				p.handle(one)
			}
			i = 0
			continue
		}
		i++
	}
}

// answer is what comes of a request if all is well; nil of what the transcript says itself.
func (p *player) answer(a action) []any {
	switch a := a.(type) {
	case doRenew:
		var all []any
		for _, l := range a.leases {
			all = append(all, p.store.apply(doWriteLease{renewals, l}))
		}
		return all
	case doRemoveBeat: // nobody waits for that
		p.store.apply(a)
		return []any{}
	case doOpen:
		if p.opens {
			return []any{opened{shard: a.shard}}
		}
	case doClose:
		if p.opens {
			return []any{closed(a)}
		}
	default:
		if in := p.store.apply(a); in != nil {
			return []any{in}
		}
	}
	return nil
}

var (
	errTranscript = errors.New("the store is away")
	errNetwork    = errors.New("no answer")
)

// happens is one input to the core.
func (p *player) happens(words []string) {
	what, rest := words[0], append(words[1:], "", "")
	switch what {
	case "set":
		p.asks(func(a action) bool { _, ok := a.(doSetUp); return ok }, "set up")
		p.handle(setUp{map[string]error{"": nil, "error": errTranscript, "unsupported": ErrUnsupported}[rest[1]]})
	case "listed":
		p.asks(func(a action) bool { _, ok := a.(doList); return ok }, "list")
		p.listed(rest[0], rest[1])
	case "read":
		p.read(rest[0], rest[1])
	case "written":
		p.written(rest[0], rest[1])
	case "greeted":
		p.asks(func(a action) bool { _, ok := a.(doGreet); return ok }, "greet")
		p.handle(p.greeting(rest[0]))
	case "look":
		p.handle(look{})
	case "refresh":
		p.handle(refresh{p.number(rest[0])})
	case "leave":
		p.handle(leave{})
	default:
		p.runner(what, rest[0], rest[1])
	}
}

// runner is an input from the runner.
func (p *player) runner(what, shards, how string) {
	if what == "expired" {
		p.handle(expired{p.shards(shards)})
		return
	}
	for _, n := range p.shards(shards) {
		switch what {
		case "opened":
			p.handle(opened{shard: n})
		case "failed":
			err, ok := map[string]error{
				"": errors.New("damaged"), "fenced": strategy.ErrFenced, "closing": strategy.ErrClosing,
				"there": strategy.ErrAlreadyStarted, "stopped": strategy.ErrStopped,
			}[how]
			p.known(ok, how)
			p.handle(opened{n, err})
		case "closed":
			p.handle(closed{n})
		case "down":
			reason, ok := map[string]strategy.DownReason{
				"fenced": strategy.Fenced, "crashed": strategy.Crashed, "stopped": strategy.Stopped,
			}[how]
			p.known(ok, how)
			p.handle(down{n, reason})
		default:
			p.Fatalf("input %q", what)
		}
	}
}

// listed is a listing, or one that lacks some leases.
func (p *player) listed(how, shards string) {
	if how == "error" {
		p.handle(listed{err: errTranscript})
		return
	}
	l := p.store.list()
	if how == "without" {
		for _, n := range p.shards(shards) {
			delete(l.Leases, n)
		}
	}
	p.handle(listed{listing: l})
}

// read is a record: of shards, or of a node.
func (p *player) read(of, how string) {
	failed := how == "error"
	if n, err := strconv.Atoi(of[:1]); err == nil && n >= 0 {
		for _, n := range p.shards(of) {
			p.asks(func(a action) bool { r, ok := a.(doReadLease); return ok && r.shard == n }, "read lease "+of)
			l, err := p.store.readLease(n)
			if failed {
				l, err = Lease{}, errTranscript
			}
			p.handle(leaseRead{n, l, err})
		}
		return
	}
	p.asks(func(a action) bool { r, ok := a.(doReadBeat); return ok && r.node == of }, "read heartbeat "+of)
	b, err := p.store.readBeat(of)
	if failed {
		b, err = Beat{}, errTranscript
	}
	p.handle(beatRead{of, b, err})
}

// written is how a write ends: of leases, or of this node's heartbeat.
func (p *player) written(of, how string) {
	if of == "heartbeat" {
		var beat Beat
		p.asks(func(a action) bool {
			w, ok := a.(doWriteBeat)
			beat = w.beat
			return ok
		}, "write the heartbeat")
		v, err := p.outcome(how, func() (Version, error) { return p.store.writeBeat(beat) })
		p.handle(beatWritten{beat.Heartbeat.Nonce, v, err})
		return
	}
	for _, n := range p.shards(of) {
		l := p.sent(n)
		v, err := p.outcome(how, func() (Version, error) { return p.store.writeLease(l) })
		p.handle(leaseWritten{n, l.Record.Nonce, v, err})
	}
}

func (p *player) outcome(how string, write func() (Version, error)) (v Version, err error) {
	switch how {
	case "":
		return write()
	case "lost":
		_, err = write()
		return "", errors.Join(ErrUnknownOutcome, err)
	case "dropped":
		return "", ErrUnknownOutcome
	case "error":
		return "", errTranscript
	default:
		p.Fatalf("a write that ends %q", how)
		return "", nil
	}
}

// sent takes the write of a shard's lease that is on its way.
func (p *player) sent(shard int) (l Lease) {
	for i, a := range p.asked {
		switch a := a.(type) {
		case doWriteLease:
			if a.lease.Shard == shard {
				p.asked = append(p.asked[:i:i], p.asked[i+1:]...)
				return a.lease
			}
		case doRenew:
			for k, l := range a.leases {
				if l.Shard == shard {
					p.asked[i] = doRenew{append(a.leases[:k:k], a.leases[k+1:]...)}
					return l
				}
			}
		}
	}
	p.Fatalf("no write of lease %d is on its way", shard)
	return l
}

// asks takes a request that is on its way.
func (p *player) asks(is func(a action) bool, what string) {
	for i, a := range p.asked {
		if is(a) {
			p.asked = append(p.asked[:i:i], p.asked[i+1:]...)
			return
		}
	}
	p.Fatalf("the core does not ask: %s", what)
}

func (p *player) greeting(who string) greeted {
	switch who {
	case "nobody":
		return greeted{err: strategy.ErrNobody}
	case "silent":
		return greeted{err: errNetwork}
	}
	return greeted{node: strategy.Node{Name: strings.TrimRight(who, "0123456789"), Incarnation: who}}
}

func (p *player) shards(text string) (s strategy.Shards) {
	if err := s.UnmarshalText([]byte(text)); err != nil {
		p.Fatal(err)
	}
	return s
}

func (p *player) number(text string) int { return transcript.Number(p.T, text) }

func (p *player) duration(text string) time.Duration { return transcript.Duration(p.T, text) }

func (p *player) known(ok bool, word string) {
	if !ok {
		p.Fatalf("what is %q?", word)
	}
}

// words are those of an input that have a name: key=value.
type named map[string]string

func options(words []string) named {
	o := named{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		o[key] = value
	}
	return o
}

func (o named) get(key, otherwise string) string {
	if v, ok := o[key]; ok {
		return v
	}
	return otherwise
}
