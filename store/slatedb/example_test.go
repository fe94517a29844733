package slatedb_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"
	"sync"
	"time"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

// open opens a database in memory for an example.
func open(ctx context.Context, o *slatedb.Options) (db *slatedb.DB, end func()) {
	objects, err := slatedb.NewObjectStore(ctx, store.Memory())
	if err != nil {
		log.Fatal(err)
	}
	db, err = slatedb.Open(ctx, objects, "example", o)
	if err != nil {
		log.Fatal(err)
	}
	return db, func() {
		if err := errors.Join(db.Close(ctx, nil), objects.Close(ctx)); err != nil {
			log.Fatal(err)
		}
	}
}

func Example() {
	ctx := context.Background()
	objects, err := slatedb.NewObjectStore(ctx, store.Memory())
	if err != nil {
		log.Fatal(err)
	}
	db, err := slatedb.Open(ctx, objects, "shard-007", nil)
	if err != nil {
		log.Fatal(err)
	}
	seq, err := db.Put(ctx, []byte("greeting"), []byte("hello"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Flush(ctx, slatedb.WAL); err != nil {
		log.Fatal(err)
	}
	value, found, err := db.Get(ctx, []byte("greeting"), nil)
	fmt.Println(string(value), found, err)
	fmt.Println("durable:", db.Status().DurableSeq >= seq)
	fmt.Println(db.Close(ctx, nil), objects.Close(ctx))
	// Output:
	// hello true <nil>
	// durable: true
	// <nil> <nil>
}

func ExampleOpen() {
	ctx := context.Background()
	objects, err := slatedb.NewObjectStore(ctx, store.Memory())
	if err != nil {
		log.Fatal(err)
	}
	db, err := slatedb.Open(ctx, objects, "shard-007", &slatedb.Options{
		Settings: map[string]any{"flush_interval": "20ms"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(db.Status().CloseReason)
	fmt.Println(db.Close(ctx, nil), objects.Close(ctx)) // the database first
	// Output:
	// open
	// <nil> <nil>
}

func ExampleDB_Scan() {
	ctx := context.Background()
	db, end := open(ctx, nil)
	defer end()
	for _, key := range []string{"a", "b", "c", "d"} {
		if _, err := db.Put(ctx, []byte(key), []byte("value of "+key), nil); err != nil {
			log.Fatal(err)
		}
	}

	it, err := db.Scan(ctx, slatedb.Range{Start: []byte("b"), End: []byte("d")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer it.Close()
	for it.Next(ctx) {
		fmt.Printf("%s: %s\n", it.Row().Key, it.Row().Value)
	}
	fmt.Println(it.Err())
	// Output:
	// b: value of b
	// c: value of c
	// <nil>
}

func ExampleDB_Write() {
	ctx := context.Background()
	db, end := open(ctx, nil)
	defer end()

	var b slatedb.Batch
	b.Put([]byte("from"), []byte("70"), nil)
	b.Put([]byte("to"), []byte("130"), nil)
	b.Delete([]byte("pending"))
	_, err := db.Write(ctx, &b) // all of it or nothing
	fmt.Println(err)
	// Output: <nil>
}

func ExampleDB_PutAsync() {
	ctx := context.Background()
	db, end := open(ctx, nil)
	defer end()

	var written sync.WaitGroup
	for i := range 100 {
		written.Add(1)
		db.PutAsync([]byte("counter"), []byte(strconv.Itoa(i)), nil, func(seq uint64, err error) {
			defer written.Done() // an actor would send itself a message
			if err != nil {
				log.Print(err)
			}
		})
	}
	written.Wait()
	value, _, err := db.Get(ctx, []byte("counter"), nil)
	fmt.Println(string(value), err)
	// Output: 99 <nil>
}

func ExampleDB_ScanPrefix() {
	ctx := context.Background()
	db, end := open(ctx, nil)
	defer end()
	for _, name := range []string{"user/ann", "user/bob", "user/eve", "vault"} {
		if _, err := db.Put(ctx, []byte(name), nil, nil); err != nil {
			log.Fatal(err)
		}
	}

	it, err := db.ScanPrefix(ctx, []byte("user/"), &slatedb.ScanOptions{Order: slatedb.Descending})
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range it.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(row.Key))
	}
	// Output:
	// user/eve
	// user/bob
	// user/ann
}

func ExampleDB_Begin() {
	ctx := context.Background()
	db, end := open(ctx, nil)
	defer end()

	increment := func() error {
		tx, err := db.Begin(ctx, slatedb.Serializable)
		if err != nil {
			return err
		}
		defer tx.Rollback(ctx) // nothing after a commit
		value, _, err := tx.Get(ctx, []byte("n"), nil)
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(value))
		if err := tx.Put(ctx, []byte("n"), []byte(strconv.Itoa(n+1)), nil); err != nil {
			return err
		}
		_, err = tx.Commit(ctx)
		return err
	}
	for range 3 {
		for errors.Is(increment(), slatedb.ErrConflict) { // try again
		}
	}
	value, _, err := db.Get(ctx, []byte("n"), nil)
	fmt.Println(string(value), err)
	// Output: 3 <nil>
}

func ExampleMergeOperator() {
	ctx := context.Background()
	add := func(_, existing, operand []byte) ([]byte, error) {
		a, _ := strconv.Atoi(string(existing))
		b, err := strconv.Atoi(string(operand))
		return []byte(strconv.Itoa(a + b)), err
	}
	db, end := open(ctx, &slatedb.Options{MergeOperator: add})
	defer end()
	for range 5 {
		if _, err := db.Merge(ctx, []byte("visits"), []byte("2"), nil); err != nil {
			log.Fatal(err)
		}
	}
	value, _, err := db.Get(ctx, []byte("visits"), nil)
	fmt.Println(string(value), err)
	// Output: 10 <nil>
}

func ExampleOpen_fence() {
	ctx := context.Background()
	objects, err := slatedb.NewObjectStore(ctx, store.Memory())
	if err != nil {
		log.Fatal(err)
	}
	first, err := slatedb.Open(ctx, objects, "db", nil)
	if err != nil {
		log.Fatal(err)
	}
	second, err := slatedb.Open(ctx, objects, "db", nil) // fences the first one
	if err != nil {
		log.Fatal(err)
	}
	_, _ = first.Put(ctx, []byte("k"), []byte("v"), nil) // in memory at most
	err = first.Close(ctx, nil)
	fmt.Println(errors.Is(err, slatedb.ErrFenced), first.Status().CloseReason)
	fmt.Println(second.Close(ctx, nil), objects.Close(ctx))
	// Output:
	// true fenced
	// <nil> <nil>
}

func ExampleReader() {
	ctx := context.Background()
	objects, err := slatedb.NewObjectStore(ctx, store.Memory())
	if err != nil {
		log.Fatal(err)
	}
	db, err := slatedb.Open(ctx, objects, "db", nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Put(ctx, []byte("k"), []byte("v"), nil); err != nil {
		log.Fatal(err)
	}
	if err := db.Flush(ctx, slatedb.WAL); err != nil {
		log.Fatal(err)
	}
	reader, err := slatedb.OpenReader(ctx, objects, "db", &slatedb.ReaderOptions{PollInterval: time.Second})
	if err != nil {
		log.Fatal(err)
	}
	value, _, err := reader.Get(ctx, []byte("k"), nil)
	fmt.Println(string(value), err)
	fmt.Println(reader.Close(ctx), db.Close(ctx, nil), objects.Close(ctx))
	// Output:
	// v <nil>
	// <nil> <nil> <nil>
}
