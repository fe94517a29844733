package lease

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy"
)

var (
	two      = []string{"a", "b"}
	bothFour = []int{4, 4}
)

// explorationLimit is less for the race detector, since there is one goroutine.
func explorationLimit(normal int) int {
	switch {
	case os.Getenv("SLAP_STRESS") == "1":
		return 40 * normal
	case raced:
		return normal / 4
	}
	return normal
}

var explorations = []exploration{
	{name: "claims meet", names: two, ttls: bothFour, budget: budget{Hold: 2, Lose: 1, Late: 1, Refuse: 1, Drift: 1, Kill: 1}, total: 3, alone: true, writes: true},
	{name: "claims meet, with heartbeats", names: two, ttls: bothFour, budget: budget{Hold: 3, Late: 1, Drift: 1}, total: 3},
	{name: "listings are old or omit", names: two, ttls: bothFour, warm: 2, budget: budget{Hold: 2, Omit: 2, Pause: 1}, total: 3},
	{name: "a pause", names: two, ttls: bothFour, warm: 2, budget: budget{Hold: 2, Late: 1, Pause: 2, Drift: 1}, total: 3, alone: true, writes: true},
	{name: "shorter and longer", names: two, ttls: []int{6, 4}, budget: budget{Hold: 1, Late: 1, Lose: 1, Pause: 2, Drift: 1}, total: 3, alone: true, writes: true},
	{name: "abandoned", names: two, ttls: bothFour, budget: budget{Hold: 2, Abandon: 2, Drift: 1, Down: 1, Fail: 1}, total: 3, writes: true},
	{name: "a node leaves", names: two, ttls: bothFour, warm: 1, budget: budget{Hold: 2, Leave: 1, Late: 1, Lose: 1, Refuse: 1}, total: 3, writes: true},
	{name: "unreadable", names: two, ttls: []int{5, 4}, warm: 1, budget: budget{Hold: 2, Damage: 2, Late: 1, Pause: 1, Drift: 1}, total: 3, writes: true},
	{name: "deleted", names: two, ttls: bothFour, warm: 1, budget: budget{Hold: 1, Delete: 1, Late: 1, Pause: 1, Drift: 1}, total: 3, writes: true},
	{name: "restarted", names: []string{"a", "b", "a"}, ttls: []int{4, 4, 4}, late: 1, warm: 1, budget: budget{Hold: 2, Kill: 1, Start: 1, Late: 1, Lose: 1}, total: 3},
	{name: "one name twice", names: []string{"a", "b", "a"}, ttls: []int{4, 4, 4}, late: 1, warm: 1, budget: budget{Hold: 1, Start: 1, Silent: 2, Pause: 1, Late: 1}, total: 3},
	{name: "any order", names: two, ttls: bothFour, budget: budget{Lose: 1, Kill: 1}, total: 1, alone: true, free: true},
}

// Every way of one shard with so much trouble is safe, and ends with the shard served.
func TestP2_3_EveryWayOfOneShard(t *testing.T) {
	for i := range explorations {
		e := &explorations[i]
		t.Run(e.name, func(t *testing.T) {
			began := time.Now()
			x := e.explore(explorationLimit(3_500))
			t.Logf("%d situations, all ways with %d of %d, %d settled within %d ticks, %v",
				len(x.seen), x.whole, e.total, x.settled, x.worst, time.Since(began).Round(time.Millisecond))
			if x.found != nil {
				wrong := x.found.s.wrong
				t.Errorf("%s:%s", wrong, x.way())
			}
			if x.settled == 0 {
				t.Error("nothing was settled")
			}
		})
	}
}

// first is the shard that is explored.
func (n *explored) first() *shard { return &n.core.shards[0] }

