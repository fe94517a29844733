package lease

import (
	"context"
	"errors"
	"time"
)

// Version is a state of a record in a [Store]. Each write makes another, never an old one
// again. The empty version is that of a record that is missing.
type Version string

// What a store answers. Any other error of a write says that certainly nothing was written.
var (
	// ErrMissing says that there is no such record.
	ErrMissing = errors.New("the record is missing")

	// ErrConflict says that the record does not have the version that the write named. An
	// earlier write of the same content whose reply was lost may have been applied.
	ErrConflict = errors.New("the record has another version")

	// ErrUnknownOutcome says that the record may have been written.
	ErrUnknownOutcome = errors.New("the record may or may not have been written")

	// ErrUnsupported says that the store cannot hold leases, whatever is tried.
	ErrUnsupported = errors.New("the store cannot hold leases")
)

// Record is the lease of a shard. One whose Owner is empty is free.
type Record struct {
	Owner       string // name of the node
	Address     string // host:port of the node
	Incarnation string
	Generation  uint64        // rises with each claim
	TTL         time.Duration // how long a version lasts that is not renewed
	Nonce       string        // another in each write
	ExpiresAt   time.Time     // by the owner's wall clock; for people
}

// NodeState says whether a node takes part.
type NodeState string

// A live node takes its share. One that is leaving takes nothing more, and one that has
// left holds nothing.
const (
	Live    NodeState = "live"
	Leaving NodeState = "leaving"
	Left    NodeState = "left"
)

// HeldState is what a node does with a shard that it lists.
type HeldState string

// A shard that is Failed is not held: it could not be kept open here.
const (
	Opening HeldState = "opening"
	Running HeldState = "running"
	Closing HeldState = "closing"
	Failed  HeldState = "failed"
)

// Held is a shard in a node's heartbeat.
type Held struct {
	Shard      int
	State      HeldState
	Generation uint64
}

// Heartbeat is the record of a node.
type Heartbeat struct {
	Node        string
	Address     string
	Incarnation string
	State       NodeState
	TTL         time.Duration // how long the node lives without another heartbeat
	Nonce       string        // another in each write
	Shards      []Held        // by number
	At          time.Time     // by the node's wall clock; for people
}

// Listing is which records there are, and in which versions.
type Listing struct {
	Leases     map[int]Version
	Heartbeats map[string]Version
}

// Lease is a record as it was read, or is to be written.
type Lease struct {
	Shard   int
	Version Version // the one read; for a write, the one to be replaced: empty for a record that is missing
	Record  Record

	// Unreadable says that the record is there, in this version, but makes no sense.
	Unreadable bool
}

// Beat is a [Heartbeat] as it was read, or is to be written.
type Beat struct {
	Version    Version // as in [Lease]
	Heartbeat  Heartbeat
	Unreadable bool // as in [Lease]; only the name is known then
}

// Store is where leases and heartbeats are. It decides nothing: it reads, and writes under
// the condition that a record still has the version named. Package leasetest checks all
// this.
//
// All methods but Close may be called from many goroutines at once, and return soon after
// ctx ends. A read sees every write that ended before it began.
type Store interface {
	// Setup says whether the store can hold leases: [ErrUnsupported] if not; any other
	// error may pass. It is called before all others, until it succeeds.
	Setup(ctx context.Context) error

	// List tells which records there are. One that it does not show may be there all
	// the same; who needs to know reads it.
	List(ctx context.Context) (Listing, error)

	// ReadLease reads a shard's record; [ErrMissing] if there is none.
	ReadLease(ctx context.Context, shard int) (Lease, error)

	// ReadHeartbeat reads a node's record; [ErrMissing] if there is none.
	ReadHeartbeat(ctx context.Context, node string) (Beat, error)

	// WriteLease replaces the version that the lease names. It claims and frees.
	WriteLease(ctx context.Context, l Lease) (Version, error)

	// Renew writes leases as WriteLease does, all at once, and tells of each by its
	// place in the list as soon as it has ended, from any goroutine. None waits for
	// another. It returns once it has told of all.
	Renew(ctx context.Context, list []Lease, done func(i int, v Version, err error))

	// WriteHeartbeat replaces the version that the beat names.
	WriteHeartbeat(ctx context.Context, b Beat) (Version, error)

	// RemoveHeartbeat removes a node's record whatever it is. One that is missing is no
	// error.
	RemoveHeartbeat(ctx context.Context, node string) error

	// Close ends the store. No other method is called any more.
	Close() error
}
