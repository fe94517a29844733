package actors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/supervision"
)

// worker does what the request's word says.
type worker struct{ shard *Shard }

func (w *worker) Receive(ctx actor.Context) {
	m, ok := ctx.Message().(*wrapperspb.StringValue)
	if !ok {
		return
	}
	switch m.GetValue() {
	case "echo":
		ctx.Respond(m)
	case "panic":
		panic("as told")
	case "stop":
		ctx.Stop(ctx.Self())
	case "silent":
	case "twice":
		ctx.Respond(m)
		ctx.Respond(m)
	case "write", "write and stop":
		seq, err := w.shard.DB().Put(context.Background(), []byte("k"), []byte("v"), nil)
		if err != nil {
			ctx.Respond(err)
			return
		}
		w.shard.RespondWhenDurable(ctx, seq, wrapperspb.UInt64(seq))
		if m.GetValue() == "write and stop" {
			ctx.Stop(ctx.Self())
		}
	}
}

func workers(s *Shard) []supervision.ChildSpec {
	return []supervision.ChildSpec{{Name: "a", New: func() actor.Actor { return &worker{s} }}}
}

func word(s string) proto.Message { return wrapperspb.String(s) }

// counts are everything that is kept for requests; it is all zero once they have ended.
func (n *Node) counts(shards ...*Shard) string {
	open, linked, waiting, inside, waiters := n.replies.open.count(), 0, int32(0), int64(0), 0
	for _, s := range shards {
		for _, b := range s.inboxes {
			b.mu.Lock()
			for r := b.first; r != nil; r = r.next {
				linked++
			}
			b.mu.Unlock()
			waiting += b.waiting.Load()
		}
		inside += s.gate.inside.Load()
		s.waits.mu.Lock()
		waiters += len(s.waits.d.waiters)
		s.waits.mu.Unlock()
	}
	return fmt.Sprintf("%d open, %d linked, %d waiting, %d inside, %d wait for durability", open, linked, waiting, inside, waiters)
}

const nothing = "0 open, 0 linked, 0 waiting, 0 inside, 0 wait for durability"

func (r *rig) shardAt(n int) *Shard {
	r.t.Helper()
	e := r.table.get(n)
	if e.shard == nil {
		r.t.Fatalf("shard %d is %v, %v", n, e.state, e.err)
	}
	return e.shard
}

func (r *rig) eventually(what string, done func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestP8_1_NothingIsLeftOfRequestsHoweverTheyEnded(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.ShardChildren = workers; c.MaxPending = 50 })
	if err := r.open(0); err != nil {
		t.Fatal(err)
	}
	const callers = 64
	each := scaled(20_000, 500_000) / callers
	shards := map[*Shard]bool{r.shardAt(0): true}
	var all sync.WaitGroup
	for caller := range callers {
		rnd := rand.New(rand.NewPCG(seed, uint64(caller)))
		all.Go(func() {
			for range each {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rnd.IntN(20_000))*time.Microsecond)
				what := []string{"echo", "echo", "write", "write", "twice", "silent", "echo"}[rnd.IntN(7)]
				if rnd.IntN(2_000) == 0 {
					what = []string{"panic", "stop", "write and stop"}[rnd.IntN(3)]
				}
				_, err := r.Ask(ctx, 0, "a", word(what), Retry{Count: 1, Delay: time.Millisecond})
				if not, unknown := errors.Is(err, messages.ErrNotExecuted), errors.Is(err, messages.ErrOutcomeUnknown); err != nil && not == unknown {
					t.Errorf("%s: %v: not executed %v, unknown %v", what, err, not, unknown)
				}
				cancel()
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		case <-time.After(5 * time.Millisecond):
		}
		switch e := r.table.get(0); e.state {
		case StateRunning:
			shards[e.shard] = true
		case StateUnassigned: // too many restarts
			r.hand.runtime.StartShard(0, nil, r.replyTo)
			r.reply()
		default:
		}
	}
	t.Logf("%d openings", len(shards))
	list := make([]*Shard, 0, len(shards))
	for s := range shards {
		list = append(list, s)
	}
	r.eventually("the writes are durable", func() bool { return r.counts(list...) == nothing })
}

func TestP8_1_WhatIsGivenUpInFrontOfAChildThatHangsIsBounded(t *testing.T) {
	entered, release := make(chan struct{}, 100), make(chan struct{})
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.MaxPending = 10
		c.ShardChildren = func(*Shard) []supervision.ChildSpec {
			return []supervision.ChildSpec{{Name: "a", New: func() actor.Actor {
				return actor.ReceiveFunc(func(c actor.Context) {
					if _, ok := c.Message().(*wrapperspb.StringValue); ok {
						entered <- struct{}{}
						<-release
						c.Respond(word("done"))
					}
				})
			}}}
		}
	})
	if err := r.open(0); err != nil {
		t.Fatal(err)
	}
	first := newRequest(0, "a", word("x"))
	r.shardAt(0).inbox("a").ask(first)
	<-entered
	refused := 0
	for n := 0; n < 2*givenUp && refused == 0; n++ {
		req := newRequest(0, "a", word("x"))
		r.shardAt(0).inbox("a").ask(req)
		if req.end(messages.ErrTimeout, messages.ErrTimeout, nil); errors.Is(req.err, messages.ErrOverloaded) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("requests that nobody waits for pile up without a bound")
	}
	first.end(messages.ErrTimeout, messages.ErrTimeout, nil)
	close(release)
	r.eventually("the child serves again", func() bool {
		_, err := r.Ask(t.Context(), 0, "a", word("x"), Retry{})
		return err == nil
	})
}
