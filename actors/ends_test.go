package actors

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
)

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
	var ending sync.WaitGroup
	ending.Go(func() {
		time.Sleep(50 * time.Millisecond)
		if end == "fence" {
			intrude(t, r.config.Objects, "shard-000")
			return
		}
		r.hand.runtime.StopShard(0, r.replyTo)
	})
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
	ending.Wait() // else the other writer would be fenced as it opens
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
	if err != nil && !errors.Is(err, slatedb.ErrClosed) { // it may have been fenced in turn
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

func TestP9_2_P9_3_TheAnswerComesAlthoughTheChildOrTheShardHasStopped(t *testing.T) {
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
		a := r.State(0)
		return a.State == StateUnassigned && a.Err != nil && shard.Status() == Fenced
	})
}

// TestSHD6 ends each of a shard's own actors under load. The shard goes down and comes
// back, all callers are answered, and what was acknowledged is there.
func TestSHD6_WhicheverActorOfAShardEndsTheShardEndsAndLosesNothing(t *testing.T) {
	for name, victim := range map[string]func(*Shard) *actor.PID{
		"database": func(s *Shard) *actor.PID { return s.database.Load() },
		"notifier": func(s *Shard) *actor.PID { return s.notifier.Load() },
		"children": func(s *Shard) *actor.PID { return siblingOf(s.database.Load(), "children") },
	} {
		t.Run(name, func(t *testing.T) {
			downs := make(chan strategy.DownReason, 1)
			r := newRig(t, 1, store.Memory(), func(c *Config) { c.ShardChildren = workers })
			r.hand.down = func(_ int, reason strategy.DownReason) { downs <- reason }
			if err := r.open(0); err != nil {
				t.Fatal(err)
			}
			shard := r.shardAt(0)
			var acknowledged atomic.Uint64 // the highest sequence number
			var callers sync.WaitGroup
			for range 16 {
				callers.Go(func() {
					for {
						answer, err := r.Ask(t.Context(), 0, "a", word("write"), Retry{})
						if err != nil {
							return
						}
						if seq, ok := answer.(*wrapperspb.UInt64Value); ok {
							for old := acknowledged.Load(); seq.GetValue() > old && !acknowledged.CompareAndSwap(old, seq.GetValue()); {
								old = acknowledged.Load()
							}
						}
					}
				})
			}
			r.eventually("load", func() bool { return acknowledged.Load() > 100 })
			r.system.Root.Stop(victim(shard))
			callers.Wait()
			if reason := <-downs; reason != strategy.Crashed {
				t.Errorf("down as %v", reason)
			}
			if c := r.counts(shard); c != nothing {
				t.Error(c)
			}
			if err := r.open(0); err != nil {
				t.Fatal(err)
			}
			if durable := r.shardAt(0).DurableSeq(); durable < acknowledged.Load() {
				t.Errorf("acknowledged up to %d, there up to %d", acknowledged.Load(), durable)
			}
		})
	}
}

func siblingOf(pid *actor.PID, name string) *actor.PID {
	return actor.NewPID(pid.GetAddress(), path.Join(path.Dir(pid.GetId()), name))
}
