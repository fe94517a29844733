package slap

import (
	"context"
	"iter"

	"github.com/slap-go/slap/messages"
)

// Event is something that happened on a node: one of the types below, told apart by a
// type switch.
type Event = messages.Event

// Origin is the part that all events share, ShardOrigin the one of all events of a shard.
type (
	Origin      = messages.Origin
	ShardOrigin = messages.ShardOrigin
)

// The events.
type (
	Probed          = messages.Probed          // a try of the store ended
	ShardStarted    = messages.ShardStarted    // a shard's database is open
	ShardStopped    = messages.ShardStopped    // nothing of a shard runs here any more
	ShardFenced     = messages.ShardFenced     // another writer has opened a shard
	ShardFailed     = messages.ShardFailed     // a shard did not open
	ShardAbandoned  = messages.ShardAbandoned  // an open or close took too long
	DurabilityLag   = messages.DurabilityLag   // how many writes are not durable yet
	SupervisorEvent = messages.SupervisorEvent // of one of the node's supervisors
	EventsMissed    = messages.EventsMissed    // this reader was too slow
)

// Events gives what happens on this node from now on, for a loop:
//
//	events := cluster.Events(ctx, 1000) // before Start, to miss nothing
//	go func() {
//		for e := range events {
//			switch e := e.(type) {
//			case slap.ShardFenced:
//				alert(e.Shard)
//			case slap.EventsMissed:
//				log.Print(e)
//			}
//		}
//	}()
//
// The loop ends when ctx does and, with the last event, when the node has ended; until
// one of them the events wait, also for a loop that never begins. At most buffer events,
// one at least, wait for it: a slow loop delays nobody and is told by [EventsMissed] of
// those that it missed. The sequence is for one loop.
func (c *Cluster) Events(ctx context.Context, buffer int) iter.Seq[Event] {
	return c.events.Read(ctx, buffer)
}
