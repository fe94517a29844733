// Package actors is the runtime of one node: the host, the shards with their
// database, notifier and children, the router, and the way a request takes.
//
//	cluster (one for all)                  node.go
//	├─ router                              router.go    requests of this node's actors
//	├─ shards (one for one, any number)
//	│   └─ shard n (one for all, no restarts: any exit ends this opening)   shard.go, children.go
//	│        ├─ notifier                   notifier.go  durability waiters; flushes; outlives the close
//	│        ├─ database                   database.go  opens; exits fenced | crashed(error); closes
//	│        └─ children (one for one)     dynamic.go   the application's, fixed and those that come and go
//	├─ host                                host.go      start and stop shards; reports downs to the strategy
//	└─ strategy                                         decides which shards are open here
//
// A request to a child goes
//
//	route.go: which opening? ──► inbox.go: admitted? ──► mailbox ──► gate.go: begun? ──► child
//	                                                                                      │
//	request.go: settled, once ◄── gate.go: may the answer leave? ◄── replies.go ◄─────────┘
//
// A request to a shard of another node goes through remote.go and package links, and one of
// another node comes in by serve.go, which sends it the same way; no goroutine waits for it.
// A request to a handler (handler.go) runs in a goroutine of its own between the same two
// looks at the gate. A request waits in its child's mailbox until the middleware in front
// of the child marks it begun. Whoever ends a child, a shard or a wait settles the
// requests concerned: those still waiting as not executed, those begun as unknown. Each
// request is settled exactly once.
//
// The decisions are in pure cores: durability.go (when to flush, whose wait is over) and
// retry.go (what is tried again, and when).
package actors
