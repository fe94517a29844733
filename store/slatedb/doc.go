// Package slatedb binds the SlateDB engine, version 0.17.0, through the shared
// library that the engine publishes. The library is loaded at run time and every
// function used is verified, so that building needs nothing but a C compiler.
//
//	objects, err := slatedb.NewObjectStore(ctx, store.Dir("/var/lib/app"))
//	db, err := slatedb.Open(ctx, objects, "shard-007", nil)
//	seq, err := db.Put(ctx, []byte("key"), []byte("value"), nil)
//	err = db.Flush(ctx, slatedb.WAL) // now the write is durable
//	err = db.Close(ctx, nil)
//	err = objects.Close(ctx)
package slatedb
