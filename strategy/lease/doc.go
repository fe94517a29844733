// Package lease decides by leases which node serves which shard: the strategy of nodes that
// come and go. Where the leases are is the [Store]'s matter; package objectlease keeps
// them in a bucket.
//
// Every node has a heartbeat, and every shard a lease that names its owner. In each round a
// node writes its heartbeat, renews its leases, lists what others have written, and gives
// up or claims shards so that each live node has the same number:
//
//	         ┌─ every Interval, and at once when a peer says so or something expires ─┐
//	         ▼                                                                        │
//	heartbeat ──► renew ──► list ──► read what is new ──► give above, claim below ────┘
//	                 │                                          the quota
//	                 └─► the deadline of each lease: sent + TTL − Margin
//
// A record is over when a node has seen the same version of it for its whole TTL; wall
// clocks are not compared. Its owner stops serving Margin earlier, by a comparison at each
// request and each answer ([strategy.Lease]), whatever else hangs. A claim is a write on
// exactly the version that was judged; that alone makes it safe.
//
//	loop.go     the actor that decides, around a pure core (core.go)
//	runner.go   the actor that opens and closes, around a pure queue (queue.go); it never
//	            calls the store, so that neither waits for the other
//
// The rules and their reasons are in docs/design.md.
package lease
