package actors

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
)

// leased opens shard 0 under a lease.
func (r *rig) leased(lease *strategy.Lease) *Shard {
	r.t.Helper()
	r.hand.runtime.StartShard(0, lease, r.replyTo)
	r.wantReply("started", 0, nil)
	return r.shardAt(0)
}

func leaseReads(c *Config) { c.LeaseReads, c.ShardChildren = true, confirming }

func TestP11_2_UnderALeaseAConfirmationWritesNothing(t *testing.T) {
	for name, lease := range map[string]*strategy.Lease{"with a lease": lasting(time.Hour), "without": nil} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := newRig(t, 1, store.Dir(dir), leaseReads)
			shard := r.leased(lease)
			logs := func() int {
				files, err := filepath.Glob(filepath.Join(dir, "shard-000", "wal", "*"))
				if err != nil || len(files) == 0 {
					t.Fatalf("%v, %v", files, err)
				}
				return len(files)
			}
			first := r.put(0, "k", "v")
			r.flushed(0)
			before := logs()
			for range 50 {
				if err := shard.Confirm(t.Context()); err != nil {
					t.Fatal(err)
				}
				answer, err := r.Ask(t.Context(), 0, "a", word("k"), Retry{})
				if value, ok := answer.(*wrapperspb.BytesValue); err != nil || !ok || string(value.GetValue()) != "v" {
					t.Fatalf("%v, %v", answer, err)
				}
			}
			flushes, writes := logs()-before, int(r.put(0, "k", "v")-first)-1
			if quiet := flushes == 0 && writes == 0; quiet != (lease != nil) {
				t.Errorf("%d writes and %d flushes", writes, flushes)
			}
		})
	}
}

// TestP11_2 holds the flush of a write in front of the store while readers wait for it.
func TestP11_2_TheAnswerWaitsForWhatWasUnflushedAndForItsLease(t *testing.T) {
	server := s3test.Start(t, "bucket")
	for name, c := range map[string]struct {
		end  func(*strategy.Lease)
		kind error
	}{
		"the lease lasts":   {func(*strategy.Lease) {}, nil},
		"the lease is over": {(*strategy.Lease).End, messages.ErrStopping},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := s3test.NewProxy(t, server)
			r := newRig(t, 1, proxy.Store("bucket", t.Name()), func(c *Config) {
				unwatchful(c)
				leaseReads(c)
			})
			lease := lasting(time.Hour)
			shard := r.leased(lease)
			hold := proxy.Inject(s3test.Rule{Match: s3test.On("PUT", t.Name()+"/shard-000/wal/"), Fault: s3test.HoldRequest})
			seq := r.put(0, "k", "v")
			hold.Await(t, 1)
			results := make(chan error, 2)
			go func() { results <- shard.Confirm(t.Context()) }()
			go func() {
				_, err := r.Ask(t.Context(), 0, "a", word("k"), Retry{})
				results <- err
			}()
			r.eventually("both wait", func() bool {
				shard.waits.mu.Lock()
				defer shard.waits.mu.Unlock()
				return len(shard.waits.d.waiters) == 2
			})
			if len(results) > 0 || shard.DurableSeq() >= seq {
				t.Fatal("answered before the write is durable")
			}
			c.end(lease)
			hold.Release()
			for range 2 {
				err := next(t, results)
				if c.kind == nil && err != nil || c.kind != nil && (!errors.Is(err, messages.ErrOutcomeUnknown) || !errors.Is(err, c.kind)) {
					t.Errorf("%v, want %v", err, c.kind)
				}
			}
			if written := shard.WrittenSeq(); written != seq {
				t.Errorf("the confirmations have written %d", written-seq)
			}
		})
	}
}

func TestP11_2_ALeaseProvesNothingAfterTheShardsEnd(t *testing.T) {
	r := newRig(t, 1, store.Memory(), leaseReads)
	shard := r.leased(lasting(time.Hour))
	r.put(0, "k", "v")
	r.mustShut(0)
	if err := shard.Confirm(t.Context()); !errors.Is(err, messages.ErrOutcomeUnknown) || !errors.Is(err, messages.ErrStopping) {
		t.Errorf("after a stop: %v", err)
	}
	shard = r.leased(lasting(time.Hour))
	owner := successor(t, r.config.Objects)
	defer func() { _ = owner.Close(t.Context(), nil) }()
	r.eventually("the shard is fenced", func() bool { return shard.Status() == Fenced })
	if err := shard.Confirm(t.Context()); !errors.Is(err, messages.ErrOutcomeUnknown) || !errors.Is(err, messages.ErrFenced) {
		t.Errorf("after a fence: %v", err)
	}
}

func TestP11_2_WhatIsToldAsThePlannedStopEndsIsProven(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		leaseReads(c)
		c.FlushInterval = time.Hour
	})
	shard := r.leased(lasting(time.Hour))
	r.put(0, "k", "1") // flushed at once
	r.flushed(0)
	r.put(0, "k", "2") // in an hour
	confirmed := make(chan error, 1)
	go func() { confirmed <- shard.Confirm(t.Context()) }()
	r.eventually("it waits", func() bool {
		shard.waits.mu.Lock()
		defer shard.waits.mu.Unlock()
		return len(shard.waits.d.waiters) == 1
	})
	r.mustShut(0)
	if err := next(t, confirmed); err != nil {
		t.Error(err)
	}
}

// TestP11_2 has readers of a value that writers change all the time. What a reader is
// confirmed is durable, also if the write that it saw had not been reported yet.
func TestP11_2_WhatIsConfirmedIsDurableBesideWritersThatAreStillAtIt(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		leaseReads(c)
		c.FlushInterval = time.Millisecond
	})
	shard := r.leased(lasting(time.Hour))
	type seen struct{ value, durable uint64 }
	var mu sync.Mutex
	var confirmed []seen
	seqs := map[uint64]uint64{} // of each value
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	for w := range uint64(4) {
		writers.Go(func() {
			for i := uint64(0); ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				value := w<<32 | i
				seq, err := shard.DB().Put(t.Context(), []byte("k"), binary.BigEndian.AppendUint64(nil, value), nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				seqs[value] = seq
				mu.Unlock()
				if i%8 == 7 {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	r.eventually("there is a value", func() bool { _, err := read(t.Context(), shard); return err == nil })
	for range 8 {
		readers.Go(func() {
			for range scaled(1_000, 20_000) {
				value, err := read(t.Context(), shard)
				if err == nil {
					err = shard.Confirm(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				confirmed = append(confirmed, seen{value, shard.DurableSeq()})
				mu.Unlock()
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
	for _, s := range confirmed {
		if seq, ok := seqs[s.value]; !ok || seq > s.durable {
			t.Fatalf("%x, of sequence number %d, was confirmed when %d was durable", s.value, seq, s.durable)
		}
	}
}
