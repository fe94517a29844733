// Package strategy is the contract between a node and whatever decides which
// shards are open on it.
//
// A strategy only has to be mostly right. SlateDB lets one writer at a time into
// a shard, so two nodes that both open one cost errors and a restart, not data.
package strategy

import (
	"context"
	"errors"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/supervision"
)

// DownReason says why a shard that was open here no longer is.
type DownReason uint8

// Fenced: another writer opened the database. Crashed: the database died, or its
// children restarted too often. Stopped: somebody asked for it.
const (
	Stopped DownReason = iota
	Crashed
	Fenced
)

// String is the reason in lower case.
func (r DownReason) String() string {
	names := [...]string{"stopped", "crashed", "fenced"}
	if int(r) < len(names) {
		return names[r]
	}
	return "unknown"
}

// Why a shard was not started or stopped. Any other error of a start is the
// failure of the open itself. After [ErrAlreadyStarted] only who asked first is told
// whether the shard opens. After [ErrStopped] comes a report of [Stopped].
var (
	ErrAlreadyStarted = errors.New("the shard is open or opening here")
	ErrClosing        = errors.New("the shard is still closing here")
	ErrStopped        = errors.New("the shard was stopped while it opened")
	ErrFenced         = errors.New("another writer opened the shard while it opened here")
	ErrNotStarted     = errors.New("the shard is not open here")
	ErrInvalidShard   = errors.New("no such shard")
)

// Started answers [Runtime.StartShard].
type Started struct {
	Shard int
	Err   error // nil once the shard is open and its children have started
}

// Closed answers [Runtime.StopShard].
type Closed struct {
	Shard int
	Err   error // nil once the shard is completely closed
}

// Runtime is what a strategy may ask of its node. Its methods return at once and
// may be called from any goroutine; requests of one caller are carried out in the
// order they were made. Answers and the calls of [Strategy.HandleShardDown] come in the
// order of what they tell.
type Runtime interface {
	Host
	Network

	// Shards is the number of shards of the cluster.
	Shards() int

	// Store is where the cluster lives, and Path where in it.
	Store() store.Store
	Path() string

	// Publish tells an event, which is from Origin. It may be called at any time.
	Publish(e messages.Event)
	Origin() messages.Origin

	// Go runs a function in a goroutine that the node waits for at its end. The function
	// ends soon after ctx does, which ends with the node's actors at the latest.
	Go(f func(ctx context.Context))

	// End ends the node for good, with this error.
	End(err error)

	// Logger is the node's logger.
	Logger() *slog.Logger
}

// Host opens and closes the shards of a node.
type Host interface {
	// StartShard opens the shard and answers with [Started]. The shard serves as
	// long as the lease lasts; a strategy without leases gives nil.
	StartShard(shard int, lease *Lease, replyTo *actor.PID)

	// StopShard closes the shard and answers with [Closed].
	StopShard(shard int, replyTo *actor.PID)

	// InFlight says whether an open or close of the shard goes on here that was given up.
	InFlight(shard int) bool
}

// Network is what a node knows of itself and can ask of others.
type Network interface {
	// Node is this node. Its address is empty if it does not listen.
	Node() Node

	// Greet asks who answers at an address. It fails with [ErrNobody] if nobody does for
	// certain, and with any other error if that cannot be told, after two seconds at most.
	Greet(ctx context.Context, address string) (Node, error)

	// Hint lets another node look at once at what has changed. It may get lost.
	Hint(to Node)
}

// Node says who a node is to the others.
type Node struct {
	Name        string
	Address     string // host:port; empty if it is not known, or the node does not listen
	Incarnation string // new at each start; empty if it is not known
}

// ErrNobody says that nobody listens at an address.
var ErrNobody = errors.New("nobody listens there")

// Placement says where a shard is, as far as a strategy knows. It may be stale.
type Placement struct {
	Here       bool   // this node owns the shard, open or not
	Owner      Node   // the other node that owns it; without a name none does
	Generation uint64 // of that one's lease; 0 without leases
}

// Cluster is what a strategy can be checked against.
type Cluster struct {
	Shards int
	Node   string // this node's name; empty if it was given none
}

// Several is a [Strategy] for clusters of several nodes. Those have a name and listen for
// each other.
type Several interface {
	// Others says whether the node, with this name, may have others beside it, and those
	// whose addresses have to be known beforehand since the strategy knows them by name
	// alone.
	Others(self string) (several bool, named []string)
}

// Leaver is a [Strategy] that has something to do before a node stops.
type Leaver interface {
	// Leave gives up all shards that are open here, and returns once that is done or ctx
	// ends. The node stops its actors then. Without an actor it returns at once.
	Leave(ctx context.Context)
}

// Watcher is a [Strategy] that can be told that something has changed elsewhere.
type Watcher interface {
	// LookNow must not block, as [Strategy.HandleShardDown] must not.
	LookNow()
}

// Validator is a [Strategy] that checks its options against the cluster. It is asked
// before anything starts; errors name the option.
type Validator interface {
	Validate(c Cluster) error
}

// Refresher is a [Strategy] that can look again where a shard is. A request that was not
// executed is tried again after that.
type Refresher interface {
	// Refresh returns once what [Strategy.Lookup] says of the shard is fresh, or when ctx
	// ends.
	Refresh(ctx context.Context, shard int)
}

// Strategy decides which shards are open on a node. It opens and closes them only
// through the [Runtime]. A value serves one cluster at a time: in a second one its actor
// fails to start, by [supervision.Fail]. Package strategytest checks all this.
type Strategy interface {
	// Child is the strategy's own actor, a permanent one. It is ready once the first
	// round of decisions is carried out; the node's start waits for that. Child itself
	// starts nothing. When something of the node crashes the actor starts over, and no
	// shard is open then.
	Child(r Runtime) supervision.ChildSpec

	// Lookup says where the shard is. It is called on the way of every request, from
	// many goroutines, also before the actor has started and after it has ended. It must
	// not block: not for the actor, nor for a lock that is held while the Runtime is
	// called.
	Lookup(shard int) Placement

	// HandleShardDown says that a shard which was open here no longer is. It is
	// called by the host and must not block, as Lookup must not.
	HandleShardDown(shard int, reason DownReason)
}
