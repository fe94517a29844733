package slatedb

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/slap-go/slap/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openStore(t testing.TB, s store.Store) *ObjectStore {
	t.Helper()
	o, err := NewObjectStore(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return o
}

func openDB(t testing.TB, s *ObjectStore, path string, o *Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), s, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.Background(), nil) })
	return db
}

func TestFirst(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, store.Memory())
	db := openDB(t, s, "a", nil)
	for i := range 100 {
		if _, err := db.Put(ctx, fmt.Append(nil, "k", i), fmt.Append(nil, "v", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	v, ok, err := db.Get(ctx, []byte("k7"), nil)
	t.Log(string(v), ok, err)
	v, ok, err = db.Get(ctx, []byte("k7x"), &ReadOptions{Durability: Remote})
	t.Log(string(v), ok, err)
	t.Log(db.Status(), db.Flush(ctx, WAL), db.Status())
	t.Log(db.Close(ctx, nil), db.Status())
	_, err = db.Put(ctx, []byte("a"), nil, nil)
	t.Log(err)
}

func BenchmarkPut(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			s := openStore(b, store.Memory())
			db := openDB(b, s, "a", nil)
			b.ReportAllocs()
			b.SetParallelism(max(1, callers/2))
			v := make([]byte, 100)
			ctx := context.Background()
			if callers == 1 {
				k := make([]byte, 16)
				for i := 0; b.Loop(); i++ {
					k[0], k[1], k[2] = byte(i), byte(i>>8), byte(i>>16)
					if _, err := db.Put(ctx, k, v, nil); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				k := make([]byte, 16)
				for i := 0; pb.Next(); i++ {
					k[0], k[1], k[2] = byte(i), byte(i>>8), byte(i>>16)
					if _, err := db.Put(ctx, k, v, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			s := openStore(b, store.Memory())
			db := openDB(b, s, "a", nil)
			b.ReportAllocs()
			b.SetParallelism(max(1, callers/2))
			v := make([]byte, 100)
			ctx := context.Background()
			k := make([]byte, 16)
			db.Put(ctx, k, v, nil)
			if callers == 1 {
				for b.Loop() {
					if _, _, err := db.Get(ctx, k, nil); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := db.Get(ctx, k, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkPutAsync(b *testing.B) {
	s := openStore(b, store.Memory())
	db := openDB(b, s, "a", nil)
	b.ReportAllocs()
	v := make([]byte, 100)
	k := make([]byte, 16)
	slots := make(chan struct{}, 64)
	for i := 0; b.Loop(); i++ {
		slots <- struct{}{}
		k[0], k[1], k[2] = byte(i), byte(i>>8), byte(i>>16)
		db.PutAsync(k, v, nil, func(uint64, error) { <-slots })
	}
	for range 64 {
		slots <- struct{}{}
	}
}

func BenchmarkGetAsync(b *testing.B) {
	s := openStore(b, store.Memory())
	db := openDB(b, s, "a", nil)
	b.ReportAllocs()
	v := make([]byte, 100)
	k := make([]byte, 16)
	db.Put(context.Background(), k, v, nil)
	slots := make(chan struct{}, 64)
	for b.Loop() {
		slots <- struct{}{}
		db.GetAsync(k, nil, func([]byte, bool, error) { <-slots })
	}
	for range 64 {
		slots <- struct{}{}
	}
}

func BenchmarkStatus(b *testing.B) {
	s := openStore(b, store.Memory())
	db := openDB(b, s, "a", nil)
	b.ReportAllocs()
	for b.Loop() {
		db.Status()
	}
}
