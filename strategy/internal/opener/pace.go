package opener

import (
	"fmt"
	"time"
)

// Pace is how fast shards are opened, and opened again.
type Pace struct {
	BackoffBase, BackoffMax time.Duration
	MaxConcurrency          int
}

// The defaults of a pace, and its limit.
const (
	defaultBackoffBase    = time.Second
	defaultBackoffMax     = time.Minute
	defaultMaxConcurrency = 16
	longestBackoff        = 365 * 24 * time.Hour
)

// withDefaults is the pace with its zero fields replaced. Errors name the field.
func (p Pace) withDefaults() (Pace, error) {
	if p.BackoffBase == 0 {
		p.BackoffBase = defaultBackoffBase
	}
	if p.BackoffMax == 0 {
		p.BackoffMax = defaultBackoffMax
	}
	if p.MaxConcurrency == 0 {
		p.MaxConcurrency = defaultMaxConcurrency
	}
	return p, p.check()
}

func (p Pace) check() error {
	switch {
	case p.BackoffBase < 0:
		return fmt.Errorf("BackoffBase must not be negative, it is %v", p.BackoffBase)
	case p.BackoffMax < 0 || p.BackoffMax > longestBackoff:
		return fmt.Errorf("BackoffMax must be from 0 to %v, it is %v", longestBackoff, p.BackoffMax)
	case p.MaxConcurrency < 0:
		return fmt.Errorf("MaxConcurrency must not be negative, it is %d", p.MaxConcurrency)
	case p.BackoffBase > p.BackoffMax:
		return fmt.Errorf("BackoffBase (%v) must not be above BackoffMax (%v)", p.BackoffBase, p.BackoffMax)
	}
	return nil
}

// delay is the pause after this many failures in a row: the base doubled with each
// but the first, at most the maximum.
func (p Pace) delay(failures int) time.Duration {
	doubled := p.BackoffBase << min(failures-1, 32)
	if doubled>>min(failures-1, 32) != p.BackoffBase || doubled > p.BackoffMax {
		return p.BackoffMax
	}
	return doubled
}
