package slap

import (
	"context"
	"errors"
	"fmt"

	"github.com/slap-go/slap/actors"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
)

// checkStore opens the bucket, checks that it is the cluster's, and fit, and tells how
// that ended, unless ctx ended it.
func checkStore(ctx context.Context, c *Config, events *actors.Events) error {
	err := openAndCheck(ctx, c)
	if c.Probe != ProbeOff && (err == nil || ctx.Err() == nil) {
		events.Publish(messages.Probed{
			Origin: messages.Origin{Cluster: c.Cluster, Time: clock.Now()}, Store: c.Store.String(), Err: err,
		})
	}
	if err != nil {
		return fmt.Errorf("slap: %w", err)
	}
	return nil
}

func openAndCheck(ctx context.Context, c *Config) error {
	bucket, err := c.Store.Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(check(ctx, bucket, c), bucket.Close())
}

// check is the first step in a store: is it this cluster's, and is it fit? Both
// together have [store.ProbeTimeout].
func check(ctx context.Context, b store.Bucket, c *Config) error {
	ctx, cancel := context.WithTimeout(ctx, store.ProbeTimeout)
	defer cancel()
	id, err := store.Identify(ctx, b, store.IdentityConfig{Path: c.Path, Cluster: c.Cluster, Shards: c.Shards})
	if err != nil {
		return err
	}
	c.Cluster, c.clusterID = id.Cluster, id.ID
	if c.Probe == ProbeOff {
		return nil
	}
	return store.Probe(ctx, b, store.ProbeConfig{Path: c.Path, Node: c.Name}).Err()
}
