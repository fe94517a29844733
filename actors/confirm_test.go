package actors

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

// successor opens the shard's database as its next owner would.
func successor(t *testing.T, objects *slatedb.ObjectStore) *slatedb.DB {
	t.Helper()
	db, err := slatedb.Open(t.Context(), objects, "shard-000", nil)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// serve writes a value durably, so that everybody may know of it.
func serve(t *testing.T, db *slatedb.DB, value uint64) {
	t.Helper()
	_, err := db.Put(t.Context(), []byte("k"), binary.BigEndian.AppendUint64(nil, value), nil)
	if err == nil {
		err = db.Flush(t.Context(), slatedb.WAL)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(ctx context.Context, shard *Shard) (uint64, error) {
	value, _, err := shard.DB().Get(ctx, []byte("k"), nil)
	if err != nil || len(value) != 8 {
		return 0, errors.Join(err, errors.New("no value"))
	}
	return binary.BigEndian.Uint64(value), nil
}

// TestP11_1 has readers of an opening while the next owner opens the database and serves
// a newer value, at any moment. What is confirmed was current when the read began.
func TestP11_1_WhatIsConfirmedWasCurrentWhileTheNextOwnerOpens(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		unwatchful(c)
		c.FlushInterval = time.Millisecond
	})
	confirmed, refused := 0, 0
	for round := range uint64(scaled(200, 5_000)) {
		r.mustOpen(0)
		shard := r.shardAt(0)
		if _, err := shard.DB().Put(t.Context(), []byte("k"), binary.BigEndian.AppendUint64(nil, 2*round), nil); err != nil {
			t.Fatal(err)
		}
		r.flushed(0)
		var served atomic.Uint64 // the newest value that anybody was told of
		served.Store(2 * round)
		var yes, no atomic.Int64
		var readers sync.WaitGroup
		for reader := range 1 + round%4 {
			pauses := rand.New(rand.NewPCG(seed, 10*round+reader))
			readers.Go(func() {
				for more := true; more; {
					time.Sleep(time.Duration(pauses.IntN(3_000)) * time.Microsecond)
					current := served.Load()
					value, err := read(t.Context(), shard)
					if err == nil {
						err = shard.Confirm(t.Context())
					}
					switch {
					case err != nil:
						no.Add(1)
						more = false
					case value < current:
						t.Errorf("seed %d, round %d: %d is confirmed after %d was served", seed, round, value, current)
						more = false
					default:
						yes.Add(1)
					}
				}
			})
		}
		time.Sleep(time.Duration(rnd.IntN(3_000)) * time.Microsecond)
		owner := successor(t, r.config.Objects)
		serve(t, owner, 2*round+1)
		served.Store(2*round + 1)
		readers.Wait() // the first error is the fence
		// A read that meets it tells the shard nothing; this does.
		if err := shard.Confirm(t.Context()); err == nil {
			t.Errorf("seed %d, round %d: confirmed after the fence", seed, round)
		}
		if err := owner.Close(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		r.eventually("the shard is down", func() bool { return r.State(0).State == StateUnassigned })
		confirmed, refused = confirmed+int(yes.Load()), refused+int(no.Load())
	}
	t.Logf("seed %d: confirmed %d, refused %d", seed, confirmed, refused)
	if confirmed == 0 || refused == 0 {
		t.Errorf("seed %d: confirmed %d, refused %d", seed, confirmed, refused)
	}
}

// TestP11_1 holds a confirmation's flush: in front of the store, so that the next owner
// is there first, or behind it, so that the flush has succeeded and says so late. In
// between the next owner serves a newer value.
func TestP11_1_AFlushInFlightConfirmsNothingThatWasReadLater(t *testing.T) {
	server := s3test.Start(t, "bucket")
	for name, fault := range map[string]s3test.Fault{"not stored": s3test.HoldRequest, "stored, not answered": s3test.HoldReply} {
		t.Run(name, func(t *testing.T) {
			proxy := s3test.NewProxy(t, server)
			r := newRig(t, 1, proxy.Store("bucket", t.Name()), unwatchful)
			beside, err := slatedb.NewObjectStore(t.Context(), server.Store("bucket", t.Name()))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = beside.Close(context.Background()) }()
			r.mustOpen(0)
			shard := r.shardAt(0)
			if _, err := shard.DB().Put(t.Context(), []byte("k"), binary.BigEndian.AppendUint64(nil, 1), nil); err != nil {
				t.Fatal(err)
			}
			r.flushed(0)
			hold := proxy.Inject(s3test.Rule{Match: s3test.On("PUT", t.Name()+"/shard-000/wal/"), Fault: fault})
			early, late := make(chan error, 1), make(chan error, 1)
			go func() { early <- shard.Confirm(t.Context()) }()
			hold.Await(t, 1)
			owner := successor(t, beside)
			serve(t, owner, 2)
			if value, err := read(t.Context(), shard); value != 1 || err != nil {
				t.Fatalf("the shard has noticed: %d, %v", value, err)
			}
			go func() { late <- shard.Confirm(t.Context()) }()
			r.eventually("both wait", func() bool {
				shard.waits.mu.Lock()
				defer shard.waits.mu.Unlock()
				return len(shard.waits.d.waiters) == 2
			})
			hold.Release()
			if err := next(t, late); !errors.Is(err, messages.ErrOutcomeUnknown) || !errors.Is(err, messages.ErrFenced) {
				t.Errorf("what was read after 2 was served: %v", err)
			}
			if err := next(t, early); err != nil && !errors.Is(err, messages.ErrOutcomeUnknown) {
				t.Errorf("what was read before: %v", err)
			}
			if err := owner.Close(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}
