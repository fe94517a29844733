package objectlease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/faults"
	"github.com/slap-go/slap/strategy/lease"
)

// one is each method of a store on one record, with the name of the record.
func one(r *records) map[string]func(ctx context.Context, replaced lease.Version) error {
	return map[string]func(context.Context, lease.Version) error{
		"write the lease of shard 3": func(ctx context.Context, v lease.Version) error {
			_, err := r.WriteLease(ctx, claim(3, v, "a"))
			return err
		},
		"write the lease of shard 4": func(ctx context.Context, v lease.Version) error {
			return renew(ctx, r, []lease.Lease{claim(4, v, "a")})[0]
		},
		`write the heartbeat of node "x"`: func(ctx context.Context, v lease.Version) error {
			_, err := r.WriteHeartbeat(ctx, lease.Beat{Version: v, Heartbeat: lease.Heartbeat{Node: "x", State: lease.Live, TTL: 1}})
			return err
		},
		`remove the heartbeat of node "x"`: func(ctx context.Context, _ lease.Version) error { return r.RemoveHeartbeat(ctx, "x") },
		"read the lease of shard 3": func(ctx context.Context, _ lease.Version) error {
			_, err := r.ReadLease(ctx, 3)
			return err
		},
		`read the heartbeat of node "x"`: func(ctx context.Context, _ lease.Version) error {
			_, err := r.ReadHeartbeat(ctx, "x")
			return err
		},
		"list the leases": func(ctx context.Context, _ lease.Version) error {
			_, err := r.List(ctx)
			return err
		},
	}
}

func isWrite(what string) bool {
	return strings.HasPrefix(what, "write") || strings.HasPrefix(what, "remove")
}

// Errors keep their kind and say which record they are about.
func TestErrorsHaveAKindAndName(t *testing.T) {
	unsure := fmt.Errorf("%w: and then %w", store.ErrUnknownOutcome, store.ErrConflict)
	tests := []struct {
		answer, want error
		not          []error
	}{
		{store.ErrNotFound, lease.ErrMissing, []error{lease.ErrConflict, lease.ErrUnknownOutcome}},
		{store.ErrConflict, lease.ErrConflict, []error{lease.ErrMissing, lease.ErrUnknownOutcome}},
		{unsure, lease.ErrUnknownOutcome, []error{lease.ErrMissing}},
		{errTold, errTold, []error{lease.ErrMissing, lease.ErrConflict, lease.ErrUnknownOutcome, lease.ErrUnsupported}},
	}
	for _, test := range tests {
		r, b := faulty(t)
		b.Inject(faults.Rule{Fault: faults.Fail(test.answer)})
		for what, call := range one(r) {
			if what == "list the leases" && !errors.Is(test.answer, errTold) {
				continue
			}
			err := call(t.Context(), "")
			mustBe(t, err, test.want)
			if err == nil || !strings.HasPrefix(err.Error(), what+": ") {
				t.Errorf("%v, want %q", err, what)
			}
			for _, not := range test.not {
				if errors.Is(err, not) {
					t.Errorf("%v is %v", err, not)
				}
			}
		}
	}
}

// A call ends with its context, whatever the bucket does; a write that is on its way may
// have been applied, and says so.
func TestCallsThatHangEndWithTheirContext(t *testing.T) {
	for _, fault := range []func(*faults.Gate) faults.Fault{(*faults.Gate).Late, (*faults.Gate).After} {
		r, b := faulty(t)
		for what, call := range one(r) {
			gate := faults.NewGate()
			rule := b.Inject(faults.Rule{Fault: fault(gate)})
			ctx, cancel := context.WithCancel(t.Context())
			result := make(chan error, 1)
			go func() { result <- call(ctx, "") }()
			mustBe(t, gate.AwaitRequest(t.Context()), nil)
			cancel()
			err := <-result
			mustBe(t, err, context.Canceled)
			if errors.Is(err, lease.ErrUnknownOutcome) != isWrite(what) {
				t.Errorf("%s: %v", what, err)
			}
			rule.Remove()
			gate.Open()
		}
	}
}

