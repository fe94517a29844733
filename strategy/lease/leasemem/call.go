package leasemem

import "github.com/slap-go/slap/strategy/lease"

// Op is a kind of call, or with | a set of them.
type Op uint16

// The kinds of calls, named after the methods of [lease.Store].
const (
	Setup Op = 1 << iota
	List
	ReadLease
	ReadHeartbeat
	WriteLease
	Renew // of one lease
	WriteHeartbeat
	RemoveHeartbeat

	Reads  = List | ReadLease | ReadHeartbeat
	Writes = WriteLease | Renew | WriteHeartbeat | RemoveHeartbeat
	Any    = Setup | Reads | Writes
)

// aboutLease are the calls that concern one shard.
const aboutLease = ReadLease | WriteLease | Renew

// aboutHeartbeat are the calls that concern one node's heartbeat.
const aboutHeartbeat = ReadHeartbeat | WriteHeartbeat | RemoveHeartbeat

// Call is one call of a node. A renewal of a list is one for each lease of it.
type Call struct {
	Op    Op
	By    string      // name of the node that calls
	Shard int         // whose lease it is about; for other calls 0
	Node  string      // whose heartbeat it is about; for other calls empty
	Lease lease.Lease // what is to be written
	Beat  lease.Beat  // what is to be written

	view *Node
}

// Reply is what a call returns: the field of its kind, or an error.
type Reply struct {
	Listing lease.Listing
	Lease   lease.Lease
	Beat    lease.Beat
	Version lease.Version
	Err     error
}

type counted struct {
	view *Node
	op   Op
}

// Watch lets f see each call as it comes, in the goroutine that makes it, before it meets
// a fault or is carried out. There is one watcher; nil is none.
func (s *Store) Watch(f func(Call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = f
}

// Count is how many calls of these kinds were made by all nodes, those that met a fault
// included.
func (s *Store) Count(ops Op) int { return s.count(nil, ops) }

// Count is how many calls of these kinds were made through this view.
func (n *Node) Count(ops Op) int { return n.store.count(n, ops) }

func (s *Store) count(view *Node, ops Op) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for c, n := range s.counts {
		if ops&c.op != 0 && (view == nil || view == c.view) {
			sum += n
		}
	}
	return sum
}

// ResetCounts starts counting anew, for all nodes.
func (s *Store) ResetCounts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.counts)
}

// arrive counts a call and finds the fault that it meets, if any.
func (s *Store) arrive(c Call) Fault {
	fault, watch := s.admit(c)
	if watch != nil {
		watch(c)
	}
	return fault
}

func (s *Store) admit(c Call) (Fault, func(Call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[counted{c.view, c.Op}]++
	return s.rules.Meet(c), s.watch
}
