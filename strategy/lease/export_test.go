package lease

import (
	"time"

	"github.com/slap-go/slap/strategy"
)

// SetWall gives the strategy another wall clock.
func (s *Strategy) SetWall(wall func() time.Time) { s.wall = wall }

// SetBackoff gives the strategy another pause after the first failure of a shard.
func (s *Strategy) SetBackoff(d time.Duration) { s.backoff = d }

// KillRunner makes the runner crash: it looks into an answer that is none.
func (s *Strategy) KillRunner() { s.runner.Send((*strategy.Started)(nil)) }