var broken = []exploration{
	{
		name: "the deadline counts from the reply", catches: "S4", names: two, ttls: bothFour, budget: budget{Hold: 1, Pause: 1}, total: 2, alone: true, writes: true,
		input: func(n *explored, in any) any {
			if w, ok := in.(leaseWritten); ok && w.err == nil && n.first().sent != nil {
				n.first().sent.sent = n.now
			}
			return in
		},
	},
	{
		name: "the deadline counts from the read", catches: "S4", names: two, ttls: bothFour, budget: budget{Hold: 1, Lose: 1, Pause: 1}, total: 3, alone: true,
		input: func(n *explored, in any) any {
			if _, ok := in.(leaseRead); ok {
				for i := range n.first().doubtful {
					n.first().doubtful[i].sent = n.now
				}
			}
			return in
		},
	},
	{
		name: "claims without a condition", catches: "S5", names: two, ttls: bothFour, budget: budget{Hold: 1}, total: 1, alone: true, writes: true,
		store: func(s *situation, l *Lease) { l.Version = s.record.Version },
	},
	{
		name: "freed before it is closed", catches: "S6", names: two, ttls: bothFour, budget: budget{Hold: 1, Leave: 1}, total: 2, writes: true,
		after: func(n *explored) {
			if s := n.first(); s.local == closes && s.held != nil && s.held.releasing {
				s.local = away
				n.handle(due{})
			}
		},
	},
	{
		name: "the observer's TTL", catches: "S4", names: two, ttls: []int{8, 4}, budget: budget{Pause: 1}, total: 1, writes: true,
		input: func(n *explored, in any) any {
			switch in := in.(type) {
			case leaseRead:
				in.lease.Record.TTL = n.options.TTL
				return in
			case beatRead:
				in.beat.Heartbeat.TTL = n.options.TTL
				return in
			}
			return in
		},
	},
	{
		name: "a late open is kept", catches: "S4", names: two, ttls: bothFour, budget: budget{Abandon: 1}, total: 1, writes: true, keeps: true,
	},
	{
		name: "opens what is stuck", catches: "P4.3", names: two, ttls: bothFour, budget: budget{Abandon: 1}, total: 1, writes: true, blind: true,
	},
	{
		name: "what is unreadable is free", catches: "S4", names: two, ttls: bothFour, warm: 2, budget: budget{Drift: 1, Damage: 1}, total: 2, alone: true, writes: true,
		input: func(n *explored, in any) any {
			if r, ok := in.(leaseRead); ok && r.lease.Unreadable {
				n.first().known, n.first().version, n.first().since = true, r.lease.Version, n.now.Add(-time.Hour)
				n.first().lister = nil
			}
			return in
		},
	},
	{
		name: "the generation begins anew", catches: "S5", names: two, ttls: bothFour, budget: budget{Delete: 1, Kill: 1}, total: 2, writes: true,
		input: func(n *explored, in any) any {
			n.core.highest, n.wall = 0, 1
			return in
		},
	},
	{
		name: "no margin", catches: "S4", names: two, ttls: bothFour, budget: budget{Pause: 1, Drift: 1}, total: 2, writes: true,
		input: func(n *explored, in any) any {
			n.core.options.Margin = 0
			return in
		},
	},
	{
		name: "nobody greets", catches: "D4", names: []string{"a", "b", "a"}, ttls: []int{4, 4, 4}, late: 1, warm: 1, budget: budget{Start: 1}, total: 1,
		input: func(_ *explored, in any) any {
			if _, ok := in.(greeted); ok {
				return greeted{err: strategy.ErrNobody}
			}
			return in
		},
	},
}

// A core, a store or a node that breaks a rule is found out.
func TestP2_3_TheExplorationFindsWhatIsBroken(t *testing.T) {
	for i := range broken {
		e := &broken[i]
		t.Run(e.name, func(t *testing.T) {
			x := e.explore(60_000)
			if x.found == nil || !strings.Contains(x.found.s.wrong, e.catches) {
				t.Errorf("not caught in %d situations, all ways with %d of %d: %s", len(x.seen), x.whole, e.total, x.way())
				if x.found != nil {
					t.Error(x.found.s.wrong)
				}
				return
			}
			t.Logf("%s after %d situations", e.catches, len(x.seen))
		})
	}
}
