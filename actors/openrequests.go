package actors

import (
	"sync"
	"sync/atomic"
)

const (
	slotBits  = 13
	slotTries = 4 // numbers that are tried before a request goes into the crowd
)

// openRequests finds the requests of a node that are not over by their numbers, nearly
// always without a lock. Each number has a slot, which it shares with many.
type openRequests struct {
	slots [1 << slotBits]atomic.Pointer[request]

	crowded atomic.Int32 // how many are in the crowd
	mu      sync.Mutex
	crowd   map[uint32]*request // those that found their slots taken
}

// slot is scattered, so that requests that begin one after the other share no cache line.
func (o *openRequests) slot(id uint32) *atomic.Pointer[request] {
	return &o.slots[id*2_654_435_769>>(32-slotBits)] // by the golden ratio
}

// add enters the request under its number, unless that is taken or, in the first tries,
// its slot is.
func (o *openRequests) add(r *request, tries int) bool {
	if o.find(r.id) != nil {
		return false
	}
	if o.slot(r.id).CompareAndSwap(nil, r) {
		return true
	}
	if tries < slotTries {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.crowd == nil {
		o.crowd = map[uint32]*request{}
	}
	o.crowd[r.id] = r
	o.crowded.Add(1)
	return true
}

// find is the request with the number; nil if there is none.
func (o *openRequests) find(id uint32) *request {
	if r := o.slot(id).Load(); r != nil && r.id == id {
		return r
	}
	if o.crowded.Load() == 0 {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.crowd[id]
}

func (o *openRequests) remove(r *request) {
	if o.slot(r.id).CompareAndSwap(r, nil) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.crowd[r.id] == r {
		delete(o.crowd, r.id)
		o.crowded.Add(-1)
	}
}

// count is how many there are.
func (o *openRequests) count() int {
	n := int(o.crowded.Load())
	for i := range o.slots {
		if o.slots[i].Load() != nil {
			n++
		}
	}
	return n
}
