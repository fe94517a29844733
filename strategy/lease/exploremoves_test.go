package lease

import (
	"slices"

	"github.com/slap-go/slap/strategy"
)

// budget is how often each kind of trouble may come in one run.
type budget struct {
	Hold, Lose, Late, Refuse, Kill, Pause, Drift, Start, Abandon, Damage, Delete, Down, Fail, Leave, Silent, Omit int
}

// moves are the steps that may come next; the first without cost is what comes without
// trouble.
func (s *situation) moves() (all []move) {
	add := func(kind string, node, wire, cost int) {
		if cost == 0 || s.affords(kind) {
			all = append(all, move{kind, node, wire, cost})
		}
	}
	pending := false
	for i, n := range s.nodes {
		if !n.started {
			continue
		}
		before := len(all)
		s.pendingOf(i, n, add)
		if len(all) > before {
			pending = true
			if !s.free {
				return all
			}
		}
	}
	if !pending || s.free {
		add("tick", -1, 0, 0)
		for i := range s.nodes {
			s.quietOf(i, s.nodes[i], add)
		}
		add("drift", -1, 2, 1)
		add("drift", -1, 0, 1)
		add("damage", -1, 0, 1)
		add("delete", -1, 0, 1)
	}
	return all
}

// pendingOf are the steps of a node that come without waiting. Without freedom only the
// first may, or trouble instead of it.
func (s *situation) pendingOf(i int, n *explored, add func(string, int, int, int)) {
	if !n.dead && !n.paused {
		switch {
		case len(n.toRunner) > 0:
			add("runner", i, 0, 0)
		case len(n.toLoop) > 0:
			add("report", i, 0, 0)
		case n.wake <= n.now:
			add("due", i, 0, 0)
		case n.queue.due() != 0 && n.queue.due() <= n.now:
			add("runner due", i, 0, 0)
		case n.db == dbOpen && n.old && !n.kept:
			add("fenced", i, 0, 0)
		case n.db == dbOpening && !n.held:
			add("opened", i, 0, 0)
			add("hold db", i, 0, 1)
			add("abandon", i, 0, 1)
			add("fail", i, 0, 1)
		case n.db == dbClosing && !n.held:
			add("closed", i, 0, 0)
			add("hold db", i, 0, 1)
			add("abandon", i, 0, 1)
		default:
			s.wiresOf(i, n, add)
			return
		}
		if !s.free {
			return
		}
	}
	s.wiresOf(i, n, add)
}

func (s *situation) wiresOf(i int, n *explored, add func(string, int, int, int)) {
	for j, w := range n.wires {
		if w.held || w.gone || w.answered && (n.paused || n.dead) {
			continue
		}
		_, writes := w.act.(doWriteLease)
		trouble := writes || !s.writes
		if w.answered {
			add("reply", i, j, 0)
			if trouble {
				add("hold", i, j, 1)
			}
		} else {
			add("apply", i, j, 0)
			s.troubleOf(i, j, w.act, trouble, add)
		}
		if !s.free {
			return
		}
	}
}

func (s *situation) troubleOf(i, j int, a action, trouble bool, add func(string, int, int, int)) {
	switch a.(type) {
	case doGreet:
		add("silent", i, j, 1)
		return
	case doList:
		add("omit", i, j, 1)
	}
	if !trouble {
		return
	}
	add("hold", i, j, 1)
	add("refuse", i, j, 1)
	switch a.(type) {
	case doWriteLease, doWriteBeat:
		add("lose", i, j, 1)
		add("late", i, j, 1)
	}
}

