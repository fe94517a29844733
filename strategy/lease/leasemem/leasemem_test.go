package leasemem_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/lease/leasemem"
)

var errTold = errors.New("as told")

func claim(shard int, replaced lease.Version, owner string) lease.Lease {
	return lease.Lease{Shard: shard, Version: replaced, Record: lease.Record{Owner: owner, Generation: 1, TTL: time.Second}}
}

func beat(node string) lease.Beat {
	return lease.Beat{Heartbeat: lease.Heartbeat{Node: node, State: lease.Live, TTL: time.Second, Shards: []lease.Held{{Shard: 1}}}}
}

// mustOwn checks who owns a shard; empty for a missing lease.
func mustOwn(t *testing.T, s *leasemem.Store, shard int, owner string) {
	t.Helper()
	if got := s.Snapshot().Leases[shard].Record.Owner; got != owner {
		t.Errorf("shard %d is owned by %q, want %q", shard, got, owner)
	}
}

func mustBe(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

// outcomes tells which of ten calls failed: of each node the reads of three shards' leases and
// of a heartbeat, and the removal of another one.
func outcomes(a, b *leasemem.Node) string {
	ctx, got := context.Background(), ""
	note := func(err error) {
		if errors.Is(err, errTold) {
			got += "1"
		} else {
			got += "0"
		}
	}
	for _, n := range []*leasemem.Node{a, b} {
		for shard := range 3 {
			_, err := n.ReadLease(ctx, shard)
			note(err)
		}
		_, err := n.ReadHeartbeat(ctx, "a")
		note(err)
		note(n.RemoveHeartbeat(ctx, "b"))
	}
	return got
}

func TestRuleChoosesCalls(t *testing.T) {
	tests := []struct {
		name string
		rule leasemem.Rule
		want string
	}{
		{"all", leasemem.Rule{}, "1111111111"},
		{"a kind", leasemem.Rule{Ops: leasemem.ReadLease}, "1110011100"},
		{"kinds", leasemem.Rule{Ops: leasemem.Writes | leasemem.ReadHeartbeat}, "0001100011"},
		{"another kind", leasemem.Rule{Ops: leasemem.Renew | leasemem.List}, "0000000000"},
		{"a caller", leasemem.Rule{By: "b"}, "0000011111"},
		{"shards", leasemem.Rule{Shards: []int{0, 2}}, "1010010100"},
		{"a heartbeat", leasemem.Rule{Nodes: []string{"b"}}, "0000100001"},
		{"skip and times of those that match", leasemem.Rule{Shards: []int{1}, Skip: 1, Times: 1}, "0000001000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := leasemem.New()
			a, b := s.Node("a"), s.Node("b")
			test.rule.Fault = leasemem.Fail(errTold)
			i := s.Inject(test.rule)
			if got := outcomes(a, b); got != test.want {
				t.Errorf("failed: %s, want %s", got, test.want)
			}
			if i.Fired() == 0 != (test.want == "0000000000") {
				t.Errorf("fired %d times", i.Fired())
			}
			i.Remove()
			i.Remove()
			if got := outcomes(a, b); got != "0000000000" {
				t.Errorf("failed without a rule: %s", got)
			}
		})
	}
}

func TestRuleOfAViewIsForThatView(t *testing.T) {
	s := leasemem.New()
	older, newer := s.Node("a"), s.Node("a")
	newer.Inject(leasemem.Rule{Fault: leasemem.Fail(errTold)})
	if got := outcomes(older, newer); got != "0000011111" {
		t.Errorf("failed: %s", got)
	}
	s.Clear()
	if got := outcomes(older, newer); got != "0000000000" {
		t.Errorf("failed without a rule: %s", got)
	}
}

func TestFirstRuleApplies(t *testing.T) {
	s := leasemem.New()
	a := s.Node("a")
	a.Inject(leasemem.Rule{Times: 1})
	s.Inject(leasemem.Rule{Times: 1, Fault: leasemem.Fail(errTold)})
	for i, want := range []error{nil, errTold, nil} {
		if err := a.Setup(t.Context()); !errors.Is(err, want) {
			t.Errorf("call %d: %v, want %v", i, err, want)
		}
	}
}

func TestLostCalls(t *testing.T) {
	for name, test := range map[string]struct {
		fault leasemem.Fault
		owner string // afterwards
	}{
		"reply":   {leasemem.LoseReply(), "a"},
		"request": {leasemem.LoseRequest(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := leasemem.New()
			a := s.Node("a")
			s.Inject(leasemem.Rule{Fault: test.fault})
			_, err := a.WriteLease(t.Context(), claim(1, "", "a"))
			mustBe(t, err, lease.ErrUnknownOutcome)
			mustOwn(t, s, 1, test.owner)
			a.Renew(t.Context(), []lease.Lease{claim(2, "", "a")}, func(_ int, _ lease.Version, err error) {
				mustBe(t, err, lease.ErrUnknownOutcome)
			})
			mustOwn(t, s, 2, test.owner)
			_, err = a.WriteHeartbeat(t.Context(), beat("a"))
			mustBe(t, err, lease.ErrUnknownOutcome)
			mustBe(t, a.RemoveHeartbeat(t.Context(), "a"), lease.ErrUnknownOutcome)
			if _, err := a.ReadLease(t.Context(), 1); err == nil || errors.Is(err, lease.ErrUnknownOutcome) || errors.Is(err, lease.ErrMissing) {
				t.Errorf("read: %v", err)
			}
		})
	}
}

