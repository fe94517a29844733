// Package actors is the runtime of one node: the host, the shards with their
// database, notifier and children, and the way a request takes to a child.
//
//	cluster (one for all)
//	├─ shards (one for one, any number)
//	│   └─ shard n (one for all, no restarts: any exit ends this opening)
//	│        ├─ notifier   durability waiters; the one caller of flush; outlives the close
//	│        ├─ database   opens; exits fenced | crashed(error); closes
//	│        └─ children (one for one)     the application's
//	├─ host                                start and stop shards; reports downs to the strategy
//	└─ strategy                            decides which shards are open here
//
// A request waits in its child's mailbox until the middleware in front of the
// child marks it begun. Whoever ends a child, a shard or a wait settles the
// requests concerned: those still waiting as not executed, those begun as
// unknown. Each request is settled exactly once.
package actors
