package links

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/internal/relay"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

func TestP7_2_ARequestAndItsAnswer(t *testing.T) {
	a, b := connected(t)
	seen := make(chan *Incoming, 10)
	b.do(func(r *Incoming) { seen <- r; r.Answer(r.Message) })
	answer, err := a.Do(t.Context(), 0, b.Self(), Request{
		Way: messages.Way_WAY_CALL, Shard: 3, Target: "h", Message: wrapperspb.String("hello"), TraceParent: "tp", TraceState: "ts",
	})
	if m, ok := answer.(*wrapperspb.StringValue); err != nil || !ok || m.GetValue() != "hello" {
		t.Fatalf("%v, %v", answer, err)
	}
	r := <-seen
	if r.Way != messages.Way_WAY_CALL || r.Shard != 3 || r.Target != "h" || r.TraceParent != "tp" || r.TraceState != "ts" || r.From != a.Self() ||
		!r.Deadline.IsZero() {
		t.Errorf("served %+v", r)
	}
	b.do(func(r *Incoming) { r.Answer(nil) })
	if answer, err := a.Do(t.Context(), 0, b.Self(), request(messages.Way_WAY_TELL, wrapperspb.String("x"))); answer != nil || err != nil {
		t.Errorf("an answer without a message: %v, %v", answer, err)
	}
}

// Time left is what travels, and bounds the request where it is served.
func TestP7_2_TheOwnerGivesUpWithTheCaller(t *testing.T) {
	a, b := connected(t)
	type ending struct{ kind, cause error }
	begun, given := make(chan string, 100), make(chan ending, 100)
	b.do(func(r *Incoming) {
		if r.Deadline.IsZero() || time.Until(r.Deadline) > someTime {
			t.Errorf("the deadline is %v", r.Deadline)
		}
		r.OnGivenUp(func(kind, cause error) { given <- ending{kind, cause} })
		begun <- r.Message.(*wrapperspb.StringValue).GetValue()
	})
	ask := func(ctx context.Context, patience time.Duration, text string) error {
		_, err := a.Do(ctx, patience, b.Self(), request(messages.Way_WAY_ASK, wrapperspb.String(text)))
		return err
	}
	patience := 100 * time.Millisecond
	err := ask(t.Context(), patience, "late")
	for ; len(begun) == 0 && patience < someTime; patience *= 2 { // it was too short
		err = ask(t.Context(), 2*patience, "late")
	}
	wantError(t, err, messages.ErrOutcomeUnknown, messages.ErrTimeout, "b")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is no deadline", err)
	}
	if e := <-given; e.kind != messages.ErrTimeout {
		t.Errorf("given up as %v: %v", e.kind, e.cause)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for <-begun != "withdrawn" {
		}
		cancel()
	}()
	wantError(t, ask(ctx, someTime, "withdrawn"), messages.ErrOutcomeUnknown, messages.ErrTimeout, "b")
	for e := range given {
		if errors.Is(e.cause, errWithdrawn) { // before its own deadline
			break
		}
	}
}

// The time that a connection takes is the caller's.
func TestP7_2_TimeLeftCountsFromTheCall(t *testing.T) {
	t.Parallel()
	a, b := startNode(t, "a"), startNode(t, "b")
	left := make(chan time.Duration, 1)
	b.do(func(r *Incoming) {
		left <- time.Until(r.Deadline)
		r.Answer(nil)
	})
	const held = dialAtMost / 4
	eventually(t, func() error { return askHeld(t, a, b, held) }) // unless it is held for too long
	if got := <-left; got > someTime-held {
		t.Errorf("%v of %v are left after %v", got, someTime, held)
	}
}

// askHeld asks through a connection that takes its time, which begins after the call.
func askHeld(t *testing.T, a, b *node, held time.Duration) error {
	t.Helper()
	p := relay.Start(t, b.Self().Address)
	p.Hold()
	to := strategy.Node{Name: "b", Address: p.Address()}
	k := a.link(to)
	asked := make(chan error, 1)
	go func() {
		_, err := a.Do(t.Context(), someTime, to, request(messages.Way_WAY_ASK, wrapperspb.String("x")))
		asked <- err
	}()
	eventually(t, func() error {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.life.phase != dialing {
			return errors.New("nobody has called")
		}
		return nil
	})
	time.Sleep(held)
	p.Flow()
	return <-asked
}

func wantError(t *testing.T, err, class, kind error, node string) {
	t.Helper()
	routing, ok := errors.AsType[*messages.RequestError](err)
	if !ok || !errors.Is(err, class) || !errors.Is(err, kind) || routing.Node != node {
		t.Errorf("got %v (node %q), want %v: %v of node %s", err, routing.Node, class, kind, node)
	}
}