// A call that is held up at a gate, and given up or not.
func TestGates(t *testing.T) {
	for name, test := range map[string]struct {
		fault   func(*leasemem.Gate) leasemem.Fault
		held    string // the owner while it is held up
		givenUp string // the owner when the gate opened after that
	}{
		"before": {(*leasemem.Gate).Before, "", ""},
		"after":  {(*leasemem.Gate).After, "a", "a"},
		"late":   {(*leasemem.Gate).Late, "", "a"},
	} {
		for _, givenUp := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " given up ", givenUp), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, gate := leasemem.New(), leasemem.NewGate()
					s.Inject(leasemem.Rule{Fault: test.fault(gate)})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					result := make(chan error, 1)
					go func() {
						_, err := s.Node("a").WriteLease(ctx, claim(1, "", "a"))
						result <- err
					}()
					if err := gate.Await(t.Context(), 1); err != nil {
						t.Fatal(err)
					}
					mustOwn(t, s, 1, test.held)
					if givenUp {
						cancel()
						err := <-result
						mustBe(t, err, lease.ErrUnknownOutcome)
						mustBe(t, err, context.Canceled)
						gate.Open()
						mustOwn(t, s, 1, test.givenUp)
						return
					}
					gate.Open()
					gate.Open()
					mustBe(t, <-result, nil)
					mustOwn(t, s, 1, "a")
				})
			})
		}
	}
}

// What was late meets the store as it is when the gate opens: the first claim wins.
func TestLateCallsComeInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := leasemem.New(), leasemem.NewGate()
		s.Inject(leasemem.Rule{Fault: gate.Late()})
		for _, owner := range []string{"x", "y", "z"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := s.Node(owner).WriteLease(ctx, claim(0, "", owner))
			mustBe(t, err, lease.ErrUnknownOutcome)
			cancel()
		}
		gate.Open()
		mustOwn(t, s, 0, "x")
	})
}

// Renewals that hang keep no others up, and each hangs until it may go.
func TestRenewDoesNotWaitForThoseThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := leasemem.New(), leasemem.NewGate()
		a := s.Node("a")
		a.Inject(leasemem.Rule{Ops: leasemem.Renew, Shards: []int{0, 2}, Fault: gate.Before()})
		a.Inject(leasemem.Rule{Ops: leasemem.Renew, Shards: []int{3}, Fault: leasemem.Fail(errTold)})
		var list []lease.Lease
		for n := range 5 {
			list = append(list, claim(n, "", "a"))
		}
		told := make(chan int, len(list))
		over := make(chan bool)
		go func() {
			a.Renew(t.Context(), list, func(i int, _ lease.Version, err error) {
				if failed := i == 3; failed != (err != nil) {
					t.Errorf("lease %d: %v", i, err)
				}
				told <- i
			})
			close(over)
		}()
		synctest.Wait()
		for _, want := range []int{1, 3, 4} {
			if got := <-told; got != want {
				t.Errorf("told of lease %d, want %d", got, want)
			}
		}
		select {
		case <-over:
			t.Fatal("Renew returned while two of its calls hung")
		default:
		}
		gate.Open()
		<-over
		if len(told) != 2 {
			t.Errorf("told of %d more, want 2", len(told))
		}
	})
}

func TestDelayKeepsTheTimeOfTheBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := leasemem.New()
		s.Inject(leasemem.Rule{Fault: leasemem.Delay(time.Hour)})
		start := time.Now()
		if _, err := s.Node("a").WriteLease(t.Context(), claim(1, "", "a")); err != nil || time.Since(start) != time.Hour {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := s.Node("a").WriteLease(ctx, claim(2, "", "a"))
		mustBe(t, err, context.DeadlineExceeded)
		if errors.Is(err, lease.ErrUnknownOutcome) {
			t.Errorf("nothing was sent, but the outcome is said to be unknown: %v", err)
		}
		mustOwn(t, s, 2, "")
	})
}

