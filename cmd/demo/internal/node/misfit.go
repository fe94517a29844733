package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

// misfit names the flag that does not fit the cluster on the path, and the value
// that does, or that is another node's. Any other error stays as it is.
func misfit(ctx context.Context, c slap.Config, err error) error {
	if errors.Is(err, slap.ErrNameInUse) {
		return fmt.Errorf("--name %s: %w: choose another name, or stop that node first", c.Name, slap.ErrNameInUse)
	}
	if !errors.Is(err, store.ErrIdentity) {
		return err
	}
	recorded, unread := readIdentity(ctx, c)
	switch {
	case unread != nil:
		return err
	case recorded.Cluster != "" && recorded.Cluster != c.Cluster:
		return fmt.Errorf("--cluster %s: the store belongs to cluster %s: start with --cluster %s, or use another path",
			c.Cluster, recorded.Cluster, recorded.Cluster)
	case recorded.Shards != c.Shards:
		return fmt.Errorf("--shards %d: the store's cluster has %d shards for good: start with --shards %d, or use another path",
			c.Shards, recorded.Shards, recorded.Shards)
	}
	return err
}

func readIdentity(ctx context.Context, c slap.Config) (store.Identity, error) {
	var id store.Identity
	bounded, cancel := context.WithTimeout(ctx, store.OpenTimeout)
	defer cancel()
	bucket, err := c.Store.Open(bounded)
	if err != nil {
		return id, err
	}
	defer func() { _ = bucket.Close() }()
	record, err := bucket.Get(bounded, store.JoinKey(c.Path, "_cluster/cluster"))
	if err != nil {
		return id, err
	}
	return id, json.Unmarshal(record.Data, &id)
}
