package actors

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
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
	open, linked, waiting, inside, waiters := 0, 0, int32(0), int64(0), 0
	for i := range n.replies.parts {
		p := &n.replies.parts[i]
		p.mu.Lock()
		open += len(p.requests)
		p.mu.Unlock()
	}
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
			r.hand.runtime.StartShard(0, r.replyTo)
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
	release := make(chan struct{})
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.MaxPending = 10
		c.ShardChildren = func(*Shard) []supervision.ChildSpec {
			return []supervision.ChildSpec{{Name: "a", New: func() actor.Actor {
				return actor.ReceiveFunc(func(c actor.Context) {
					if _, ok := c.Message().(*wrapperspb.StringValue); ok {
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
	close(release)
	r.eventually("the child serves again", func() bool {
		_, err := r.Ask(t.Context(), 0, "a", word("x"), Retry{})
		return err == nil
	})
}

// listener notes what it is told of durability.
type listener struct {
	mu   sync.Mutex
	told []any
}

func (l *listener) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *messages.Durable, *messages.NotDurable:
		l.mu.Lock()
		l.told = append(l.told, m)
		l.mu.Unlock()
	}
}

func (l *listener) all() []any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]any(nil), l.told...)
}

// TestDUR4 writes from one process and asks for each write, in order, until well after
// the shard's end; what it is told is in order, complete, and true.
func TestDUR4_WhoAsksInOrderIsToldInOrderOverTheShardsEnd(t *testing.T) {
	for _, end := range []string{"stop", "fence", "stop", "fence"} {
		t.Run(end, func(t *testing.T) { toldInOrder(t, end) })
	}
}

func toldInOrder(t *testing.T, end string) {
	s := store.Memory()
	r := newRig(t, 1, s, nil)
	if err := r.open(0); err != nil {
		t.Fatal(err)
	}
	shard, l := r.shardAt(0), &listener{}
	to := r.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return l }))
	defer func() { _ = r.system.Root.StopFuture(to).Wait() }()
	go func() {
		time.Sleep(50 * time.Millisecond)
		if end == "fence" {
			intrude(t, r.config.Objects, "shard-000")
			return
		}
		r.hand.runtime.StopShard(0, r.replyTo)
	}()
	asked, last := 0, uint64(0)
	for after := 0; after < 200; asked++ {
		seq, err := shard.DB().Put(t.Context(), binary.BigEndian.AppendUint64(nil, uint64(asked)), nil, nil)
		if err != nil {
			after++
			seq = last + uint64(after) // as someone who asks for what was never written
		} else {
			last = seq
		}
		shard.NotifyWhenDurable(seq, asked, to)
	}
	r.eventually("everybody is told", func() bool { return len(l.all()) >= asked })
	durable := 0
	for i, m := range l.all() {
		switch m := m.(type) {
		case *messages.Durable:
			if m.Tag != i || durable != i {
				t.Fatalf("told %d: durable %v after %d durable", i, m.Tag, durable)
			}
			durable++
		case *messages.NotDurable:
			if m.Tag != i || m.Reason == nil {
				t.Fatalf("told %d: not durable %v, %v", i, m.Tag, m.Reason)
			}
		}
	}
	if end == "stop" && durable != asked-200 {
		t.Errorf("a planned stop: %d of %d are durable", durable, asked-200)
	}
	db, err := slatedb.Open(t.Context(), r.config.Objects, "shard-000", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.Background(), nil) }()
	for i := range durable {
		if _, found, err := db.Get(t.Context(), binary.BigEndian.AppendUint64(nil, uint64(i)), nil); !found || err != nil {
			t.Fatalf("write %d of %d durable ones is gone, %v", i, durable, err)
		}
	}
}

// intrude opens a shard's database as another writer would.
func intrude(t *testing.T, objects *slatedb.ObjectStore, path string) {
	db, err := slatedb.Open(context.Background(), objects, path, nil)
	if err == nil {
		err = db.Close(context.Background(), nil)
	}
	if err != nil && !errors.Is(err, slatedb.ErrFenced) {
		t.Errorf("the other writer: %v", err)
	}
}

