package actors

import (
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

// tags is a process that notes the tags of what it is told is durable.
type tags struct {
	*listener
	pid *actor.PID
}

func newTags(r *rig) tags {
	l := &listener{}
	pid := r.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return l }))
	r.t.Cleanup(func() { _ = r.system.Root.StopFuture(pid).Wait() })
	return tags{l, pid}
}

func (g tags) durable() (all []any) {
	for _, m := range g.all() {
		if d, ok := m.(*messages.Durable); ok {
			all = append(all, d.Tag)
		}
	}
	return all
}

func TestDUR1_ToldOnceDurableOrAtOnce(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.FlushInterval = time.Hour })
	r.mustOpen(0)
	shard, told := r.shardAt(0), newTags(r)
	old := r.put(0, "k", "v")
	r.flushed(0)
	late := r.put(0, "k", "v") // held up by the pace
	shard.NotifyWhenDurable(late, "late", told.pid)
	for _, tag := range []any{"a", 2, struct{ any }{"three"}} {
		shard.NotifyWhenDurable(old, tag, told.pid)
	}
	shard.NotifyWhenDurable(0, "nothing", told.pid)
	for _, tag := range []any{"a", 2, struct{ any }{"three"}, "nothing"} {
		r.eventually("told of what is durable", func() bool { return slices.Contains(told.durable(), tag) })
	}
	if slices.Contains(told.durable(), "late") && shard.DurableSeq() < late {
		t.Error("told of what is not durable")
	}
	r.flushed(0)
	r.eventually("told of the last one", func() bool { return len(told.all()) == 5 })
	for _, m := range told.all() {
		if d, ok := m.(*messages.Durable); !ok || d.Tag == "late" && d.Seq != late {
			t.Errorf("told %+v", m)
		}
	}
}

// TestDUR2 makes a write durable behind the notifier's back.
func TestDUR2_WhatTheEngineKnowsCountsNotTheLastNotification(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.FlushInterval = time.Hour })
	r.mustOpen(0)
	shard, told := r.shardAt(0), newTags(r)
	r.put(0, "k", "v")
	r.flushed(0)
	seq := r.put(0, "k", "v")
	if err := shard.DB().Flush(t.Context(), slatedb.WAL); err != nil {
		t.Fatal(err)
	}
	shard.NotifyWhenDurable(seq, "now", told.pid)
	r.eventually("told", func() bool { return len(told.durable()) == 1 })
}

// TestDUR3 registers in no order and flushes once.
func TestDUR3_ManyWaitersComeInOrderAfterOneFlushAndNoneBefore(t *testing.T) {
	const waiters = 100
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.FlushInterval = time.Hour })
	r.mustOpen(0)
	shard, told := r.shardAt(0), newTags(r)
	r.put(0, "k", "v")
	r.flushed(0)
	var seqs []uint64
	for range waiters {
		seqs = append(seqs, r.put(0, "k", "v"))
	}
	for i := range waiters {
		k := (i*37 + 11) % waiters // 37 and 100 have no common factor
		shard.NotifyWhenDurable(seqs[k], k, told.pid)
	}
	time.Sleep(100 * time.Millisecond) // in which nothing must come
	if n := len(told.all()); n > 0 {
		t.Errorf("%d told before the flush", n)
	}
	r.flushed(0)
	r.eventually("all are told", func() bool { return len(told.all()) == waiters })
	if got := told.durable(); !slices.IsSortedFunc(got, func(a, b any) int { return a.(int) - b.(int) }) || len(got) != waiters {
		t.Errorf("told in the order %v", got)
	}
}

// TestDUR4 asks for what is durable and what is not, in order, while flushes go on.
func TestDUR4_WhoAsksInOrderIsToldInOrderWhileFlushesGoOn(t *testing.T) {
	const writes = 200
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.FlushInterval = 10 * time.Millisecond })
	r.mustOpen(0)
	shard, told := r.shardAt(0), newTags(r)
	for i := range writes {
		seq := r.put(0, "k", "v")
		if i%7 == 0 { // let some become durable before they are asked for
			r.flushed(0)
		}
		shard.NotifyWhenDurable(seq, i, told.pid)
	}
	r.eventually("all are told", func() bool { return len(told.all()) == writes })
	for i, tag := range told.durable() {
		if tag != i {
			t.Fatalf("told %v, want %d", tag, i)
		}
	}
}

func TestAPI8_TheDurableSequenceNumberIsTheEngines(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.FlushInterval = time.Hour })
	r.mustOpen(0)
	shard := r.shardAt(0)
	same := func(when string) uint64 {
		t.Helper()
		durable := shard.DB().Status().DurableSeq
		if got := shard.DurableSeq(); got != durable {
			t.Errorf("%s: %d, the engine says %d", when, got, durable)
		}
		return durable
	}
	same("at first")
	first := r.put(0, "k", "v")
	r.flushed(0)
	if durable := same("after a flush"); durable < first {
		t.Errorf("%d after a flush of %d", durable, first)
	}
	last := r.put(0, "k", "v")
	if durable := same("after a write"); durable >= last {
		t.Errorf("%d without a flush of %d", durable, last)
	}
	if err := shard.DB().Flush(t.Context(), slatedb.WAL); err != nil {
		t.Fatal(err)
	}
	if durable := same("after a flush by somebody else"); durable < last {
		t.Errorf("%d after a flush of %d", durable, last)
	}
	r.mustShut(0)
	if durable := same("after the end"); durable < last {
		t.Errorf("%d after the end", durable)
	}
}
