// Package local is the strategy of a node that is alone: it opens every shard
// here and reopens those that go down.
package local

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/opener"
	"github.com/slap-go/slap/supervision"
)

// Options of the strategy. The zero value is what most want. The tags are the keys of
// a configuration file.
type Options struct {
	// Shards is the list of shards to open; nobody owns the others. Default: all.
	Shards strategy.Shards `koanf:"shards"`

	// A shard that cannot open, or goes down, is opened again after BackoffBase,
	// doubling with each failure in a row to at most BackoffMax, plus up to a
	// quarter of it. A shard that was up for BackoffMax begins anew.
	// Defaults: 1 s and 60 s. BackoffBase must not be above BackoffMax, nor that above a year.
	BackoffBase time.Duration `koanf:"backoff_base"`
	BackoffMax  time.Duration `koanf:"backoff_max"`

	// MaxConcurrency is how many shards open at a time. Default: 16.
	MaxConcurrency int `koanf:"max_concurrency"`
}

// Local opens all shards on this node. A value serves one cluster at a time.
type Local struct {
	shards strategy.Shards
	listed map[int]bool // the same; nil for all
	opener *opener.Opener
}

// New makes the strategy; errors name the option.
func New(o Options) (*Local, error) {
	if o.Shards != nil && len(o.Shards) == 0 {
		return nil, errors.New("local strategy: Shards is empty: leave it out to open all")
	}
	opener, err := opener.New("local", opener.Pace{
		BackoffBase: o.BackoffBase, BackoffMax: o.BackoffMax, MaxConcurrency: o.MaxConcurrency,
	})
	if err != nil {
		return nil, err
	}
	l := &Local{shards: slices.Clone(o.Shards), opener: opener}
	if o.Shards != nil {
		l.listed = map[int]bool{}
		for _, n := range o.Shards {
			l.listed[n] = true
		}
	}
	return l, nil
}

// Validate checks the list of shards.
func (l *Local) Validate(c strategy.Cluster) error {
	seen := map[int]bool{}
	for _, n := range l.shards {
		switch {
		case n < 0 || n >= c.Shards:
			return fmt.Errorf("local strategy: Shards names shard %d, but the cluster has 0 to %d", n, c.Shards-1)
		case seen[n]:
			return fmt.Errorf("local strategy: Shards names shard %d twice", n)
		}
		seen[n] = true
	}
	return nil
}

// Child is the actor that opens the shards. It is ready once each was attempted, and
// fails to start while the value serves another cluster.
func (l *Local) Child(r strategy.Runtime) supervision.ChildSpec {
	shards := l.shards
	if shards == nil {
		shards = strategy.Range(0, r.Shards()-1)
	}
	return l.opener.Child(r, shards)
}

// Lookup says that the shard belongs here, or to nobody if it is not in the list.
func (l *Local) Lookup(shard int) strategy.Placement {
	return strategy.Placement{Here: l.listed == nil || l.listed[shard]}
}

// HandleShardDown lets the actor reopen the shard after a while, unless it was
// stopped by hand.
func (l *Local) HandleShardDown(shard int, reason strategy.DownReason) {
	l.opener.HandleShardDown(shard, reason)
}
