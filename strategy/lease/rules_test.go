package lease

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/transcript"
	"github.com/slap-go/slap/strategy"
)

// TestRules plays the inputs of each file in testdata/rules to a core or a queue and
// compares what it does, the indented lines, with the file. The files are named after the
// rules that they show.
func TestRules(t *testing.T) {
	for _, name := range []string{
		"LL-3: LL3_the_pace_after_a_failure",
		"LL-7, LL-6: LL7_one_renewal_fails",
		"LL-8: LL8_lost_beside_a_failure",
		"LL-8, LL-23: LL8_what_is_lost_is_no_self_fence",
		"LL-9: LL9_the_runner_fences",
		"LL-9: LL9_what_the_loop_has_ended",
		"LL-10, P3.4: LL10_P3_4_queued_past_its_deadline",
		"LL-12: LL12_an_open_after_its_lease",
		"LL-21: LL21_setup",
		"LL-21: LL21_unsupported",
		"OL-9, P4.4: OL9_P4_4_claimed_again_after_a_self_fence",
		"OL-15, LL-2, P3.1: OL15_one_node",
		"P1.4: P1_4_generations",
		"P1.4: P1_4_generation_of_a_missing_lease",
		"P2.2, OL-8: P2_2_a_lost_reply_of_a_renewal",
		"P2.2: P2_2_an_older_write_of_ours",
		"P2.2, LL-6: P2_2_another_owner",
		"P2.3: P2_3_a_whole_ttl_of_its_owner",
		"P2.3: P2_3_a_change_starts_over",
		"P2.3, OL-7: P2_3_unreadable",
		"P2.3: P2_3_deleted",
		"P2.3, OL-6: P2_3_its_own_lease_that_it_does_not_hold",
		"P2.4: P2_4_walls_do_not_count",
		"P2.5, OL-14: P2_5_skew",
		"P2.6: P2_6_routing",
		"P2.6, LL-17: P2_6_LL17_owners_are_kept_while_reads_fail",
		"P3.2: P3_2_a_hint",
		"P3.3, P3.4, LL-5: P3_3_P3_4_a_release",
		"P3.5: P3_5_a_close_while_it_opens",
		"P4.1: P4_1_fenced_and_still_ours",
		"P4.1, LL-14: P4_1_fenced_and_lost",
		"P4.1: P4_1_fenced_and_unreadable",
		"P4.2, LL-13: P4_2_crashes",
		"P4.2: P4_2_failed_elsewhere",
		"P4.3: P4_3_an_open_that_hangs",
		"P6.1: P6_1_nobody_is_there",
		"P6.1: P6_1_another_answers",
		"P6.1: P6_1_its_own_answer",
		"P6.1: P6_1_silent_and_dead",
		"P6.1: P6_1_silent_and_alive",
		"P6.1: P6_1_a_conflict_starts_the_rule_again",
		"P6.1: P6_1_left",
		"P6.2: P6_2_superseded",
		"P6.2: P6_2_a_missing_heartbeat_is_written_again",
		"P6.3, LL-16: P6_3_leaving",
		"P6.3: P6_3_a_heartbeat_that_is_gone",
	} {
		t.Run(name, func(t *testing.T) {
			_, file, _ := strings.Cut(name, ": ")
			transcript.File(t, filepath.Join("testdata", "rules", file+".txt"), func(t *testing.T, out *strings.Builder) func([]string) {
				t.Helper()
				return (&script{t: t, out: out, stuck: map[int]bool{}}).input
			})
		})
	}
}

// script is a core, the store that it writes to, and both clocks; or a queue.
type script struct {
	t     *testing.T
	out   *strings.Builder
	quiet bool

	core    *core
	at      strategy.Instant
	wall    time.Time
	nonces  int
	pending []action // requests that are not answered
	late    []action // that will be carried out some time
	stuck   map[int]bool

	store    *shelf
	versions int

	queue *queue
	held  map[int]*strategy.Lease // of the queue
}

// input plays one line. In front of it, "quietly" leaves out what is done.
func (p *script) input(words []string) {
	p.quiet = words[0] == "quietly"
	if p.quiet {
		words = words[1:]
	}
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "node":
		p.begin(words[1:])
	case "queue":
		p.queue, p.held, p.at = newQueue(p.number(words[1])), map[int]*strategy.Lease{}, strategy.Now().Add(time.Hour)
	case "after":
		p.after(p.duration(rest))
	case "live":
		p.live(p.duration(rest))
	case "wall":
		p.wall = p.wall.Add(p.duration(rest))
	case "calm":
		p.calm()
	case "ok", "lose", "late", "refuse", "nobody", "silent", "unfit":
		p.answer(rest, words[0])
	case "answers":
		p.greet(rest)
	case "lands":
		p.apply(p.late[0])
		p.late = p.late[1:]
	case "lease":
		p.lease(p.number(words[1]), words[2:])
	case "heartbeat":
		p.heartbeat(words[1], words[2:])
	case "stuck":
		p.stuck[p.number(words[1])] = true
	case "free":
		delete(p.stuck, p.number(words[1]))
	default:
		p.happens(words)
	}
	p.wake()
}

