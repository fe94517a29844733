package actors

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slap-go/slap/messages"
)

// gated is a shard of which only the gate is there.
func gated() *Shard { return newShard(0, "i.1", nil, &Config{}, nil) }

func TestP8_1_ARequestGivenUpAsItBeginsLeavesTheGateOnce(t *testing.T) {
	s := gated()
	g := s.gate
	for range 50 {
		var requests [1_000]*request
		for i := range requests {
			requests[i] = newRequest(0, "a", nil)
		}
		var both sync.WaitGroup
		var at [2]atomic.Int64
		meet := func(me, i int) { // both go on at the same moment
			at[me].Store(int64(i))
			for spins := 0; at[1-me].Load() < int64(i); spins++ {
				if spins > 1_000 {
					goruntime.Gosched()
				}
			}
		}
		both.Go(func() {
			for i, r := range requests {
				if meet(0, i); r.begin(s) {
					r.respond("answer", false)
				}
			}
		})
		for i, r := range requests {
			meet(1, i)
			r.end(messages.ErrTimeout, messages.ErrTimeout, nil)
		}
		both.Wait()
		if n := g.inside.Load(); n != 0 {
			t.Fatalf("%d are inside the gate", n)
		}
	}
}

func TestP8_1_OfAllWhoSettleARequestOneDoes(t *testing.T) {
	for range 2_000 {
		r := newRequest(0, "a", nil)
		s := gated()
		g := s.gate
		var all sync.WaitGroup
		for _, settle := range []func(){
			func() { r.begin(s); r.respond("answer", false) },
			func() { r.lose(messages.ErrPanicked, nil) },
			func() { r.refuse(messages.ErrStopping, nil) },
			func() { r.end(messages.ErrStopping, messages.ErrChildStopped, nil) },
			g.close,
		} {
			all.Go(settle)
		}
		all.Wait()
		r.done.Wait(t.Context(), 0, func(error) {})
		if (r.answer == nil) == (r.err == nil) || g.inside.Load() != 0 {
			t.Fatalf("answer %v, error %v, %d inside", r.answer, r.err, g.inside.Load())
		}
		drained := false
		if g.onDrained(func() { drained = true }); !drained {
			t.Fatal("shut and empty, but not drained")
		}
	}
}

// answered is the error of a request that the child answers with this.
func answered(t *testing.T, message any) error {
	t.Helper()
	r := newRequest(0, "a", nil)
	if !r.begin(gated()) {
		t.Fatal("not begun")
	}
	r.respond(message, false)
	return r.err
}

func TestCALL6_AChildThatPassesOnARoutingErrorHasRun(t *testing.T) {
	inner := fmt.Errorf("of another shard: %w", messages.NotExecuted(1, "b", messages.ErrUnassigned, nil))
	err := answered(t, inner)
	if !errors.Is(err, messages.ErrOutcomeUnknown) || errors.Is(err, messages.ErrNotExecuted) || (Retry{Count: 1}).again(1, err) {
		t.Errorf("%v: retryable %v", err, (Retry{Count: 1}).again(1, err))
	}
}

func TestCALL2_AWrappedAppErrorIsTheApplicationsAnswer(t *testing.T) {
	no := &messages.AppError{Code: "no"}
	if err := answered(t, fmt.Errorf("why: %w", no)); !errors.Is(err, no) || errors.Is(err, messages.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
}
