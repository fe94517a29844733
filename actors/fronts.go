package actors

import (
	"fmt"
	"slices"

	"github.com/slap-go/slap/messages"
)

// inbox is the front of the named child; nil if the shard has no such child.
func (s *Shard) inbox(name string) *inbox {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.inboxes[name]
}

// front is the inbox of a child, or the error of a request to no child.
func (s *Shard) front(child string) (*inbox, error) {
	if b := s.inbox(child); b != nil {
		return b, nil
	}
	return nil, messages.NotExecuted(s.number, child, messages.ErrNoChild, s.others())
}

// namesAtMost bounds what the error of a request to no child tells of the others: children
// that come and go may be many, and may be gone often.
const namesAtMost = 20

// others says which children take requests.
func (s *Shard) others() error {
	s.mu.RLock()
	count := len(s.inboxes)
	s.mu.RUnlock()
	if count > namesAtMost {
		return fmt.Errorf("it has %d others", count)
	}
	return fmt.Errorf("it has %q", s.childNames())
}

// childNames are the names of the children that take requests, in order.
func (s *Shard) childNames() []string {
	var names []string
	for _, b := range s.fronts() {
		names = append(names, b.name)
	}
	slices.Sort(names)
	return names
}

// fronts are the inboxes of all children.
func (s *Shard) fronts() []*inbox {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []*inbox
	for _, b := range s.inboxes {
		if b != nil {
			all = append(all, b)
		}
	}
	return all
}

// abandonRequests settles what is left in the inboxes once the children are gone.
func (s *Shard) abandonRequests() {
	for _, b := range s.fronts() {
		b.down(messages.ErrChildStopped)
	}
	s.handlers.end(s.lossKind())
}

// shut lets no request in any more and refuses those that wait.
func (s *Shard) shut() {
	s.gate.close()
	for _, b := range s.fronts() {
		b.close()
	}
}
