package slap

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/slap-go/slap/actors"
	"github.com/slap-go/slap/internal/clock"
)

// State is where a shard is, as this node sees it.
type State = actors.State

// The states of a shard.
const (
	StateUnassigned = actors.StateUnassigned
	StateOpening    = actors.StateOpening
	StateRunning    = actors.StateRunning
	StateClosing    = actors.StateClosing
	StateRemote     = actors.StateRemote // another node owns it
)

// Assignment is what this node knows of one shard.
type Assignment = actors.Assignment

// Location is where requests to a shard go: here, to another node, or nowhere.
type Location struct {
	Shard *Shard // its opening, if it serves here
	Node  string // the name of the node that owns it; empty if it is unassigned
}

// Local says that the shard serves here.
func (l Location) Local() bool { return l.Shard != nil }

// Assigned says that the shard serves here or is owned by another node.
func (l Location) Assigned() bool { return l.Node != "" }

// String is local, remote(node) or unassigned.
func (l Location) String() string {
	switch {
	case l.Local():
		return "local"
	case l.Assigned():
		return "remote(" + l.Node + ")"
	}
	return "unassigned"
}

// ShardFor is the shard of a key: XXH64 with seed 0, modulo the number of shards.
// It never changes.
func (c *Cluster) ShardFor(key []byte) int {
	return int(xxhash.Sum64(key) % uint64(c.config.Shards))
}

// ShardForString is [Cluster.ShardFor] for a string.
func (c *Cluster) ShardForString(key string) int {
	return int(xxhash.Sum64String(key) % uint64(c.config.Shards))
}

// Lookup says where requests to a shard go, as this node sees it. It asks nobody. A
// shard serves once its children have started; one that is stopping or fenced here is
// unassigned. An error is an [ErrInvalid] for a number outside 0 … N−1, or an
// [ErrNotRunning].
func (c *Cluster) Lookup(shard int) (Location, error) {
	if err := actors.CheckShard(shard, "", c.config.Shards); err != nil {
		return Location{}, err
	}
	if c.ended() {
		return Location{}, &RequestError{Shard: shard, Kind: ErrNotRunning}
	}
	node := c.node.Load()
	if node == nil {
		return Location{}, nil
	}
	here, owner := node.Locate(shard)
	if here != nil {
		owner = c.config.Name
	}
	return Location{Shard: here, Node: owner}, nil
}

// LocalShards are the numbers of the shards that serve here, in order.
func (c *Cluster) LocalShards() []int {
	node := c.node.Load()
	if node == nil || c.ended() {
		return nil
	}
	return node.LocalShards()
}

// Assignments says what this node knows of every shard; nil before the start. It asks
// nobody.
func (c *Cluster) Assignments() []Assignment {
	node := c.node.Load()
	if node == nil {
		return c.unprobed()
	}
	all := make([]Assignment, c.config.Shards)
	for n := range all {
		all[n] = node.State(n)
	}
	return all
}

// Unreachable are the names of the nodes that this one has needed within the last minute
// and cannot reach, in order: the status of [PeerUnreachable] and [PeerReachable]. Such a
// node keeps its shards as long as it reaches the store.
func (c *Cluster) Unreachable() []string {
	node := c.node.Load()
	if node == nil || c.ended() {
		return nil
	}
	return node.Unreachable()
}

// readyPoll is the time between two looks at the shards in AwaitReady.
const readyPoll = 5 * time.Millisecond

// AwaitReady returns once every shard is open here or owned elsewhere, as this
// node sees it. It fails when ctx or the node ends.
func (c *Cluster) AwaitReady(ctx context.Context) error {
	for !c.Ready() {
		if c.ended() {
			return errors.Join(ErrNotRunning, c.Err())
		}
		if err := clock.Sleep(ctx, readyPoll); err != nil {
			return err
		}
	}
	return nil
}

// Ready says whether every shard is open here or owned elsewhere, as this node
// sees it. It asks nobody.
func (c *Cluster) Ready() bool {
	if c.ended() {
		return false
	}
	assignments := c.Assignments()
	return len(assignments) > 0 && !slices.ContainsFunc(assignments, func(a Assignment) bool {
		return a.State != StateRunning && a.State != StateRemote
	})
}

// unprobed is what a node without a fit store knows of the shards.
func (c *Cluster) unprobed() []Assignment {
	why := c.unfit.Load()
	if why == nil {
		return nil
	}
	all := make([]Assignment, c.config.Shards)
	for n := range all {
		all[n] = Assignment{Shard: n, Err: *why}
	}
	return all
}