func TestSPEC5_WritesThatNobodyWaitsForBecomeDurable(t *testing.T) {
	r := newRig(t, 1, store.Memory(), nil)
	if err := r.open(0); err != nil {
		t.Fatal(err)
	}
	db, ctx, key := r.shardAt(0).DB(), t.Context(), []byte("k")
	seqs := make(chan uint64, 1)
	note := func(seq uint64, err error) {
		if err != nil {
			t.Error(err)
		}
		seqs <- seq
	}
	batch := &slatedb.Batch{}
	batch.Put(key, nil, nil)
	for name, write := range map[string]func(){
		"put":          func() { note(db.Put(ctx, key, nil, nil)) },
		"delete":       func() { note(db.Delete(ctx, key)) },
		"batch":        func() { note(db.Write(ctx, batch)) },
		"async put":    func() { db.PutAsync(key, nil, nil, note) },
		"async delete": func() { db.DeleteAsync(key, note) },
		"async batch":  func() { db.WriteAsync(batch, note) },
		"transaction": func() {
			tx, err := db.Begin(ctx, slatedb.SnapshotIsolation)
			if err == nil {
				err = tx.Put(ctx, key, nil, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			note(tx.Commit(ctx))
		},
		"async transaction": func() {
			db.BeginAsync(slatedb.Serializable, func(tx *slatedb.Transaction, err error) {
				if err != nil {
					t.Error(err)
				}
				tx.PutAsync(key, nil, nil, func(error) { tx.CommitAsync(note) })
			})
		},
	} {
		write()
		seq := <-seqs
		if seq == 0 {
			t.Fatalf("%s: sequence number 0", name)
		}
		r.eventually(name, func() bool { return r.shardAt(0).DurableSeq() >= seq })
		if w := r.shardAt(0).WrittenSeq(); w < seq {
			t.Errorf("%s: written %d, after %d", name, w, seq)
		}
	}
}

func TestP9_1_NoMoreFlushesThanTheEnginesTimerWouldMake(t *testing.T) {
	dir := t.TempDir()
	const interval, busy = 50 * time.Millisecond, time.Second
	r := newRig(t, 1, store.Dir(dir), func(c *Config) { c.FlushInterval = interval })
	if err := r.open(0); err != nil {
		t.Fatal(err)
	}
	logs := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "shard-000", "wal", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	before, began := logs(), time.Now()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for time.Since(began) < busy {
		if _, err := r.shardAt(0).DB().Put(t.Context(), []byte("k"), nil, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rnd.IntN(20)) * time.Millisecond)
	}
	made, most := logs()-before, int(time.Since(began)/interval)+1
	if made == 0 || made > most {
		t.Errorf("%d flushes, want at most %d", made, most)
	}
}

func TestP9_1_AnExplicitFlushDoesNotWaitAndCoversWhatWasWritten(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.FlushInterval = time.Hour })
	if err := r.open(0); err != nil {
		t.Fatal(err)
	}
	shard := r.shardAt(0)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 20 {
				seq, err := shard.DB().Put(t.Context(), []byte("k"), nil, nil)
				if err == nil {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					err = shard.Flush(ctx)
					cancel()
				}
				if durable := shard.DurableSeq(); err != nil || durable < seq {
					t.Errorf("%v, durable %d after a flush that followed %d", err, durable, seq)
				}
			}
		})
	}
	all.Wait()
}

func TestP9_3_TheAnswerComesAlthoughTheChildOrTheShardHasStopped(t *testing.T) {
	for _, end := range []string{"child", "shard", "fence"} {
		t.Run(end, func(t *testing.T) {
			r := newRig(t, 1, store.Memory(), func(c *Config) {
				c.ShardChildren, c.FlushInterval, c.DrainTimeout = workers, time.Hour, 50*time.Millisecond
				c.WatchInterval = 10 * time.Millisecond
			})
			if err := r.open(0); err != nil {
				t.Fatal(err)
			}
			ask := func(what string) (any, error) { return r.Ask(t.Context(), 0, "a", word(what), Retry{}) }
			if _, err := ask("write"); err != nil { // the pace holds up the next one
				t.Fatal(err)
			}
			answers := make(chan error, 1)
			go func() {
				_, err := ask("write and stop")
				answers <- err
			}()
			shard := r.shardAt(0)
			r.eventually("it waits", func() bool {
				shard.waits.mu.Lock()
				defer shard.waits.mu.Unlock()
				return len(shard.waits.d.waiters) == 1
			})
			switch end {
			case "child":
				if err := shard.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			case "shard":
				if err := r.shut(0); err != nil {
					t.Error(err)
				}
			case "fence":
				intrude(t, r.config.Objects, "shard-000")
			}
			err := <-answers
			if lost := errors.Is(err, messages.ErrOutcomeUnknown) && errors.Is(err, messages.ErrFenced); lost != (end == "fence") || err != nil && !lost {
				t.Errorf("%v", err)
			}
			if c := r.counts(shard); c != nothing {
				t.Error(c)
			}
		})
	}
}

func TestSPEC6_AFenceThatAWriteMeetsIsSeenAtOnce(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.ShardChildren, c.WatchInterval = workers, time.Hour
		c.Database.Settings = map[string]any{"flush_interval": nil, "manifest_poll_interval": "20ms"}
	})
	if err := r.open(0); err != nil {
		t.Fatal(err)
	}
	shard := r.shardAt(0)
	intrude(t, r.config.Objects, "shard-000")
	r.eventually("the engine knows", func() bool { return shard.DB().Status().CloseReason != slatedb.ReasonNone })
	if _, err := r.Ask(t.Context(), 0, "a", word("write"), Retry{}); !errors.Is(err, messages.ErrOutcomeUnknown) || !errors.Is(err, messages.ErrFenced) {
		t.Errorf("the write: %v", err)
	}
	r.eventually("the shard goes down as fenced", func() bool {
		state, err := r.State(0)
		return state == StateUnassigned && err != nil && shard.Status() == Fenced
	})
}