func TestPlanting(t *testing.T) {
	s := leasemem.New()
	a := s.Node("a")
	v, err := a.WriteLease(t.Context(), claim(1, "", "a"))
	mustBe(t, err, nil)
	planted := s.Plant(claim(1, "nonsense", "b"))
	if planted == v {
		t.Errorf("planted in the version %q that was there", v)
	}
	_, err = a.WriteLease(t.Context(), claim(1, v, "a"))
	mustBe(t, err, lease.ErrConflict)
	corrupt := s.Corrupt(1)
	l, err := a.ReadLease(t.Context(), 1)
	if err != nil || !l.Unreadable || l.Version != corrupt || l.Shard != 1 || l.Record != (lease.Record{}) {
		t.Errorf("the corrupt lease reads %+v, %v", l, err)
	}
	if _, err := a.WriteLease(t.Context(), claim(1, corrupt, "a")); err != nil {
		t.Error(err)
	}
	s.Delete(1)
	_, err = a.ReadLease(t.Context(), 1)
	mustBe(t, err, lease.ErrMissing)
}

func TestPlantingHeartbeats(t *testing.T) {
	s := leasemem.New()
	a, given := s.Node("a"), beat("b")
	v := s.PlantHeartbeat(given)
	given.Heartbeat.Shards[0].Shard = 99
	b, err := a.ReadHeartbeat(t.Context(), "b")
	if err != nil || b.Version != v || b.Heartbeat.Shards[0].Shard != 1 {
		t.Errorf("the heartbeat reads %+v, %v", b, err)
	}
	b.Heartbeat.Shards[0].Shard = 99
	s.Snapshot().Heartbeats["b"].Heartbeat.Shards[0].Shard = 98
	if again, _ := a.ReadHeartbeat(t.Context(), "b"); again.Heartbeat.Shards[0].Shard != 1 {
		t.Error("what was read is shared with the store")
	}
	corrupt := s.CorruptHeartbeat("b")
	b, err = a.ReadHeartbeat(t.Context(), "b")
	if err != nil || !b.Unreadable || b.Version != corrupt || b.Heartbeat.Node != "b" {
		t.Errorf("the corrupt heartbeat reads %+v, %v", b, err)
	}
	s.DeleteHeartbeat("b")
	_, err = a.ReadHeartbeat(t.Context(), "b")
	mustBe(t, err, lease.ErrMissing)
}

func TestOmittedFromListings(t *testing.T) {
	s := leasemem.New()
	s.Plant(claim(1, "", "a"))
	s.Plant(claim(2, "", "a"))
	s.PlantHeartbeat(beat("a"))
	s.PlantHeartbeat(beat("b"))
	s.Inject(leasemem.Rule{By: "a", Ops: leasemem.List, Fault: leasemem.Omit([]int{1}, []string{"b"})})
	l, err := s.Node("a").List(t.Context())
	if _, shown := l.Leases[2]; err != nil || len(l.Leases) != 1 || !shown || len(l.Heartbeats) != 1 {
		t.Errorf("a sees %v, %v", l, err)
	}
	if l, _ := s.Node("b").List(t.Context()); len(l.Leases) != 2 || len(l.Heartbeats) != 2 {
		t.Errorf("b sees %v", l)
	}
}

func TestCallsAreCountedAndSeen(t *testing.T) {
	s := leasemem.New()
	a, b := s.Node("a"), s.Node("b")
	var seen []string
	s.Watch(func(c leasemem.Call) { seen = append(seen, fmt.Sprint(c.By, " ", c.Op, " ", c.Shard, c.Node)) })
	a.Inject(leasemem.Rule{Ops: leasemem.Renew, Fault: leasemem.Fail(errTold)})
	a.Renew(t.Context(), []lease.Lease{claim(4, "", "a"), claim(5, "", "a")}, func(int, lease.Version, error) {})
	_, _ = a.List(t.Context())
	_, _ = b.List(t.Context())
	_ = b.RemoveHeartbeat(t.Context(), "x")
	for _, test := range []struct{ got, want int }{
		{s.Count(leasemem.Any), 5},
		{a.Count(leasemem.Any), 3},
		{a.Count(leasemem.Renew), 2},
		{b.Count(leasemem.Renew), 0},
		{s.Count(leasemem.List), 2},
		{b.Count(leasemem.Writes), 1},
		{s.Count(leasemem.Reads), 2},
	} {
		if test.got != test.want {
			t.Errorf("counted %d calls, want %d", test.got, test.want)
		}
	}
	want := []string{
		fmt.Sprint("a ", leasemem.Renew, " 4"), fmt.Sprint("a ", leasemem.Renew, " 5"),
		fmt.Sprint("a ", leasemem.List, " 0"), fmt.Sprint("b ", leasemem.List, " 0"), fmt.Sprint("b ", leasemem.RemoveHeartbeat, " 0x"),
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("saw %q, want %q", seen, want)
	}
	s.ResetCounts()
	if n := s.Count(leasemem.Any); n != 0 {
		t.Errorf("counted %d calls after a reset", n)
	}
}

func TestClosedViewsFail(t *testing.T) {
	s := leasemem.New()
	a, again := s.Node("a"), s.Node("a")
	mustBe(t, a.Close(), nil)
	if err := a.Setup(t.Context()); err == nil {
		t.Error("a closed view was set up")
	}
	mustBe(t, again.Setup(t.Context()), nil)
}
