package lease

import (
	"errors"
	"fmt"
	"time"
)

// Options of the lease loop. Zero fields take their defaults; negative ones are errors.
type Options struct {
	// TTL is how long a lease lasts that is not renewed: about the time after which the
	// shards of a node that died are served again. Each node may have its own. Default: 15 s.
	TTL time.Duration `koanf:"lease_ttl"`

	// Interval is the time between two rounds, in which leases are renewed, at least 1 ms.
	// Default: TTL/3.
	Interval time.Duration `koanf:"interval"`

	// Margin is how long before the end of a lease this node stops to serve the shard. It
	// has to cover how differently fast the nodes' clocks run: at least TTL/20. Together
	// with Interval it is below TTL. Default: TTL/6.
	Margin time.Duration `koanf:"margin"`

	// MaxConcurrency is how many shards are opened or closed at a time. Default: 16.
	MaxConcurrency int `koanf:"max_concurrency"`

	// MaxClockSkew, above 0, is by how much the nodes' wall clocks may differ at most. A
	// lease that is over by that measure is then taken without having been watched for its
	// TTL. It is below TTL. Default: 0, wall clocks are not compared.
	MaxClockSkew time.Duration `koanf:"max_clock_skew,zero"`
}

// The limits of [Options.TTL].
const (
	ShortestTTL = 10 * time.Millisecond
	LongestTTL  = 24 * time.Hour
)

// Other limits, and defaults.
const (
	defaultTTL            = 15 * time.Second
	defaultMaxConcurrency = 16
	shortestInterval      = time.Millisecond
	shortestRequest       = 100 * time.Millisecond
)

func (o Options) withDefaults() (Options, error) {
	for name, d := range map[string]time.Duration{
		"TTL": o.TTL, "Interval": o.Interval, "Margin": o.Margin, "MaxClockSkew": o.MaxClockSkew,
	} {
		if d < 0 {
			return o, fmt.Errorf("%s must not be negative, it is %v", name, d)
		}
	}
	if o.TTL == 0 {
		o.TTL = defaultTTL
	}
	if o.Interval == 0 {
		o.Interval = o.TTL / 3
	}
	if o.Margin == 0 {
		o.Margin = o.TTL / 6
	}
	if o.MaxConcurrency == 0 {
		o.MaxConcurrency = defaultMaxConcurrency
	}
	return o, o.check()
}

func (o Options) check() error {
	switch {
	case o.TTL < ShortestTTL || o.TTL > LongestTTL:
		return fmt.Errorf("TTL must be from %v to %v, it is %v", ShortestTTL, LongestTTL, o.TTL)
	case o.Interval < shortestInterval:
		return fmt.Errorf("Interval must be at least %v, it is %v", shortestInterval, o.Interval)
	case o.Interval+o.Margin >= o.TTL:
		return fmt.Errorf("Interval (%v) and Margin (%v) together must be below TTL (%v): lower one, or raise TTL", o.Interval, o.Margin, o.TTL)
	case o.Margin < o.TTL/20:
		return fmt.Errorf("Margin (%v) must be at least a twentieth of TTL (%v)", o.Margin, o.TTL)
	case o.MaxClockSkew >= o.TTL:
		return fmt.Errorf("MaxClockSkew (%v) must be below TTL (%v)", o.MaxClockSkew, o.TTL)
	case o.MaxConcurrency < 0:
		return errors.New("MaxConcurrency must not be negative")
	}
	return nil
}

// lasts is how long after the sending of a write the lease may be relied on.
func (o Options) lasts() time.Duration { return o.TTL - o.Margin }

// patience is how long a request of a round may take.
func (o Options) patience() time.Duration { return max(o.Interval/2, shortestRequest) }
