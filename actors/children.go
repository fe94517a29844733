package actors

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/supervision"
)

// closeSlack is the time above CloseTimeout after which a database that does not
// stop is given up by its supervisor.
const closeSlack = 5 * time.Second

// spec is the shard's subtree. Its children's supervisor is filled once the
// database is open, since the application's children are made for an open one.
func (s *Shard) spec() supervision.ChildSpec {
	s.children.Events = s.childEvent
	return supervision.ChildSpec{
		Name:    s.name(),
		Restart: supervision.Temporary,
		Supervisor: &supervision.Spec{
			Strategy:  supervision.OneForAll,
			Intensity: supervision.NoRestarts,
			Events:    s.event,
			Children: []supervision.ChildSpec{
				{Name: "notifier", New: func() actor.Actor { return &notifier{shard: s} }},
				{
					Name: "database", Ready: supervision.Manual,
					Shutdown: s.config.CloseTimeout + closeSlack,
					New:      func() actor.Actor { return &database{shard: s} },
				},
				{Name: childrenName, Supervisor: &s.children},
			},
		},
	}
}

// fill asks the application for the shard's children.
func (s *Shard) fill() (err error) {
	if s.config.ShardChildren == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("shard %d: ShardChildren panicked: %v", s.number, p)
		}
	}()
	for _, child := range s.config.ShardChildren(s) {
		if child, err = s.adopt(child); err != nil {
			return fmt.Errorf("ShardChildren: %w", err)
		}
		s.children.Children = append(s.children.Children, child)
	}
	if err := s.children.Validate(); err != nil { // together
		return fmt.Errorf("shard %d: ShardChildren: %w", s.number, err)
	}
	return nil
}