// begin makes the core: node a shards=1 ttl=15s skew=0s.
func (p *script) begin(words []string) {
	shards, o := 1, Options{}
	for _, word := range words[1:] {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "shards":
			shards = p.number(value)
		case "ttl":
			o.TTL = p.duration(value)
		case "skew":
			o.MaxClockSkew = p.duration(value)
		default:
			p.t.Fatalf("option %q", word)
		}
	}
	o, err := o.withDefaults()
	if err != nil {
		p.t.Fatal(err)
	}
	p.at, p.wall = strategy.Instant(time.Hour), time.Unix(1000, 0)
	p.store = newShelf(func(string) Version { return p.version() })
	name := words[0]
	p.core = newCore(strategy.Node{Name: name, Address: name + ":1", Incarnation: name + "1"}, shards, o)
	p.core.random = func(n int64) int64 { return (n - 1) / 2 }
	p.core.nonce = func() string { p.nonces++; return fmt.Sprint("n", p.nonces) }
	p.core.inFlight = func(shard int) bool { return p.stuck[shard] }
}

// after lets time pass on both clocks, and wakes the core as often as it wants.
func (p *script) after(d time.Duration) {
	end := p.at.Add(d)
	for p.core != nil {
		next := p.core.wake()
		if next > end {
			break
		}
		p.pass(next)
		p.tell(due{})
	}
	p.pass(end)
	if p.queue != nil {
		p.queue.expire(p.at)
		p.steps()
	}
}

// live lets time pass, in which all requests are answered.
func (p *script) live(d time.Duration) {
	end := p.at.Add(d)
	for next := p.core.wake(); next <= end; next = p.core.wake() {
		p.pass(next)
		p.tell(due{})
		p.calm()
	}
	p.pass(end)
}

func (p *script) calm() {
	for len(p.pending) > 0 {
		p.answer("", "ok")
	}
}

func (p *script) pass(to strategy.Instant) {
	if to > p.at {
		p.wall = p.wall.Add(to.Sub(p.at))
		p.at = to
	}
}

// happens is an input to the core, or to the queue.
func (p *script) happens(words []string) {
	if p.queue != nil {
		p.queued(words)
		return
	}
	shard := -1
	if len(words) > 1 {
		shard = p.number(words[1])
	}
	what := strings.Join(slices.Delete(slices.Clone(words), min(1, len(words)), min(2, len(words))), " ")
	input, ok := map[string]any{
		"due": due{}, "look": look{}, "leave": leave{}, "refresh": refresh{shard},
		"opened": opened{shard: shard}, "opened failed": opened{shard, errBroken}, "opened fenced": opened{shard, strategy.ErrFenced},
		"closed": closed{shard}, "expired": expired{[]int{shard}},
		"crashed": down{shard, strategy.Crashed}, "fenced": down{shard, strategy.Fenced}, "stopped": down{shard, strategy.Stopped},
	}[what]
	if !ok {
		p.t.Fatalf("input %q", words)
	}
	p.tell(input)
}

func (p *script) tell(input any) {
	for _, a := range p.core.handle(moment{p.at, p.wall}, input) {
		p.printf("%v", a)
		switch a := a.(type) {
		case doRenew:
			for _, l := range a.leases {
				p.pending = append(p.pending, doWriteLease{renewals, l})
			}
		case doSetUp, doList, doReadLease, doReadBeat, doWriteBeat, doWriteLease, doGreet, doRemoveBeat:
			p.pending = append(p.pending, a)
		}
	}
}

func (p *script) printf(format string, args ...any) {
	if !p.quiet {
		fmt.Fprintf(p.out, "  "+format+"\n", args...)
	}
}

// wake writes when the core wants to be woken, from now.
func (p *script) wake() {
	if p.core == nil {
		return
	}
	if next := p.core.wake(); next == never {
		p.printf("wake never")
	} else {
		p.printf("wake in %v", max(next.Sub(p.at), 0))
	}
}

