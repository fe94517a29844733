// Package slap runs N SlateDB databases, the shards, in one bucket: it opens
// them on the nodes of a service, spawns the application's actors on top of
// them, routes requests to those actors and tells them when their writes are
// durable.
//
// A shard is a number 0 … N−1; [Cluster.ShardFor] maps keys to shards, for ever
// in the same way. Every shard has a database and the children that
// [Config.ShardChildren] names. A child is a Proto.Actor actor; it writes to its
// shard's database and answers with [Shard.RespondWhenDurable], so that nobody
// is told of a write that could still be lost.
//
// # The tree
//
//	cluster
//	├─ shards
//	│   └─ shard n        one opening of one database; any exit ends it
//	│        ├─ notifier  flushes, and tells who waits what is durable
//	│        ├─ database  opens and closes; notices when it is fenced
//	│        └─ children  yours
//	├─ host               opens and closes shards
//	└─ strategy           decides which
//
// # The way of one request
//
//	Ask ──► gate ──► the child's mailbox ──► the child ──► write ──► RespondWhenDurable
//	                                                                   │
//	Ask ◄────────────── answer ◄────────── durable ◄── flush ◄─────────┘
//
// Every request ends in exactly one of three ways: an answer of the application
// (a message or an [AppError]), [ErrNotExecuted], or [ErrOutcomeUnknown].
package slap
