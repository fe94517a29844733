// Package slatedb binds the SlateDB engine, version [Version], through the shared
// library that the engine publishes. The library is loaded at run time by the first
// call that needs it, and every function that is used is verified by its
// checksum, so that building and vetting need no library.
//
//	objects, err := slatedb.NewObjectStore(ctx, store.Dir("/var/lib/app"))
//	db, err := slatedb.Open(ctx, objects, "shard-007", nil)
//	seq, err := db.Put(ctx, []byte("key"), []byte("value"), nil) // readable
//	err = db.Flush(ctx, slatedb.WAL)                             // durable
//	err = db.Close(ctx, nil)
//	err = objects.Close(ctx)
//
// An [ObjectStore] is where databases live. A [DB] is one of them, open for its
// only writer; a [Reader] reads one that somebody else writes; an [Admin] looks at
// one from outside. A [Snapshot] and a [Transaction] belong to a DB, and an
// [Iterator] to any of these. Close them all before the ObjectStore: its Close
// waits for them until its context ends.
//
// # Two forms
//
// Every operation has a blocking form, with a context, and an asynchronous one
// for callers that must not block, with a function done that gets the result. A
// caller may have any number of operations in flight.
//
// done runs on a goroutine of the object store, never within the call that began
// the operation, and exactly once. It must not block and must not panic: other
// operations wait behind it. It may begin further operations, and hand its result
// on, as a message to an actor. Results may come in another order than the
// operations began.
//
// Writes are applied in the order in which a goroutine began them, in either form.
// Writes that wait for each other may go to the engine as one batch; they share
// its sequence number then.
//
// # Contexts
//
// A context ends the wait, never the engine's work: nothing in the engine is ever
// cancelled. The caller gets [ErrAbandoned], the outcome is unknown, and the
// object store owns the operation until it ends. [ObjectStore.Abandoned] counts
// such operations and [ObjectStore.Close] waits for them.
//
//   - A write that was given up may still be applied.
//   - An open that was given up and succeeds later is closed at once without a
//     flush. It may fence another writer.
//   - A close that was given up goes on until the store is back, or until the next
//     open of the database fences it.
//
// # When the store fails
//
// With its default settings the engine retries for ever: writes go on in memory,
// and flush, open and close wait until the store is back. Wrong credentials and a
// missing bucket look the same. So bound the waits, by contexts, and check the
// store with [store.Store.Open] first, which says what is wrong. With
// object_store_max_retries the engine gives up instead, and then the database is
// dead: its [Status] says [ReasonPanic], every call gives the first error, and what
// was not durable is lost.
//
// # Promises
//
//   - A write that [Status] reports durable is never lost.
//   - After the end of a database, however it ended, exactly the writes up to the
//     last DurableSeq are durable.
//   - A Close that returns nil has made every acknowledged write durable, unless it
//     was told not to flush.
//   - A use after a close is an error, never a crash. So is a panic of the engine
//     or of a [MergeOperator].
//   - On a local directory nothing is synced to disk: a durable write survives any
//     end of the process, but not a power loss.
//
// # The way of a call
//
//	caller             record              engine                 object store
//	  │ begin            │                   │                      (goroutines)
//	  ├─ one call into C ┼─ start, poll ────►│
//	  │                  │◄── ready at once ─┤
//	  │◄─ done ──────────┤                   │
//	  │                  │        or         │
//	  │                  │◄── not yet ───────┤
//	  │  waits on its    │                   │ works
//	  │  channel         │                   │
//	  │                  │◄── signal ────────┤ on a thread of its own
//	  │                  ├─ lock-free queue ─┼── wake-up ─────────► reader
//	  │◄─────────────────┼───────────────────┼─ wakes the caller ───┤
//	  ├─ resume ─────────┼─ poll, complete ─►│                      │
//	  │                  │                   │     if nobody waits: │
//	  │                  │◄─ resume ─────────┼────────────────── completers
//	  │                  │                   │                      │ done(result)
//
// A record is C memory that is reused and never freed, so that a late signal
// always finds it. The reader never runs code of the engine or of a caller. The
// completers are as many as there are processors, at most eight. They belong to the
// object store, and end with it.
package slatedb