// answer ends the first request whose text begins so.
func (p *script) answer(what, how string) {
	i := slices.IndexFunc(p.pending, func(a action) bool { return strings.HasPrefix(a.String(), what) })
	if i < 0 {
		p.t.Fatalf("no request %q among %v", what, p.pending)
	}
	a := p.pending[i]
	p.pending = slices.Delete(p.pending, i, i+1)
	switch how {
	case "ok":
		p.tell(p.apply(a))
	case "lose":
		p.apply(a)
		p.tell(failure(a, ErrUnknownOutcome))
	case "late":
		p.late = append(p.late, a)
		p.tell(failure(a, ErrUnknownOutcome))
	case "nobody":
		p.tell(greeted{err: strategy.ErrNobody})
	case "unfit":
		p.tell(failure(a, ErrUnsupported))
	default:
		p.tell(failure(a, errBroken))
	}
}

// greet lets an incarnation answer the greeting.
func (p *script) greet(incarnation string) {
	p.pending = slices.DeleteFunc(p.pending, func(a action) bool { _, ok := a.(doGreet); return ok })
	p.tell(greeted{node: strategy.Node{Name: p.core.node.Name, Incarnation: incarnation}})
}

func (p *script) apply(a action) any {
	if _, ok := a.(doGreet); ok {
		return greeted{err: strategy.ErrNobody}
	}
	return p.store.apply(a)
}

func (p *script) version() Version { p.versions++; return Version(fmt.Sprint("v", p.versions)) }

// lease puts a record into the store: b b1 3 15s, which is owner, incarnation, generation
// and TTL, or free 3, or unreadable, or deleted.
func (p *script) lease(shard int, words []string) {
	l := Lease{Shard: shard, Version: p.version()}
	switch words[0] {
	case "deleted":
		delete(p.store.leases, shard)
		return
	case "unreadable":
		l.Unreadable = true
	case "free":
		l.Record.Generation = uint64(p.number(words[1]))
	default:
		l.Record = Record{
			Owner: words[0], Address: words[0] + ":1", Incarnation: words[1], Generation: uint64(p.number(words[2])), TTL: p.duration(words[3]),
		}
		l.Record.ExpiresAt = p.wall.Add(l.Record.TTL)
	}
	p.store.leases[shard] = l
}

// heartbeat puts one into the store: live b1 15s 0:running:3, or unreadable, or deleted.
func (p *script) heartbeat(node string, words []string) {
	b := Beat{Version: p.version(), Heartbeat: Heartbeat{Node: node, Address: node + ":1"}}
	switch words[0] {
	case "deleted":
		delete(p.store.beats, node)
		return
	case "unreadable":
		b.Unreadable = true
	default:
		b.Heartbeat.State, b.Heartbeat.Incarnation, b.Heartbeat.TTL = NodeState(words[0]), words[1], p.duration(words[2])
		for _, held := range words[3:] {
			parts := strings.Split(held, ":")
			b.Heartbeat.Shards = append(b.Heartbeat.Shards, Held{p.number(parts[0]), HeldState(parts[1]), uint64(p.number(parts[2]))})
		}
	}
	p.store.beats[node] = b
}

// queued is an input to the queue.
func (p *script) queued(words []string) {
	shard := p.number(words[1])
	switch words[0] {
	case "open":
		p.held[shard] = strategy.NewLease(1, p.at.Add(p.duration(words[2])))
		p.queue.open(shard, p.held[shard])
	case "close":
		p.queue.close(shard)
	case "drop":
		p.held[shard].End()
	case "renew":
		p.held[shard].Renew(p.at.Add(p.duration(words[2])))
	case "started":
		p.queue.started(shard, nil)
	case "failed":
		p.queue.started(shard, strategy.ErrClosing)
	case "stopped":
		p.queue.stopped(shard)
	case "crashed":
		p.queue.down(shard, strategy.Crashed)
	default:
		p.t.Fatalf("input %q", words)
	}
	p.queue.expire(p.at)
	p.steps()
}

func (p *script) steps() {
	for _, s := range p.queue.take() {
		switch {
		case s.start != nil:
			p.printf("start %d", s.start.shard)
		case s.told == nil:
			p.printf("stop %d", s.stop)
		default:
			p.printf("%s", toldText(s.told))
		}
	}
	if next := p.queue.due(); next != 0 {
		p.printf("wake in %v", max(next.Sub(p.at), 0))
	}
}

// toldText is what the runner tells the loop, as people read it.
func toldText(told any) string {
	switch m := told.(type) {
	case opened:
		if m.err != nil {
			return fmt.Sprintf("tell opened %d: %v", m.shard, m.err)
		}
		return fmt.Sprintf("tell opened %d", m.shard)
	case closed:
		return fmt.Sprintf("tell closed %d", m.shard)
	case down:
		return fmt.Sprintf("tell down %d %v", m.shard, m.reason)
	case expired:
		return fmt.Sprintf("tell expired %v", m.shards)
	}
	return fmt.Sprintf("tell %T", told)
}

func (p *script) number(text string) int { return transcript.Number(p.t, text) }

func (p *script) duration(text string) time.Duration { return transcript.Duration(p.t, text) }
