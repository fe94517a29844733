package actors

import "sync/atomic"

// Status is what a shard's children can know of its end.
type Status uint32

// A shard is running from its creation, before its database is open. Stopping is
// a planned end; fenced means that another writer has opened the database.
const (
	Running Status = iota
	Stopping
	Fenced
)

// String is the status in lower case.
func (s Status) String() string { return [...]string{"running", "stopping", "fenced"}[s] }

// status is one atomic cell: running → stopping → fenced, never back.
type status struct{ v atomic.Uint32 }

func (s *status) get() Status { return Status(s.v.Load()) }

// stopping marks a running shard. A fenced one stays fenced.
func (s *status) stopping() { s.v.CompareAndSwap(uint32(Running), uint32(Stopping)) }

// fenced marks the shard, also over stopping. False: it was marked before.
func (s *status) fenced() bool { return Status(s.v.Swap(uint32(Fenced))) != Fenced }
