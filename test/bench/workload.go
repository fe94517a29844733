package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

// A workload is what both sides do in the same shape: open a database on an empty
// memory store, write all keys if they will be read, warm up, and work for a
// while. It travels to the peers as JSON.
type workload struct {
	// Work is put, get or batch.
	Work string `json:"work"`
	// One keeps all operations in flight from one goroutine or task. Else there
	// are as many of these, each with one operation.
	One bool `json:"one"`

	InFlight int            `json:"in_flight"`
	Keys     int            `json:"keys"`
	KeyBytes int            `json:"key_bytes"` // at least 8; the last 8 hold the number
	Value    int            `json:"value"`     // bytes
	Batch    int            `json:"batch"`     // puts in a batch
	Settings map[string]any `json:"settings"`

	Warmup  float64 `json:"warmup"`  // seconds
	Seconds float64 `json:"seconds"` // of the measurement
}

// standard is the work with 64 operations in flight. Its settings are the
// engine's defaults, named where the binding has one of its own.
func standard(work string) workload {
	return workload{
		Work: work, InFlight: 64, Keys: 20_000, KeyBytes: 16, Value: 100, Batch: 100,
		Settings: map[string]any{"flush_interval": "100ms", "max_unflushed_bytes": 1 << 30},
	}
}

// fromOne is the same work from one goroutine.
func (w workload) fromOne() workload {
	w.One = true
	return w
}

// lasting is the work for a while, after a fifth of it to warm up.
func (w workload) lasting(d time.Duration) workload {
	w.Seconds, w.Warmup = d.Seconds(), d.Seconds()/5
	return w
}

// inGo measures the binding: operations per second.
func (w workload) inGo(ctx context.Context, d time.Duration) (float64, error) {
	var rate float64
	err := withDB(ctx, w.Settings, func(db *slatedb.DB) error {
		var err error
		rate, err = w.lasting(d).on(ctx, db)
		return err
	})
	return rate, err
}

// on runs the workload on a new database.
func (w workload) on(ctx context.Context, db *slatedb.DB) (float64, error) {
	keys := w.keys()
	if w.Work == "get" {
		if err := w.load(ctx, db, keys); err != nil {
			return 0, err
		}
	}
	drive := w.driver(ctx, db, keys)
	if _, err := drive(seconds(w.Warmup)); err != nil {
		return 0, err
	}
	return drive(seconds(w.Seconds))
}

// driver is the work in its shape: called with a time, it gives operations per second.
func (w workload) driver(ctx context.Context, db *slatedb.DB, keys [][]byte) func(time.Duration) (float64, error) {
	if w.One {
		return func(d time.Duration) (float64, error) { return fly(w.InFlight, d, w.launcher(db, keys)) }
	}
	return func(d time.Duration) (float64, error) { return call(w.InFlight, d, w.caller(ctx, db, keys)) }
}

// caller is the blocking form of the work. Each caller walks through the keys from
// a start of its own.
func (w workload) caller(ctx context.Context, db *slatedb.DB, keys [][]byte) func(id int) func(i int) error {
	value := make([]byte, w.Value)
	return func(id int) func(int) error {
		start := id * len(keys) / w.InFlight
		key := func(i int) []byte { return keys[(start+i)%len(keys)] }
		switch w.Work {
		case "put":
			return func(i int) error {
				_, err := db.Put(ctx, key(i), value, nil)
				return err
			}
		case "get":
			return func(i int) error {
				_, ok, err := db.Get(ctx, key(i), nil)
				return missing(ok, err)
			}
		default:
			var b slatedb.Batch
			return func(i int) error {
				b.Reset()
				for j := range w.Batch {
					b.Put(key(i*w.Batch+j), value, nil)
				}
				_, err := db.Write(ctx, &b)
				return err
			}
		}
	}
}

// launcher is the asynchronous form of the work.
func (w workload) launcher(db *slatedb.DB, keys [][]byte) func(done func(error)) func(i int) {
	value := make([]byte, w.Value)
	return func(done func(error)) func(int) {
		if w.Work == "put" {
			written := func(_ uint64, err error) { done(err) }
			return func(i int) { db.PutAsync(keys[i%len(keys)], value, nil, written) }
		}
		read := func(_ []byte, ok bool, err error) { done(missing(ok, err)) }
		return func(i int) { db.GetAsync(keys[i%len(keys)], nil, read) }
	}
}

// load writes all keys.
func (w workload) load(ctx context.Context, db *slatedb.DB, keys [][]byte) error {
	const inBatch = 1000
	var b slatedb.Batch
	value := make([]byte, w.Value)
	for i, key := range keys {
		b.Put(key, value, nil)
		if b.Len() == inBatch || i == len(keys)-1 {
			if _, err := db.Write(ctx, &b); err != nil {
				return err
			}
			b.Reset()
		}
	}
	return nil
}

func (w workload) keys() [][]byte {
	keys := make([][]byte, w.Keys)
	for i := range keys {
		keys[i] = make([]byte, w.KeyBytes)
		binary.BigEndian.PutUint64(keys[i][w.KeyBytes-8:], uint64(i))
	}
	return keys
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

var errMissing = errors.New("a key that was written is missing")

func missing(ok bool, err error) error {
	if err == nil && !ok {
		return errMissing
	}
	return err
}

// withDB hands a new database on an empty memory store to f.
func withDB(ctx context.Context, settings map[string]any, f func(*slatedb.DB) error) error {
	return withDBAt(ctx, store.Memory(), settings, f)
}

// withDBAt hands a new database on an empty store to f.
func withDBAt(ctx context.Context, s store.Store, settings map[string]any, f func(*slatedb.DB) error) error {
	return withObjects(ctx, s, func(objects *slatedb.ObjectStore) error {
		db, err := slatedb.Open(ctx, objects, "bench", &slatedb.Options{Settings: settings})
		if err != nil {
			return fmt.Errorf("open a database: %w", err)
		}
		return errors.Join(f(db), db.Close(ctx, &slatedb.CloseOptions{SkipFlush: true}))
	})
}

// withObjects connects the engine to a store for the time of f.
func withObjects(ctx context.Context, s store.Store, f func(*slatedb.ObjectStore) error) error {
	objects, err := slatedb.NewObjectStore(ctx, s)
	if err != nil {
		return fmt.Errorf("connect the engine: %w", err)
	}
	return errors.Join(f(objects), objects.Close(ctx))
}
