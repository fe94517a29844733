package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/slap-go/slap/store"
)

// misfit names the flag that does not fit the cluster on the path, and the value
// that does. Any other error stays as it is.
func misfit(ctx context.Context, o Options, err error) error {
	if !errors.Is(err, store.ErrIdentity) {
		return err
	}
	recorded, unread := readIdentity(ctx, o.Store)
	switch {
	case unread != nil:
		return err
	case recorded.Cluster != "" && recorded.Cluster != o.Cluster:
		return fmt.Errorf("--cluster %s: the store belongs to cluster %s: start with --cluster %s, or use another path",
			o.Cluster, recorded.Cluster, recorded.Cluster)
	case recorded.Shards != o.Shards:
		return fmt.Errorf("--shards %d: the store's cluster has %d shards for good: start with --shards %d, or use another path",
			o.Shards, recorded.Shards, recorded.Shards)
	}
	return err
}

func readIdentity(ctx context.Context, s store.Store) (store.Identity, error) {
	var id store.Identity
	bounded, cancel := context.WithTimeout(ctx, store.OpenTimeout)
	defer cancel()
	bucket, err := s.Open(bounded)
	if err != nil {
		return id, err
	}
	defer func() { _ = bucket.Close() }()
	record, err := bucket.Get(bounded, "_cluster/cluster")
	if err != nil {
		return id, err
	}
	return id, json.Unmarshal(record.Data, &id)
}
