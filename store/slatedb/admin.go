package slatedb

import (
	"context"
	"time"
)

// An Admin looks at a database from outside, without opening it, and manages its
// checkpoints. It must be closed, and is safe for concurrent use.
type Admin struct{ handle *handle }

// OpenAdmin makes an Admin for the database at a path. It sends no request.
func OpenAdmin(s *ObjectStore, path string) (*Admin, error) {
	builder, err := s.newBuilder(adminBuilderNew, path)
	if err != nil {
		return nil, err
	}
	defer builder.close(closed(ReasonClean, "it is used up"))
	id, err := call(adminBuilderBuild, builder.id, 0, 0, nil, nil)
	if err != nil {
		return nil, err
	}
	return &Admin{newHandle(s, objectAdmin, id)}, nil
}

// Close gives the Admin up. It may be called more than once.
func (a *Admin) Close() { a.handle.close(closed(ReasonClean, "the admin was closed")) }

// Manifest reads the manifest with that id, or the latest one for 0. It is nil if
// there is none.
func (a *Admin) Manifest(ctx context.Context, id uint64) (*Manifest, error) {
	return await(ctx, (*op).manifest, func(c *op) bool { return a.manifest(c, id) })
}

// ManifestAsync is [Admin.Manifest] without waiting; see the package for done.
func (a *Admin) ManifestAsync(id uint64, done func(*Manifest, error)) {
	launch((*op).manifest, done, func(c *op) bool { return a.manifest(c, id) })
}

func (a *Admin) manifest(c *op, id uint64) bool {
	return a.handle.start(c, adminManifest, optionalNumber(id), nil, nil)
}

// Manifests reads the manifests that are still there, from one id up to another,
// without that; 0 is open.
func (a *Admin) Manifests(ctx context.Context, from, to uint64) ([]Manifest, error) {
	return await(ctx, (*op).manifests, func(c *op) bool { return a.list(c, from, to) })
}

// ManifestsAsync is [Admin.Manifests] without waiting; see the package for done.
func (a *Admin) ManifestsAsync(from, to uint64, done func([]Manifest, error)) {
	launch((*op).manifests, done, func(c *op) bool { return a.list(c, from, to) })
}

func (a *Admin) list(c *op, from, to uint64) bool {
	return a.handle.start(c, adminManifests, optionalNumber(from), optionalNumber(to), nil)
}

// A Checkpoint keeps a state of a database for readers: nothing that it refers
// to is collected while it lives.
type Checkpoint struct {
	ID         string // for ReaderOptions.Checkpoint
	Name       string
	ManifestID uint64    // the state
	CreatedAt  time.Time // in seconds
	ExpiresAt  time.Time // in seconds; zero: never
}

// CheckpointOptions says how to make a checkpoint. Nil stands for the zero value.
type CheckpointOptions struct {
	// Name is for people and for [Admin.Checkpoints]; it need not be unique.
	Name string
	// Lifetime ends the checkpoint. Default: never.
	Lifetime time.Duration
	// Source is the id of a checkpoint to copy, instead of the present state.
	Source string
}

func (o *CheckpointOptions) encode() []byte {
	if o == nil {
		o = &CheckpointOptions{}
	}
	b := optionalNumber(lifetimeMillis(o.Lifetime))
	b = appendOptionalText(b, o.Source)
	return appendOptionalText(b, o.Name)
}

// lifetimeMillis is 0 for ever.
func lifetimeMillis(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return uint64(max(d.Milliseconds(), 1))
}

// CreateCheckpoint keeps the durable state of the database, and returns the new
// checkpoint's id and its manifest.
func (a *Admin) CreateCheckpoint(ctx context.Context, o *CheckpointOptions) (id string, manifest uint64, err error) {
	c, err := await(ctx, (*op).newCheckpoint, func(c *op) bool { return a.createCheckpoint(c, o) })
	return c.ID, c.ManifestID, err
}

// CreateCheckpointAsync is [Admin.CreateCheckpoint] without waiting; see the
// package for done.
func (a *Admin) CreateCheckpointAsync(o *CheckpointOptions, done func(id string, manifest uint64, err error)) {
	launch((*op).newCheckpoint, func(c Checkpoint, err error) { done(c.ID, c.ManifestID, err) },
		func(c *op) bool { return a.createCheckpoint(c, o) })
}

func (a *Admin) createCheckpoint(c *op, o *CheckpointOptions) bool {
	return a.handle.start(c, adminCreateCheckpoint, o.encode(), nil, nil)
}

// Checkpoints lists the checkpoints with that name, or all of them for "".
func (a *Admin) Checkpoints(ctx context.Context, name string) ([]Checkpoint, error) {
	return await(ctx, (*op).checkpoints, func(c *op) bool { return a.checkpoints(c, name) })
}

// CheckpointsAsync is [Admin.Checkpoints] without waiting; see the package for done.
func (a *Admin) CheckpointsAsync(name string, done func([]Checkpoint, error)) {
	launch((*op).checkpoints, done, func(c *op) bool { return a.checkpoints(c, name) })
}

func (a *Admin) checkpoints(c *op, name string) bool {
	return a.handle.start(c, adminCheckpoints, appendOptionalText(nil, name), nil, nil)
}

// RefreshCheckpoint lets a checkpoint live that long from now; 0 is for ever.
func (a *Admin) RefreshCheckpoint(ctx context.Context, id string, lifetime time.Duration) error {
	_, err := await(ctx, (*op).nothing, func(c *op) bool { return a.refreshCheckpoint(c, id, lifetime) })
	return err
}

// RefreshCheckpointAsync is [Admin.RefreshCheckpoint] without waiting; see the
// package for done.
func (a *Admin) RefreshCheckpointAsync(id string, lifetime time.Duration, done func(error)) {
	launch((*op).nothing, onlyError(done), func(c *op) bool { return a.refreshCheckpoint(c, id, lifetime) })
}

func (a *Admin) refreshCheckpoint(c *op, id string, lifetime time.Duration) bool {
	return a.handle.start(c, adminRefreshCheckpoint, []byte(id), optionalNumber(lifetimeMillis(lifetime)), nil)
}

// DeleteCheckpoint ends a checkpoint.
func (a *Admin) DeleteCheckpoint(ctx context.Context, id string) error {
	_, err := await(ctx, (*op).nothing, func(c *op) bool { return a.deleteCheckpoint(c, id) })
	return err
}

// DeleteCheckpointAsync is [Admin.DeleteCheckpoint] without waiting; see the
// package for done.
func (a *Admin) DeleteCheckpointAsync(id string, done func(error)) {
	launch((*op).nothing, onlyError(done), func(c *op) bool { return a.deleteCheckpoint(c, id) })
}

func (a *Admin) deleteCheckpoint(c *op, id string) bool {
	return a.handle.start(c, adminDeleteCheckpoint, []byte(id), nil, nil)
}
