package links

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// behind is the node as it is reached through the proxy.
func behind(p *relay.Relay, n *node) strategy.Node {
	return strategy.Node{Name: n.Self().Name, Address: p.Address()}
}

func TestP7_1_ALostConnectionEndsItsRequestsAtOnce(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	p := relay.Start(t, b.Self().Address)
	to := behind(p, b)
	a.connect(t, to)
	arrived := make(chan *Incoming, 100)
	b.do(func(r *Incoming) { arrived <- r })
	errs := make(chan error, 100)
	for range 10 {
		go func() {
			_, err := a.ask(context.Background(), to, "x")
			errs <- err
		}()
	}
	for range 10 {
		<-arrived
	}
	p.Cut()
	for range 10 {
		err := <-errs
		wantError(t, err, messages.ErrOutcomeUnknown, messages.ErrConnectionLost, "b")
		if strings.Contains(err.Error(), errSilent.Error()) {
			t.Errorf("it was noticed by silence: %v", err)
		}
	}
	a.told(t, "peer.unreachable")
	if got := fmt.Sprint(a.Unreachable()); got != "[b]" {
		t.Errorf("unreachable: %s", got)
	}
	b.do(echo)
	eventually(t, func() error { _, err := a.ask(context.Background(), to, "x"); return err })
	a.told(t, "peer.unreachable", "peer.reachable")
	if got := fmt.Sprint(a.Unreachable()); got != "[]" {
		t.Errorf("unreachable: %s", got)
	}
	if n := b.served.Load(); n != 11 {
		t.Errorf("%d requests were served, of 11", n)
	}
}

func TestP7_1_ASilentPeerIsDownAfterThreeSeconds(t *testing.T) {
	t.Parallel()
	a, b := startNode(t, "a"), startNode(t, "b")
	p := relay.Start(t, b.Self().Address)
	to := behind(p, b)
	a.connect(t, to)
	if _, err := a.ask(t.Context(), to, "x"); err != nil {
		t.Fatal(err)
	}
	p.Hold()
	began := time.Now()
	_, err := a.ask(t.Context(), to, "held")
	wantError(t, err, messages.ErrOutcomeUnknown, messages.ErrConnectionLost, "b")
	if took := time.Since(began); took < silence-pingEvery-pingEvery/2 || took > 5*silence {
		t.Errorf("it took %v", took)
	}
	if !strings.Contains(err.Error(), "no sign of life for 3s") {
		t.Errorf("text %q", err)
	}
	// From now on nothing is sent.
	_, err = a.ask(t.Context(), to, "not sent")
	wantError(t, err, messages.ErrNotExecuted, messages.ErrNoConnection, "b")
	a.told(t, "peer.unreachable")
	served := b.served.Load()
	p.Flow()
	eventually(t, func() error { _, err := a.ask(t.Context(), to, "x"); return err })
	if n := b.served.Load(); n > served+2 { // the one held, and the last
		t.Errorf("%d were served afterwards", n-served)
	}
}

// What waits for a peer that takes nothing was not sent, and can be taken back.
func TestP8_1_WhatIsQueuedIsNotExecuted(t *testing.T) {
	t.Parallel()
	a, b := startNode(t, "a"), startNode(t, "b")
	p := relay.Start(t, b.Self().Address)
	to := behind(p, b)
	a.connect(t, to)
	if _, err := a.ask(t.Context(), to, "x"); err != nil {
		t.Fatal(err)
	}
	p.Hold()
	large := wrapperspb.Bytes(make([]byte, 1<<20))
	var unsent, unknown atomic.Int64
	askMany := func(patience time.Duration) {
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				_, err := a.Do(context.Background(), patience, to, request(messages.Way_WAY_ASK, large))
				switch {
				case errors.Is(err, messages.ErrNotExecuted):
					unsent.Add(1)
				case errors.Is(err, messages.ErrOutcomeUnknown):
					unknown.Add(1)
				default:
					t.Errorf("a peer that takes nothing: %v", err)
				}
			})
		}
		wg.Wait()
	}
	askMany(time.Second)
	if unknown.Load() == 0 { // none was sent in time
		askMany(someTime)
	}
	if unsent.Load() == 0 || unknown.Load() == 0 {
		t.Errorf("%d unsent, %d unknown", unsent.Load(), unknown.Load())
	}
	p.Flow()
	eventually(t, func() error { _, err := a.ask(context.Background(), to, "x"); return err })
	if n := b.served.Load() - 2; n > unknown.Load() {
		t.Errorf("%d were served, of which %d may have been", n, unknown.Load())
	}
}

