package lease

import "time"

// SetWall gives the strategy another wall clock.
func (s *Strategy) SetWall(wall func() time.Time) { s.wall = wall }