// quietOf are the steps that come when nothing else is to be done.
func (s *situation) quietOf(i int, n *explored, add func(string, int, int, int)) {
	if !n.started {
		add("start", i, 0, 1)
		return
	}
	for j, w := range n.wires {
		if w.held && (!n.paused || !w.answered) {
			add("release", i, j, 0)
		}
		if w.gone {
			add("lands", i, j, 0)
		}
	}
	switch {
	case n.dead:
		return
	case n.paused:
		add("resume", i, 0, 0)
	default:
		add("pause", i, 0, 1)
		if n.runs() {
			add("leave", i, 0, 1)
		}
		if n.db == dbOpen {
			add("down", i, 0, 1)
		}
	}
	if n.held {
		add("release db", i, 0, 0)
	}
	if n.stuck {
		add("unstuck", i, 0, 0)
	}
	add("kill", i, 0, 1)
}

// affords says whether there may be such trouble once more.
func (s *situation) affords(kind string) bool {
	b := s.budget
	return s.total < s.exploration.total && *s.spent.of(kind) < *b.of(kind)
}

// of is what a budget has for a kind of move.
func (b *budget) of(kind string) *int {
	switch kind {
	case "hold", "hold db":
		return &b.Hold
	case "lose":
		return &b.Lose
	case "late":
		return &b.Late
	case "refuse":
		return &b.Refuse
	case "kill":
		return &b.Kill
	case "pause":
		return &b.Pause
	case "drift":
		return &b.Drift
	case "start":
		return &b.Start
	case "abandon":
		return &b.Abandon
	case "damage":
		return &b.Damage
	case "delete":
		return &b.Delete
	case "down":
		return &b.Down
	case "fail":
		return &b.Fail
	case "leave":
		return &b.Leave
	case "silent":
		return &b.Silent
	}
	return &b.Omit
}

// after is the situation after a move; nil if that may not be.
func (s *situation) after(m move) *situation {
	node := m.node
	t := s.clone(node)
	if m.cost > 0 {
		*t.spent.of(m.kind)++
		t.total++
	}
	if !t.carryOut(m) {
		return nil
	}
	t.check()
	return t
}

func (s *situation) carryOut(m move) bool {
	switch m.kind {
	case "tick":
		return s.tick(-1, 0)
	case "drift":
		return s.tick(1, m.wire)
	case "damage", "delete":
		return s.damage(m.kind == "delete")
	case "start":
		s.start(m.node)
		return true
	}
	n := s.nodes[m.node]
	switch m.kind {
	case "apply", "lose", "late", "refuse", "silent", "omit":
		s.request(n, m)
	case "reply":
		w := n.wires[m.wire]
		n.wires = slices.Delete(n.wires, m.wire, m.wire+1)
		s.tell(n, w.reply())
	case "hold":
		n.wires[m.wire].held = true
	case "release":
		n.wires[m.wire].held = false
		if n.wires[m.wire].answered {
			return s.carryOut(move{kind: "reply", node: m.node, wire: m.wire})
		}
		return s.carryOut(move{kind: "apply", node: m.node, wire: m.wire})
	case "lands":
		w := n.wires[m.wire]
		n.wires = slices.Delete(n.wires, m.wire, m.wire+1)
		s.apply(n, &w)
	default:
		s.process(n, m)
	}
	s.hints()
	return true
}

// request carries a request out, or lets it meet trouble.
func (s *situation) request(n *explored, m move) {
	w := &n.wires[m.wire]
	w.answered = true
	switch m.kind {
	case "refuse":
		w.outcome = refusedOutcome
	case "silent":
		w.outcome = unknown
	case "late":
		gone := *w
		gone.gone, gone.answered = true, false
		w.outcome = unknown
		n.wires = append(n.wires, gone)
	case "lose":
		s.apply(n, w)
		w.outcome = unknown
	case "omit":
		s.apply(n, w)
		w.listing = Listing{Heartbeats: map[string]Version{}}
	default:
		s.apply(n, w)
	}
}