func TestP8_2_ErrorsMeanTheSameOnBothSides(t *testing.T) {
	a, b := connected(t)
	kinds := []error{
		messages.ErrUnassigned, messages.ErrNotOwner, messages.ErrNoConnection, messages.ErrStopping, messages.ErrFenced,
		messages.ErrOverloaded, messages.ErrTooLarge, messages.ErrUnknownType, messages.ErrInvalid, messages.ErrNoChild,
		messages.ErrNoHandler, messages.ErrNotRunning, messages.ErrTimeout, messages.ErrConnectionLost, messages.ErrPanicked,
		messages.ErrChildFailed, messages.ErrChildStopped, messages.ErrNotDurable, messages.ErrWrongAnswer,
	}
	for _, kind := range kinds {
		b.do(func(r *Incoming) { r.Fail(messages.NotExecuted(r.Shard, r.Target, kind, errors.New("the cause"))) })
		_, err := a.ask(t.Context(), b.Self(), "x")
		wantError(t, err, messages.ErrNotExecuted, kind, "b")
		if want := fmt.Sprintf("shard 7, kv on b: not executed: %v: the cause", kind); err.Error() != want {
			t.Errorf("text %q, want %q", err, want)
		}
		b.do(func(r *Incoming) { r.Fail(messages.OutcomeUnknown(r.Shard, r.Target, kind, nil)) })
		_, err = a.ask(t.Context(), b.Self(), "x")
		wantError(t, err, messages.ErrOutcomeUnknown, kind, "b")
	}
	b.do(func(r *Incoming) { r.Fail(fmt.Errorf("wrapped: %w", &messages.AppError{Code: "c", Message: "m"})) })
	_, err := a.ask(t.Context(), b.Self(), "x")
	if app, ok := errors.AsType[*messages.AppError](err); !ok || *app != (messages.AppError{Code: "c", Message: "m"}) || errors.Is(err, messages.ErrNotExecuted) {
		t.Errorf("an application's error: %v", err)
	}
}

func TestP8_1_WhatCannotBeSentIsNotExecuted(t *testing.T) {
	a, b := connected(t)
	tooLarge := wrapperspb.Bytes(make([]byte, MaxMessage+1))
	_, err := a.Do(t.Context(), someTime, b.Self(), request(messages.Way_WAY_ASK, tooLarge))
	wantError(t, err, messages.ErrNotExecuted, messages.ErrTooLarge, "b")
	_, err = a.Do(t.Context(), someTime, b.Self(), request(messages.Way_WAY_ASK, wrapperspb.String("\xff")))
	wantError(t, err, messages.ErrNotExecuted, messages.ErrInvalid, "b")
	_, err = a.Do(t.Context(), someTime, b.Self(), request(messages.Way_WAY_ASK, (*wrapperspb.StringValue)(nil)))
	wantError(t, err, messages.ErrNotExecuted, messages.ErrInvalid, "b")
	_, err = a.Do(t.Context(), someTime, b.Self(), request(messages.Way_WAY_ASK, strange(t)))
	wantError(t, err, messages.ErrNotExecuted, messages.ErrUnknownType, "b")
	if n := b.served.Load(); n != 0 {
		t.Errorf("%d of them were served", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = a.ask(ended, b.Self(), "x")
	wantError(t, err, messages.ErrNotExecuted, messages.ErrTimeout, "b")

	// An answer that cannot come back is another thing: the request ran.
	b.do(func(r *Incoming) { r.Answer(tooLarge) })
	_, err = a.ask(t.Context(), b.Self(), "x")
	wantError(t, err, messages.ErrOutcomeUnknown, messages.ErrTooLarge, "b")
	if !strings.Contains(err.Error(), "the request ran, but its answer cannot be sent") {
		t.Errorf("text %q", err)
	}
	b.do(func(r *Incoming) { r.Answer(strange(t)) })
	_, err = a.ask(t.Context(), b.Self(), "x")
	wantError(t, err, messages.ErrOutcomeUnknown, messages.ErrUnknownType, "b")

	// The largest that is allowed goes through, both ways.
	b.do(echo)
	full := wrapperspb.Bytes(make([]byte, MaxMessage-8))
	if _, err := a.Do(t.Context(), someTime, b.Self(), request(messages.Way_WAY_ASK, full)); err != nil {
		t.Error(err)
	}
}

func TestP7_3_OnlyPeersAreCalled(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	a.book.refused = errors.New("b is no peer: add it")
	_, err := a.ask(t.Context(), b.Self(), "x")
	wantError(t, err, messages.ErrNotExecuted, messages.ErrNoConnection, "b")
	if !strings.Contains(err.Error(), "b is no peer: add it") {
		t.Errorf("text %q", err)
	}
	a.told(t, "peer.unreachable") // once, however many ask
	if got := a.Unreachable(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("unreachable: %s", got)
	}
	a.book.refused = nil

	// The address may be the peers', and the name is what counts there.
	eventually(t, func() error {
		_, err := a.ask(t.Context(), strategy.Node{Name: "c", Address: b.Self().Address}, "x")
		wantError(t, err, messages.ErrNotExecuted, messages.ErrNoConnection, "c")
		if !strings.Contains(err.Error(), "is node b, not c") {
			return fmt.Errorf("text %w", err)
		}
		return nil
	})
	a.book.addresses["b"] = b.Self().Address
	eventually(t, func() error { // a peer that could not be reached is left alone for a moment
		_, err := a.ask(t.Context(), strategy.Node{Name: "b"}, "x")
		return err
	})
	if n := b.served.Load(); n != 1 {
		t.Errorf("served %d", n)
	}
}

func TestP7_1_AHintArrives(t *testing.T) {
	a, b := connected(t)
	for range 3 {
		a.Hint(b.Self())
		<-b.hints
	}
	a.Hint(b.Self())
	a.close(t) // what was hinted before still leaves
	<-b.hints
}

// Many callers, small and large, with one connection.
func TestP8_1_EachRequestHasItsOwnAnswer(t *testing.T) {
	a, b := connected(t)
	var wg sync.WaitGroup
	var failed atomic.Int64
	for caller := range 64 {
		wg.Go(func() {
			for n := range 50 {
				text := strings.Repeat(fmt.Sprintf("%d-%d ", caller, n), 1+(caller%8)*1000)
				if answer, err := a.ask(context.Background(), b.Self(), text); err != nil || answer != text {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 || b.served.Load() != 64*50 {
		t.Errorf("%d failed, %d served", failed.Load(), b.served.Load())
	}
}