// A node that comes back at the same address is another incarnation: what was for the one
// before never reaches it.
func TestP7_2_ANewStartGetsNothingOfTheOldOne(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	p := relay.Start(t, b.Self().Address) // the address of both
	to := behind(p, b)
	a.connect(t, to)
	arrived := make(chan struct{}, 1)
	b.do(func(*Incoming) { arrived <- struct{}{} })
	lost := make(chan error, 1)
	go func() {
		_, err := a.ask(context.Background(), to, "for the first")
		lost <- err
	}()
	<-arrived
	p.To(nobody)
	b.close(t)
	wantError(t, <-lost, messages.ErrOutcomeUnknown, messages.ErrConnectionLost, "b")
	_, err := a.ask(t.Context(), to, "for nobody")
	wantError(t, err, messages.ErrNotExecuted, messages.ErrNoConnection, "b")
	second := startNode(t, "b")
	p.To(second.Self().Address)
	eventually(t, func() error { _, err := a.ask(t.Context(), to, "for the second"); return err })
	if n := second.served.Load(); n != 1 {
		t.Errorf("the second served %d", n)
	}
}

// A peer that is another incarnation than the envelope says does not carry it out.
func TestP7_2_AWrongIncarnationIsRefused(t *testing.T) {
	a := startNode(t, "a")
	s := newRawPeer(t, a.Self().Address).linked(t)
	envelope := func(id uint64) []*messages.Envelope {
		return []*messages.Envelope{{Id: id, Way: messages.Way_WAY_ASK, Target: "kv", Type: "google.protobuf.StringValue"}}
	}
	for id, f := range []*messages.Frames{
		{Cluster: "the cluster", Callee: "another start", Envelopes: envelope(0)},
		{Cluster: "another", Callee: a.Self().Incarnation, Envelopes: envelope(1)},
		{Envelopes: envelope(2)},
	} {
		answer := s.exchange(t, f)
		if len(answer.GetReplies()) != 1 {
			t.Fatalf("%d: %v", id, answer)
		}
		wantError(t, messages.ReplyError(answer.GetReplies()[0], 0, "kv"), messages.ErrNotExecuted, messages.ErrNotOwner, "a")
	}
	answer := s.exchange(t, &messages.Frames{Cluster: "the cluster", Callee: a.Self().Incarnation, Envelopes: envelope(4)})
	if err := messages.ReplyError(answer.GetReplies()[0], 0, "kv"); err != nil || a.served.Load() != 1 {
		t.Errorf("%v, served %d", err, a.served.Load())
	}
}

// P8.1: through all kinds of losses, an answer means once, "not executed" never, and
// "unknown" at most once.
func TestP8_1_NothingIsSentTwiceThroughLosses(t *testing.T) {
	seed := time.Now().UnixNano()
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	a, b := startNode(t, "a"), startNode(t, "b")
	p := relay.Start(t, b.Self().Address)
	to := behind(p, b)
	var mu sync.Mutex
	runs := map[string]int{}
	b.do(func(r *Incoming) {
		mu.Lock()
		runs[r.Message.(*wrapperspb.StringValue).GetValue()]++
		mu.Unlock()
		r.Answer(r.Message)
	})
	var cuts atomic.Int64
	enough := int64(scaled(20, 400))
	var cutter, callers sync.WaitGroup
	cutter.Go(func() {
		for cuts.Load() < enough {
			for before := b.served.Load(); cuts.Load()%2 == 0 && b.served.Load() == before; { // some connections live to serve
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Duration(random.IntN(30)+1) * time.Millisecond)
			p.Cut()
			cuts.Add(1)
		}
	})
	type outcome struct {
		text string
		err  error
	}
	var outcomes []outcome
	for caller := range 16 {
		callers.Go(func() {
			for n := 0; cuts.Load() < enough; n++ {
				text := fmt.Sprintf("%d-%d", caller, n)
				_, err := a.ask(context.Background(), to, text)
				mu.Lock()
				outcomes = append(outcomes, outcome{text, err})
				mu.Unlock()
				if errors.Is(err, messages.ErrNotExecuted) {
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	cutter.Wait()
	callers.Wait()
	counts := map[string]int{}
	for _, o := range outcomes {
		mu.Lock()
		ran := runs[o.text]
		mu.Unlock()
		switch {
		case o.err == nil:
			counts["answered"]++
			if ran != 1 {
				t.Errorf("seed %d: %s was answered and ran %d times", seed, o.text, ran)
			}
		case errors.Is(o.err, messages.ErrNotExecuted):
			counts["not executed"]++
			if ran != 0 {
				t.Errorf("seed %d: %s was not executed and ran %d times: %v", seed, o.text, ran, o.err)
			}
		case errors.Is(o.err, messages.ErrOutcomeUnknown):
			counts["unknown"]++
			if ran > 1 {
				t.Errorf("seed %d: %s is unknown and ran %d times", seed, o.text, ran)
			}
		default:
			t.Errorf("seed %d: %v", seed, o.err)
		}
	}
	t.Logf("seed %d: %v", seed, counts)
	if counts["answered"] == 0 || counts["not executed"] == 0 {
		t.Errorf("seed %d: %v", seed, counts)
	}
}
