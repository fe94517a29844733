package slap

import (
	"context"
	"iter"

	"github.com/slap-go/slap/messages"
)

// Event is something that happened on a node: one of the types below, told apart by a
// type switch.
type Event = messages.Event

// Origin is where an event comes from and when it happened: part of every event.
type Origin = messages.Origin

// ShardOrigin is where an event of a shard comes from: part of each of them.
type ShardOrigin = messages.ShardOrigin

// Probed says how a try of the first steps in the store ended.
type Probed = messages.Probed

// ShardStarted says that a shard's database is open; its children start next.
type ShardStarted = messages.ShardStarted

// ShardFenced says that another writer has opened the shard's database.
type ShardFenced = messages.ShardFenced

// ShardStopped says that nothing of a shard's opening runs here any more.
type ShardStopped = messages.ShardStopped

// ShardFailed says that a shard's database did not open.
type ShardFailed = messages.ShardFailed

// ShardAbandoned says that an open or a close took too long and goes on by itself.
type ShardAbandoned = messages.ShardAbandoned

// DurabilityLag says, once in every LagInterval, how many of a shard's writes are not
// durable yet.
type DurabilityLag = messages.DurabilityLag

// SupervisorEvent is an event of one of the node's supervisors.
type SupervisorEvent = messages.SupervisorEvent

// LeaseOrigin is where an event of a shard's lease comes from: part of each of them.
type LeaseOrigin = messages.LeaseOrigin

// LeaseClaimed says that this node owns a shard from now on, and that it is open.
type LeaseClaimed = messages.LeaseClaimed

// LeaseReleased says that this node has closed a shard and freed its lease.
type LeaseReleased = messages.LeaseReleased

// LeaseLost says that another node has taken a shard that this one owned.
type LeaseLost = messages.LeaseLost

// LeasesSelfFenced says which shards stopped serving because their leases could not be
// renewed in time.
type LeasesSelfFenced = messages.LeasesSelfFenced

// LeaseRenewFailed says that a request to the store of the leases has failed.
type LeaseRenewFailed = messages.LeaseRenewFailed

// NodeSuperseded says that another process runs under this node's name.
type NodeSuperseded = messages.NodeSuperseded

// PeerUnreachable says that another node cannot be reached.
type PeerUnreachable = messages.PeerUnreachable

// PeerReachable says that a node which could not be reached is reached again.
type PeerReachable = messages.PeerReachable

// CallRemote says that a request is sent to another node.
type CallRemote = messages.CallRemote

// CallNotOwner says that a node which was taken for a shard's owner does not serve it.
type CallNotOwner = messages.CallNotOwner

// EventsMissed tells a reader of events that it was too slow.
type EventsMissed = messages.EventsMissed

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
