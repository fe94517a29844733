// Package slap runs N SlateDB databases, the shards, in one bucket: it opens
// them on the nodes of a service, spawns the application's actors on top of
// them, routes requests to those actors and tells them when their writes are
// durable.
//
// A shard is a number 0 … N−1; [Cluster.ShardFor] maps keys to shards, for ever
// in the same way. Every shard has a database and the children that
// [Config.ShardChildren] names. A child is a Proto.Actor actor, given the [Shard];
// it writes to its shard's database and answers with [Shard.RespondWhenDurable], so
// that nobody is told of a write that could still be lost. It answers what it read
// with [Shard.RespondWhenConfirmed], so that nobody is told what another node has
// changed since.
//
// Start with [Config], [New] and [Cluster.Start]. The ways to a shard are
// [Cluster.Ask] (a message to a child), [Cluster.Call] (a function of
// [Config.Handlers]), [Cluster.Tell] and [Cluster.PID] (plain messages) and
// [Cluster.Router] (for actors, which must not wait).
//
// # The tree
//
//	cluster (one for all)      host, strategy and shards start over together
//	├─ router                  requests of this node's actors
//	├─ shards
//	│   └─ shard n             one opening of one database; any exit ends it
//	│        ├─ notifier       flushes, and tells who waits what is durable
//	│        ├─ database       opens and closes; notices when it is fenced
//	│        └─ children       yours, fixed and those that come and go
//	├─ host                    opens and closes shards, tells the strategy what went down
//	└─ strategy                decides which shards are open here
//
// # The way of one request
//
//	Ask ──► lookup ──► gate ──► mailbox ──► child ──► write ──► RespondWhenDurable
//	          │          │         │          │                        │
//	       unassigned  stopping  overloaded  panic, no answer          │
//	          ▼          ▼         ▼          ▼                        ▼
//	       not executed: tried again,       outcome unknown      flush ──► durable
//	       or never                                                    │
//	Ask ◄──────────────── gate ◄──────────── answer ◄──────────────────┘
//
// Every request ends in exactly one of three ways: an answer of the application
// (a message or an [AppError]), [ErrNotExecuted], or [ErrOutcomeUnknown]. The first
// two are always true.
//
// # What can be seen
//
// [Cluster.Events] has everything that happens, and the log what deserves attention.
// The metrics of a node are
//
//	slap.request.duration      how long requests took, by method and outcome; in seconds
//	slap.shard.count           shards by their state, as the node sees them
//	slap.shard.durability.lag  writes of an open shard that are not durable yet
//	slap.shard.abandoned       shards with an open or close that took too long and goes on
//	slap.peer.unreachable      other nodes that were needed lately and cannot be reached
//	slap.child.restarts        restarts of actors
//	slap.event.published       events by their names: lease.self_fence, peer.unreachable …
//	slap.event.missed          events that readers were too slow for
//
// and those of the engine, which begin with slatedb. Spans are slap.ask and slap.call, and
// on another node that serves the request slap.serve.ask and slap.serve.call.
package slap
