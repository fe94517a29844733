package links

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slap-go/slap/messages"
)

// A node that stops, on either side, loses none of the requests that are on their way:
// they are answered, or were never sent.
func TestP8_1_NoRequestIsLostByAStop(t *testing.T) {
	for name, stops := range map[string]func(caller, callee *node) *node{
		"the caller": func(caller, _ *node) *node { return caller },
		"the callee": func(_, callee *node) *node { return callee },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := connected(t)
			b.do(func(r *Incoming) {
				go func() {
					time.Sleep(20 * time.Millisecond) // how long a request takes
					r.Answer(r.Message)
				}()
			})
			var answered atomic.Int64
			errs := make(chan error, 16)
			for range cap(errs) {
				go func() { errs <- askUntilError(a, b, &answered) }()
			}
			eventually(t, func() error {
				if answered.Load() < 100 {
					return errors.New("few requests are answered")
				}
				return nil
			})
			stops(a, b).close(t)
			for range cap(errs) {
				if err := <-errs; !errors.Is(err, messages.ErrNotExecuted) {
					t.Errorf("got %v, want one that was not executed", err)
				}
			}
		})
	}
}

// A node that is called while it stops answers what it lets in, and lets in nothing else.
func TestP8_1_NoRequestIsLostByACallDuringAStop(t *testing.T) {
	for range scaled(20, 500) {
		a, b := startNode(t, "a"), startNode(t, "b")
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() { errs <- askUntilError(a, b, new(atomic.Int64)) }() // the first one connects
		}
		b.close(t)
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, messages.ErrNotExecuted) {
				t.Errorf("got %v, want one that was not executed", err)
			}
		}
		a.close(t)
	}
}

func askUntilError(from, to *node, answered *atomic.Int64) error {
	for {
		if _, err := from.ask(context.Background(), to.Self(), "x"); err != nil {
			return err
		}
		answered.Add(1)
	}
}
