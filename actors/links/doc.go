// Package links connects a node to the others of its cluster.
//
// A node listens with Proto.Actor's remote, for messages to PIDs, and on the same port for
// links. A link is one gRPC stream from a caller to a callee: requests go one way, their
// replies come back the other. A node that is called back has a link of its own.
//
//	caller                                          callee
//	link.go: is there a connection? ──greet.go──►   inbound.go: Hello? Welcome or refusal
//	outgoing.go: queued                             incoming.go: Serve
//	conn.go: sent, under a number of its own ──►      │
//	outgoing.go: settled, once  ◄───── reply ─────────┘
//
// The stream belongs to one incarnation on each side. When it ends, for whatever reason,
// what was sent through it and has no reply is unknown; what was still queued was never
// sent; and nothing that comes later, or elsewhere, can answer either. Nothing is sent
// twice.
//
// When a link is made, pinged and given up is decided by a pure core (life.go). What gRPC
// and Proto.Actor would let a peer do to the node is kept away by door.go and sieve.go.
package links
