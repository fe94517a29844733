package slap

import (
	"context"
	"fmt"

	"github.com/slap-go/slap/store"
)

// check is the first step in a store: is it this cluster's, and is it fit? Both
// together have [store.ProbeTimeout].
func check(ctx context.Context, b store.Bucket, c *Config) error {
	ctx, cancel := context.WithTimeout(ctx, store.ProbeTimeout)
	defer cancel()
	id, err := store.Identify(ctx, b, store.IdentityConfig{Path: c.Path, Cluster: c.Cluster, Shards: c.Shards})
	if err != nil {
		return fmt.Errorf("slap: %w", err)
	}
	c.Cluster = id.Cluster
	if c.Probe == ProbeOff {
		return nil
	}
	if err := store.Probe(ctx, b, store.ProbeConfig{Path: c.Path, Node: c.Name}).Err(); err != nil {
		c.Logger.Error("probe failed", "cluster", c.Cluster, "store", c.Store.String(), "error", err)
		return fmt.Errorf("slap: %w", err)
	}
	c.Logger.Debug("probe passed", "cluster", c.Cluster, "store", c.Store.String())
	return nil
}