// One conditional write for each lease, all at once, each with a result of its own.
func TestOL10_Renew(t *testing.T) {
	const shards = 100 // far more than the 16 at a time of the original
	r, b := faulty(t)
	list := make([]lease.Lease, shards)
	for n := range list {
		list[n] = claim(n, mustWrite(t, r, claim(n, "", "a")), "a")
	}
	mustWrite(t, r, claim(40, list[40].Version, "b"))
	gate := faults.NewGate()
	b.Inject(faults.Rule{Key: r.place.shard(10), Fault: faults.LoseReply()})
	b.Inject(faults.Rule{Key: r.place.shard(20), Fault: faults.Throttle()})
	b.Inject(faults.Rule{Key: r.place.folder() + "shards/00003*", Fault: gate.Before()})
	b.ResetRequests()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := make(chan int, shards)
	errs := make([]error, shards)
	over := make(chan bool)
	go func() {
		r.Renew(ctx, list, func(i int, v lease.Version, err error) {
			if (v == "") != (err != nil) {
				t.Errorf("lease %d has version %q, %v", i, v, err)
			}
			errs[i] = err
			told <- i
		})
		close(over)
	}()
	seen := map[int]bool{}
	for range shards - 10 { // while ten hang
		seen[<-told] = true
	}
	for range 10 {
		mustBe(t, gate.AwaitRequest(t.Context()), nil)
	}
	select {
	case <-over:
		t.Fatal("Renew returned while ten of its writes hung")
	default:
	}
	cancel()
	<-over
	for i, err := range errs {
		switch {
		case i == 10:
			mustBe(t, err, lease.ErrUnknownOutcome)
		case i == 20:
			mustBe(t, err, faults.ErrThrottled)
		case i >= 30 && i < 40:
			mustBe(t, err, context.Canceled)
		case i == 40:
			mustBe(t, err, lease.ErrConflict)
		case err != nil || !seen[i]:
			t.Errorf("lease %d: %v, told while others hung: %v", i, err, seen[i])
		}
	}
	if all, puts := b.Requests(faults.Any, "*"), b.Requests(faults.Put, r.place.shards()+"*"); all != shards || puts != shards {
		t.Errorf("%d requests, %d of them writes of leases, want %d", all, puts, shards)
	}
}

// Freeing is a conditional write that keeps the generation; nothing is deleted but
// heartbeats.
func TestOL11_Release(t *testing.T) {
	r, b := faulty(t)
	v := mustWrite(t, r, claim(3, "", "a"))
	free := lease.Record{Generation: 4, Nonce: "free"}
	stale := lease.Lease{Shard: 3, Version: "stale", Record: free}
	_, err := r.WriteLease(t.Context(), stale)
	mustBe(t, err, lease.ErrConflict)
	v = mustWrite(t, r, lease.Lease{Shard: 3, Version: v, Record: free})
	l, err := r.ReadLease(t.Context(), 3)
	if err != nil || l.Unreadable || l.Version != v || l.Record != free {
		t.Errorf("the free lease reads %+v, %v", l, err)
	}
	mustPut(t, b, r.place.node("x"), goodHeartbeat)
	mustBe(t, r.RemoveHeartbeat(t.Context(), "x"), nil)
	mustBe(t, r.RemoveHeartbeat(t.Context(), "x"), nil)
	if n := b.Requests(faults.Delete, "*"); n != 2 || n != b.Requests(faults.Delete, r.place.node("x")) {
		t.Errorf("%d deletions", n)
	}
}

// A quiet round costs one write for each lease and for the heartbeat, and one listing,
// however many shards and nodes there are; what it reads costs one request each.
func TestOL16_Cost(t *testing.T) {
	const shards, nodes = 64, 3
	r, b := faulty(t)
	var mine []lease.Lease
	for n := range shards {
		l := claim(n, "", "a")
		v := mustWrite(t, r, l)
		if n%nodes == 0 {
			mine = append(mine, claim(n, v, "a"))
		}
	}
	for n := range nodes {
		mustPut(t, b, r.place.node(fmt.Sprint("n", n)), goodHeartbeat)
	}
	b.ResetRequests()
	ctx := t.Context()
	h := lease.Heartbeat{Node: "a", State: lease.Live, TTL: 1}
	if _, err := r.WriteHeartbeat(ctx, lease.Beat{Heartbeat: h}); err != nil {
		t.Fatal(err)
	}
	if errs := renew(ctx, r, mine); slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		t.Fatal(errs)
	}
	if _, err := r.List(ctx); err != nil {
		t.Fatal(err)
	}
	for n := range nodes - 1 {
		if _, err := r.ReadHeartbeat(ctx, fmt.Sprint("n", n)); err != nil {
			t.Fatal(err)
		}
	}
	puts, lists, gets := b.Requests(faults.Put, "*"), b.Requests(faults.List, "*"), b.Requests(faults.Get, "*")
	if puts != 1+len(mine) || lists != 1 || gets != nodes-1 || b.Requests(faults.Any, "*") != puts+lists+gets {
		t.Errorf("%d writes, %d listings, %d reads", puts, lists, gets)
	}
	t.Logf("%d requests a round: %.1f/s with the default interval of 5 s", puts+lists+gets, float64(puts+lists+gets)/5)
}
