package lease

import (
	"fmt"
	"strings"
	"time"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// action is what a core wants to be done. What comes of it is an input.
type action interface{ String() string }

type (
	// Requests to the store.
	doSetUp      struct{}
	doList       struct{}
	doReadLease  struct{ shard int }
	doReadBeat   struct{ node string }
	doWriteBeat  struct{ beat Beat }
	doWriteLease struct {
		kind  writeKind
		lease Lease
	}
	doRenew      struct{ leases []Lease }
	doRemoveBeat struct{ node string }

	// To other nodes.
	doGreet struct{ address string }
	doHint  struct{ nodes []strategy.Node }

	// doHold makes the lease of a claim, doExtend renews it, doDrop ends it at once.
	doHold struct {
		shard      int
		generation uint64
		deadline   strategy.Instant
	}
	doExtend struct {
		shard    int
		deadline strategy.Instant
	}
	doDrop struct{ shard int }

	// To the runner.
	doOpen  struct{ shard int }
	doClose struct{ shard int }

	// doPlace publishes where a shard is.
	doPlace struct {
		shard     int
		placement strategy.Placement
	}
	doTell struct {
		event func(messages.Origin) messages.Event
	}
	// doWatch tells people why the start takes its time: whoever has the name is silent.
	doWatch struct {
		address string
		ttl     time.Duration
	}
	doReady     struct{}
	doRefreshed struct{ shard int }
	doLeft      struct{}

	// doEnd ends the node, or fails its start.
	doEnd struct{ err error }
)

func (doSetUp) String() string       { return "set up" }
func (doList) String() string        { return "list" }
func (a doReadLease) String() string { return fmt.Sprintf("read lease %d", a.shard) }
func (a doReadBeat) String() string  { return "read heartbeat " + a.node }
func (a doWriteBeat) String() string {
	h := a.beat.Heartbeat
	var b strings.Builder
	fmt.Fprintf(&b, "write heartbeat %s on %s as %s", h.State, version(a.beat.Version), h.Nonce)
	for _, s := range h.Shards {
		fmt.Fprintf(&b, " %d:%s:%d", s.Shard, s.State, s.Generation)
	}
	return b.String()
}

func (a doWriteLease) String() string {
	return fmt.Sprintf("%s %s", a.kind, text(a.lease))
}

func (a doRenew) String() string {
	all := make([]string, len(a.leases))
	for i, l := range a.leases {
		all[i] = text(l)
	}
	return "renew " + strings.Join(all, ", ")
}
func (a doRemoveBeat) String() string { return "remove heartbeat " + a.node }
func (a doGreet) String() string      { return "greet " + a.address }
func (a doHint) String() string {
	names := make([]string, len(a.nodes))
	for i, n := range a.nodes {
		names[i] = n.Name
	}
	return "hint " + strings.Join(names, " ")
}

func (a doHold) String() string {
	return fmt.Sprintf("hold %d generation %d until %v", a.shard, a.generation, elapsed(a.deadline))
}

func (a doExtend) String() string {
	return fmt.Sprintf("extend %d until %v", a.shard, elapsed(a.deadline))
}
func (a doDrop) String() string  { return fmt.Sprintf("drop %d", a.shard) }
func (a doOpen) String() string  { return fmt.Sprintf("open %d", a.shard) }
func (a doClose) String() string { return fmt.Sprintf("close %d", a.shard) }
func (a doPlace) String() string {
	switch p := a.placement; {
	case p.Here:
		return fmt.Sprintf("place %d here", a.shard)
	case p.Owner.Name == "":
		return fmt.Sprintf("place %d nowhere", a.shard)
	default:
		return fmt.Sprintf("place %d on %s generation %d", a.shard, p.Owner.Name, p.Generation)
	}
}
func (a doTell) String() string      { return "tell " + a.event(messages.Origin{}).Name() }
func (a doWatch) String() string     { return fmt.Sprintf("watch %s for %v", a.address, a.ttl) }
func (doReady) String() string       { return "ready" }
func (a doRefreshed) String() string { return fmt.Sprintf("refreshed %d", a.shard) }
func (doLeft) String() string        { return "left" }
func (a doEnd) String() string       { return "end: " + a.err.Error() }

func text(l Lease) string {
	return fmt.Sprintf("%d generation %d on %s as %s", l.Shard, l.Record.Generation, version(l.Version), l.Record.Nonce)
}

func version(v Version) string {
	if v == "" {
		return "nothing"
	}
	return string(v)
}
