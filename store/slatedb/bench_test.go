package slatedb

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The targets for allocations of a call.
func TestAllocations(t *testing.T) {
	db := memoryDB(t, nil)
	ctx := context.Background()
	key, value := []byte("a key"), make([]byte, 100)
	put(t, db, "a key", string(value))
	for _, c := range []struct {
		name string
		most float64
		f    func()
	}{
		{"put", 1, func() { _, _ = db.Put(ctx, key, value, nil) }},
		{"delete", 1, func() { _, _ = db.Delete(ctx, []byte("none")) }},
		{"get", 2, func() { _, _, _ = db.Get(ctx, key, nil) }},
		{"get with options", 2, func() { _, _, _ = db.Get(ctx, key, &ReadOptions{Dirty: true}) }},
		{"status", 0, func() { _ = db.Status() }},
	} {
		if got := testing.AllocsPerRun(1000, c.f); got > c.most {
			t.Errorf("%s: %v allocations, at most %v", c.name, got, c.most)
		}
	}
}

// reportCPU reports the processor time of an operation, of all threads.
func reportCPU(b *testing.B) (end func()) {
	cpu := func() int64 {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return u.Utime.Nano() + u.Stime.Nano()
	}
	b.ReportAllocs()
	b.ResetTimer()
	begin := cpu()
	return func() { b.ReportMetric(float64(cpu()-begin)/float64(b.N), "cpu-ns/op") }
}

// callers runs f from a number of goroutines.
func callers(b *testing.B, n int, f func(i int)) {
	defer reportCPU(b)()
	if n == 1 {
		for i := 0; b.Loop(); i++ {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for {
				i := int(next.Add(1))
				if i > b.N {
					return
				}
				f(i)
			}
		})
	}
	all.Wait()
}

func eachCallers(b *testing.B, f func(b *testing.B, db *DB, n int)) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { f(b, memoryDB(b, nil), n) })
	}
}

func benchKey(i int) []byte { return fmt.Appendf(make([]byte, 0, 16), "key-%012d", i%100_000) }

func BenchmarkPut(b *testing.B) {
	value := make([]byte, 100)
	eachCallers(b, func(b *testing.B, db *DB, n int) {
		callers(b, n, func(i int) {
			if _, err := db.Put(context.Background(), benchKey(i), value, nil); err != nil {
				b.Error(err)
			}
		})
	})
}

func BenchmarkGet(b *testing.B) {
	eachCallers(b, func(b *testing.B, db *DB, n int) {
		populate(b, db, 10_000)
		callers(b, n, func(i int) {
			if _, ok, err := db.Get(context.Background(), benchKey(i%10_000), nil); !ok || err != nil {
				b.Error(ok, err)
			}
		})
	})
}

func BenchmarkBatchOf100(b *testing.B) {
	value := make([]byte, 100)
	eachCallers(b, func(b *testing.B, db *DB, n int) {
		callers(b, n, func(i int) {
			var batch Batch
			for j := range 100 {
				batch.Put(benchKey(100*i+j), value, nil)
			}
			if _, err := db.Write(context.Background(), &batch); err != nil {
				b.Error(err)
			}
		})
	})
}

func BenchmarkStatus(b *testing.B) {
	eachCallers(b, func(b *testing.B, db *DB, n int) {
		callers(b, n, func(int) { _ = db.Status() })
	})
}

func BenchmarkScanRow(b *testing.B) {
	eachCallers(b, func(b *testing.B, db *DB, n int) {
		const rows = 1000
		populate(b, db, rows)
		callers(b, n, func(i int) {
			if i%rows > 0 {
				return // one scan stands for as many rows
			}
			it, err := db.Scan(context.Background(), Range{}, nil)
			if err != nil {
				b.Error(err)
				return
			}
			defer it.Close()
			for it.Next(context.Background()) {
			}
		})
	})
}

func populate(b *testing.B, db *DB, n int) {
	b.Helper()
	var batch Batch
	for i := range n {
		batch.Put(benchKey(i), make([]byte, 100), nil)
	}
	_, err := db.Write(context.Background(), &batch)
	require.NoError(b, err)
}

// inFlight runs f from one goroutine with at most 64 in flight.
func inFlight(b *testing.B, f func(i int, done func())) {
	const most = 64
	slots := make(chan struct{}, most)
	defer reportCPU(b)()
	for i := 0; b.Loop(); i++ {
		slots <- struct{}{}
		f(i, func() { <-slots })
	}
	for range most {
		slots <- struct{}{}
	}
}

func BenchmarkPutAsync(b *testing.B) {
	db := memoryDB(b, nil)
	value := make([]byte, 100)
	inFlight(b, func(i int, done func()) {
		db.PutAsync(benchKey(i), value, nil, func(_ uint64, err error) {
			if err != nil {
				b.Error(err)
			}
			done()
		})
	})
}

func BenchmarkGetAsync(b *testing.B) {
	db := memoryDB(b, nil)
	populate(b, db, 10_000)
	inFlight(b, func(i int, done func()) {
		db.GetAsync(benchKey(i%10_000), nil, func(_ []byte, ok bool, err error) {
			if !ok || err != nil {
				b.Error(ok, err)
			}
			done()
		})
	})
}
