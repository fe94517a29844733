package lease

import (
	"fmt"
	"strings"
	"time"
)

// ticks is so much time.
func ticks(n int) time.Duration { return time.Duration(n) * tick }

// step is how a situation was reached.
type reached struct {
	from int
	move move
}

// explorer looks at all runs with no trouble, then at all with one piece of it, and so on.
type explorer struct {
	*exploration

	limit   int // of situations
	seen    map[uint64]struct{}
	ways    []reached
	queues  [][]waiting // by trouble
	keys    keyer
	settled int
	worst   int
	whole   int // so much trouble was seen in all its ways
	found   *waiting
}

type waiting struct {
	s  *situation
	at int // in ways
}

func (e *exploration) explore(limit int) *explorer {
	x := &explorer{exploration: e, limit: limit, seen: map[uint64]struct{}{}, queues: make([][]waiting, e.total+1), whole: -1}
	x.add(e.begin(), reached{from: -1}, 0)
	for cost := range x.queues {
		for len(x.queues[cost]) > 0 && x.found == nil {
			if len(x.seen) > limit {
				return x
			}
			q := x.queues[cost]
			w := q[0]
			q[0] = waiting{}
			x.queues[cost] = q[1:]
			x.visit(w)
		}
		if x.found != nil {
			return x
		}
		x.whole = cost
	}
	return x
}

func (x *explorer) visit(w waiting) {
	for _, m := range w.s.moves() {
		if t := w.s.onward(m); t != nil {
			x.add(t, reached{w.at, m}, t.total)
		}
		if x.found != nil {
			return
		}
	}
}

// onward is the situation after a move, and after those that have to follow.
func (s *situation) onward(m move) *situation {
	t := s.after(m)
	for t != nil && t.wrong == "" {
		next := t.moves()
		if len(next) != 1 || next[0].cost > 0 || next[0].kind == "tick" {
			break
		}
		t = t.after(next[0])
	}
	return t
}

func (x *explorer) add(s *situation, how reached, cost int) {
	key := s.key(&x.keys)
	if _, known := x.seen[key]; known {
		return
	}
	x.seen[key] = struct{}{}
	x.ways = append(x.ways, how)
	w := waiting{s, len(x.ways) - 1}
	if s.wrong == "" && key%(8<<(2*cost)) == 0 && x.catches == "" {
		x.settled++
		if took := s.settle(); took > x.worst {
			x.worst = took
			if took > x.bound() {
				s.wrong = fmt.Sprintf("L1: not served for %d ticks", took)
			}
		}
	}
	if s.wrong != "" {
		x.found = &w
		return
	}
	x.queues[cost] = append(x.queues[cost], w)
}

// way is the shortest way to what was found.
func (x *explorer) way() string {
	if x.found == nil {
		return ""
	}
	var moves []move
	for at := x.found.at; x.ways[at].from >= 0; at = x.ways[at].from {
		moves = append(moves, x.ways[at].move)
	}
	var b strings.Builder
	s := x.begin()
	for i := len(moves) - 1; i >= 0; {
		m := moves[i]
		if next := s.moves(); len(next) == 1 && next[0].cost == 0 && next[0].kind != "tick" && i < len(moves)-1 {
			m = next[0]
		} else {
			i--
		}
		b.WriteString(s.tells(m))
		s = s.after(m)
	}
	if strings.HasPrefix(x.found.s.wrong, "L1") {
		b.WriteString("\n  and then")
		log := ""
		x.found.s.log, x.found.s.wrong = &log, ""
		x.found.s.settle()
		b.WriteString(log)
	}
	return b.String()
}

// tells is a move as people read it.
func (s *situation) tells(m move) string {
	if m.node < 0 {
		return fmt.Sprintf("\n  %s %d", m.kind, m.wire)
	}
	n := s.nodes[m.node]
	text := fmt.Sprintf("\n  %s %s", m.kind, n.inc)
	if m.wire < len(n.wires) && strings.Contains("apply reply hold release lose late refuse lands silent omit", m.kind) {
		text += fmt.Sprintf(": %v", n.wires[m.wire].act)
		if m.kind == "reply" {
			text += fmt.Sprintf(" %v", n.wires[m.wire].outcome.err())
		}
	}
	return text
}

// calm lets everything go on without trouble until there is nothing more to do.
func (s *situation) calm() {
	for steps := 0; ; steps++ {
		if steps > 10_000 {
			s.wrong = "L0: it never comes to rest"
			return
		}
		var next *move
		for _, m := range s.moves() {
			if m.cost == 0 && m.node >= 0 && m.kind != "release" && m.kind != "lands" && m.kind != "unstuck" {
				next = &m
				break
			}
		}
		if next == nil {
			return
		}
		if s.log != nil {
			*s.log += s.tells(*next)
		}
		s.nodes[next.node] = s.nodes[next.node].clone()
		s.carryOut(*next)
		s.check()
	}
}

// settle ends all trouble and says after how many ticks the shard is served for good.
func (s *situation) settle() (worst int) {
	for _, lands := range []bool{false, true} {
		t := s.clone(-1)
		calmly := *s.exploration
		calmly.free = false
		t.exploration = &calmly
		t.untrouble(lands)
		worst = max(worst, t.served())
		if t.wrong != "" {
			s.wrong = "settling " + t.wrong
		}
	}
	return worst
}

func (s *situation) untrouble(lands bool) {
	for i, n := range s.nodes {
		n.paused = false
		for j := len(n.wires) - 1; j >= 0; j-- {
			switch w := &n.wires[j]; {
			case w.gone && lands:
				s.carryOut(move{kind: "lands", node: i, wire: j})
			case w.gone:
				w.held = false
			}
			if n != s.nodes[i] {
				n = s.nodes[i]
			}
		}
		for j := range n.wires {
			n.wires[j].held = false
		}
		n.held = false
		if n.stuck && lands { // or never
			s.carryOut(move{kind: "unstuck", node: i})
		}
	}
}

// served is after how many ticks the shard is served for good, if somebody is there.
func (s *situation) served() (last int) {
	for now := range 40 {
		s.calm()
		if s.wrong != "" {
			return 0
		}
		serves, able := false, false
		for _, n := range s.nodes {
			serves = serves || n.gate()
			able = able || n.runs() && n.core.phase != leaving && !n.stuck
		}
		if !able {
			return 0
		}
		if !serves {
			last = now + 1
		}
		if s.log != nil {
			*s.log += fmt.Sprintf("\n  tick, served %v", serves)
		}
		s.tick(-1, 0)
	}
	return last
}

// bound is within how many ticks the shard has to be served again: a TTL and two
// intervals, and what a shard that failed is left alone for.
func (x *explorer) bound() int {
	return maxOf(x.ttls) + 4
}

func maxOf(all []int) (most int) {
	for _, n := range all {
		most = max(most, n)
	}
	return most
}