// process is what happens within a node.
func (s *situation) process(n *explored, m move) {
	switch m.kind {
	case "runner":
		a := n.toRunner[0]
		n.toRunner = n.toRunner[1:]
		n.runner(a)
	case "report":
		r := n.toLoop[0]
		n.toLoop = n.toLoop[1:]
		s.tell(n, r.input())
	case "due":
		s.tell(n, due{})
	case "runner due":
		n.pump()
	case "fenced", "down":
		n.down(map[string]strategy.DownReason{"fenced": strategy.Fenced, "down": strategy.Crashed}[m.kind])
	case "opened", "fail", "closed", "abandon", "unstuck":
		s.database(n, m.kind)
	case "hold db":
		n.held = true
	case "release db":
		n.held = false
	case "pause":
		n.paused = true
	case "resume":
		n.paused = false
	case "leave":
		s.tell(n, leave{})
	case "kill":
		n.die()
	}
}

func (n *explored) down(reason strategy.DownReason) {
	n.db, n.served = dbClosed, nil
	n.queue.down(0, reason)
	n.pump()
}

// database ends an open or a close.
func (s *situation) database(n *explored, how string) {
	switch how {
	case "unstuck":
		n.stuck = false
		s.bump(n, true)
		if s.keeps {
			n.db, n.kept, n.old = dbOpen, true, false
		}
		return
	case "abandon":
		n.stuck = n.db == dbOpening // a close that goes on takes nothing from anybody
	}
	was := n.db
	n.db, n.held = dbClosed, false
	switch {
	case was == dbClosing:
		n.served = nil
		n.queue.stopped(0)
	case how == "opened":
		n.db = dbOpen
		s.bump(n, false)
		n.queue.started(0, nil)
	default:
		n.served = nil
		n.queue.started(0, ErrConflict)
	}
	n.pump()
}

// bump takes the database from whoever has it.
func (s *situation) bump(n *explored, late bool) {
	valid := !late && n.served != nil && n.served.Deadline() > n.now
	for _, o := range s.nodes {
		if o == n || o.dead || o.db != dbOpen && o.db != dbClosing {
			continue
		}
		if valid && o.name != n.name && o.promise > o.now {
			s.violate("S6")
		}
		s.own(o).old = true
	}
}

// own is the node, made this situation's own.
func (s *situation) own(n *explored) *explored {
	i := slices.Index(s.nodes, n)
	s.nodes[i] = n.clone()
	return s.nodes[i]
}

// tell gives a core what happens, broken or not.
func (s *situation) tell(n *explored, input any) {
	if n.dead || n.left {
		return
	}
	if s.input != nil {
		input = s.input(n, input)
	}
	n.blind = s.blind
	n.handle(input)
	if s.exploration.after != nil {
		s.exploration.after(n)
	}
}

func (s *situation) start(i int) {
	n := s.nodes[i]
	n.started = true
	s.tell(n, due{})
}

func (s *situation) hints() {
	for i, n := range s.nodes {
		if !n.wantsHint {
			continue
		}
		s.nodes[i] = n.clone()
		s.nodes[i].wantsHint = false
		for j, to := range s.nodes {
			if j != i && to.runs() && !to.paused && to.name != n.name {
				s.tell(s.own(to), look{})
			}
		}
	}
}

// tick lets time pass, on one clock by another amount.
func (s *situation) tick(drifter, by int) bool {
	for i, n := range s.nodes {
		n = n.clone()
		s.nodes[i] = n
		d := 1
		if i == drifter {
			d = by
			n.ahead += by - 1
			if n.ahead < 0 || n.ahead > 1 {
				return false
			}
		}
		n.now = n.now.Add(ticks(d))
	}
	return true
}

// damage makes the record unreadable or removes it.
func (s *situation) damage(remove bool) bool {
	if s.record.Version == "" || s.record.Unreadable {
		return false
	}
	for i := range s.nodes {
		s.nodes[i] = s.nodes[i].clone()
		s.nodes[i].wall += 100
	}
	s.record = Lease{Version: s.next(), Unreadable: true}
	if remove {
		s.record = Lease{}
	}
	return true
}
