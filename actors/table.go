package actors

import "sync/atomic"

// State is where a shard is, as this node sees it.
type State uint8

// The states of a shard.
const (
	StateUnassigned State = iota
	StateOpening
	StateRunning
	StateClosing
	StateRemote // another node owns it
)

// String is the state in lower case.
func (s State) String() string {
	return [...]string{"unassigned", "opening", "running", "closing", "remote"}[s]
}

// Assignment is what a node knows of one shard.
type Assignment struct {
	Shard      int
	State      State
	Owner      string // the owning node's name; empty if unassigned
	Generation uint64 // of the lease; 0 without leases

	// Err is why the shard is not open here, after an open that failed or a shard
	// that went down.
	Err error
}

// table is where requests find the shards that are open here. The host writes
// it, everybody reads it without a lock.
type table []atomic.Pointer[entry]

type entry struct {
	state State
	shard *Shard // nil unless it is running
	err   error  // why the last open failed, or the shard went down
}

// serves says whether requests may begin on the shard.
func (e *entry) serves() bool { return e.state == StateRunning && e.shard.gate.open() }

func newTable(shards int) table {
	t := make(table, shards)
	t.clear()
	return t
}

func (t table) clear() {
	for n := range t {
		t[n].Store(&entry{})
	}
}

func (t table) set(n int, s State, shard *Shard) {
	e := &entry{state: s, shard: shard}
	if s == StateOpening {
		e.err = t[n].Load().err
	}
	t[n].Store(e)
}

// fail keeps why the shard is not open; it is forgotten once it runs or is stopped.
func (t table) fail(n int, err error) { t[n].Store(&entry{err: err}) }

func (t table) get(n int) *entry { return t[n].Load() }
