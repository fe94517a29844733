package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
)

// layout is the version of how a cluster uses its path. A store with a higher one
// was written by a newer version of this software.
const layout = 1

// ErrIdentity says that the store belongs to another cluster, or that its record
// of the cluster is corrupt or from a newer version. Trying again does not help.
var ErrIdentity = errors.New("cluster identity")

// Identity is what a store records about the cluster that lives in it.
type Identity struct {
	Layout  int    `json:"layout"`
	Cluster string `json:"cluster"` // its name; may be empty
	ID      string `json:"id"`      // random; made by the cluster's first start
	Shards  int    `json:"shards"`
}

// IdentityConfig says which cluster is expected.
type IdentityConfig struct {
	Path    string    // where the cluster lives in the store; may be empty
	Cluster string    // its name; empty takes any
	Shards  int       // how many shards it has; required
	Random  io.Reader // makes the id; default: crypto/rand.Reader
}

// identifyTries bounds a race with other first starts. Each try but the last
// means that another node wrote meanwhile, and a node writes at most twice.
const identifyTries = 16

// Identify reads the record of the cluster, which the first start writes. It
// fails with [ErrIdentity] if the record does not fit; any other error is the
// store's. An empty recorded name is replaced by the given one. A write whose
// reply was lost is read back.
func Identify(ctx context.Context, b Bucket, c IdentityConfig) (Identity, error) {
	key := JoinKey(c.Path, "_cluster/cluster")
	fresh, err := freshIdentity(c)
	if err != nil {
		return Identity{}, err
	}
	for range identifyTries {
		id, settled, err := identify(ctx, b, key, fresh)
		if settled || err != nil {
			return id, err
		}
	}
	return Identity{}, fmt.Errorf("the store contradicts itself about object %q: it refused %d writes in a row", key, identifyTries)
}

func freshIdentity(c IdentityConfig) (Identity, error) {
	if c.Shards < 1 {
		return Identity{}, fmt.Errorf("shards is %d: a cluster has at least one", c.Shards)
	}
	id := make([]byte, 16)
	if err := readRandom(c.Random, id); err != nil {
		return Identity{}, err
	}
	return Identity{Layout: layout, Cluster: c.Cluster, ID: hex.EncodeToString(id), Shards: c.Shards}, nil
}

// identify is one try. It is not settled if it wrote, or lost a race: then the
// record is there to be read.
func identify(ctx context.Context, b Bucket, key string, fresh Identity) (id Identity, settled bool, err error) {
	o, err := b.Get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return Identity{}, false, writeIdentity(ctx, b, key, nil, fresh, IfAbsent())
	}
	if err != nil {
		return Identity{}, false, fmt.Errorf("read the cluster's identity: %w", err)
	}
	recorded, fields, err := parseIdentity(key, o.Data)
	if err == nil {
		err = recorded.check(key, fresh)
	}
	if err != nil {
		return Identity{}, false, err
	}
	if recorded.Cluster == "" && fresh.Cluster != "" {
		recorded.Cluster = fresh.Cluster
		return Identity{}, false, writeIdentity(ctx, b, key, fields, recorded, IfMatch(o.Version))
	}
	return recorded, true, nil
}

// writeIdentity writes the record and keeps the fields that it does not know. A
// lost race or reply is no error: what counts is what can be read afterwards.
func writeIdentity(ctx context.Context, b Bucket, key string, fields map[string]json.RawMessage, id Identity, c Condition) error {
	data, err := id.encode(fields)
	if err != nil {
		return err
	}
	_, err = b.Put(ctx, key, data, c)
	if err == nil || errors.Is(err, ErrConflict) || errors.Is(err, ErrUnknownOutcome) {
		return nil
	}
	return fmt.Errorf("write the cluster's identity: %w", err)
}

func (id Identity) encode(fields map[string]json.RawMessage) ([]byte, error) {
	known, err := json.Marshal(id)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(fields)
	if err := json.Unmarshal(known, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

func parseIdentity(key string, data []byte) (Identity, map[string]json.RawMessage, error) {
	var id Identity
	var fields map[string]json.RawMessage
	err := json.Unmarshal(data, &fields)
	if err == nil {
		err = json.Unmarshal(fields["layout"], &id.Layout)
	}
	if err == nil && id.Layout > layout {
		return id, nil, fmt.Errorf("%w: object %q has layout %d, but this version reads up to %d: use a newer version",
			ErrIdentity, key, id.Layout, layout)
	}
	if err == nil {
		err = json.Unmarshal(data, &id)
	}
	if err == nil && (id.Layout < 1 || id.ID == "" || id.Shards < 1) {
		err = errors.New("layout, id or shards is missing")
	}
	if err != nil {
		return id, nil, fmt.Errorf("%w: object %q is corrupt (%w): restore it, or delete it if no cluster uses the store", ErrIdentity, key, err)
	}
	return id, fields, nil
}

func (id Identity) check(key string, want Identity) error {
	switch {
	case id.Cluster != "" && want.Cluster != "" && id.Cluster != want.Cluster:
		return fmt.Errorf("%w: the store belongs to cluster %q, not to %q (object %q): use another path or name",
			ErrIdentity, id.Cluster, want.Cluster, key)
	case id.Shards != want.Shards:
		return fmt.Errorf("%w: the store's cluster has %d shards, not %d (object %q): set Shards to %d, it never changes",
			ErrIdentity, id.Shards, want.Shards, key, id.Shards)
	}
	return nil
}
