package objectlease

import (
	"context"
	"fmt"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/lease"
)

// name of the strategy in errors.
const name = "object-lease"

// Options of the strategy. All nodes of a cluster have the same Store and Path, and no other
// cluster has both: that is recorded there, as in the cluster's own store. The tags are the
// keys of a configuration file.
//
// How long leases last is said in the embedded options of the loop:
//
//	objectlease.New(objectlease.Options{Options: lease.Options{TTL: 10 * time.Second}})
type Options struct {
	lease.Options

	// Store is where the leases are. Default: the cluster's.
	Store store.Store `koanf:"-"`

	// Path is put in front of every key of the leases: parts between single slashes.
	// Default: the cluster's.
	Path string `koanf:"path"`
}

// New makes the strategy; errors name the option. The store is opened, and checked for
// what leases need of it, when a node starts.
func New(o Options) (*lease.Strategy, error) {
	if err := store.CheckKey(placeIn(o.Path).check()); err != nil {
		return nil, fmt.Errorf("%s strategy: Path %q must be parts between single slashes: %w", name, o.Path, err)
	}
	return lease.New(name, o.Options, o.open)
}

func (o Options) open(ctx context.Context, r strategy.Runtime) (lease.Store, error) {
	apart := !o.Store.IsZero() || o.Path != ""
	if o.Store.IsZero() {
		o.Store = r.Store()
	}
	if o.Path == "" {
		o.Path = r.Path()
	}
	s, err := open(ctx, o.Store, o.Path)
	if err != nil {
		return nil, err
	}
	if apart {
		s.cluster = &store.IdentityConfig{Path: o.Path, Cluster: r.Origin().Cluster, Shards: r.Shards()}
	}
	return s, nil
}
