package slatedb

import "context"

// A Snapshot reads a database as it was at one moment. It must be closed, and is
// safe for concurrent use.
type Snapshot struct{ reads }

var snapshotReads = readMethods{snapshotGet, snapshotGetWith, snapshotGetRow, snapshotScan, snapshotScanPrefix}

// Snapshot keeps the present state of the database for reading.
func (d *DB) Snapshot(ctx context.Context) (*Snapshot, error) {
	return await(ctx, (*op).snapshot, d.snapshot)
}

// SnapshotAsync is [DB.Snapshot] without waiting; see the package for done.
func (d *DB) SnapshotAsync(done func(*Snapshot, error)) {
	launch((*op).snapshot, done, d.snapshot)
}

func (d *DB) snapshot(c *op) bool { return d.handle.start(c, dbSnapshot, nil, nil, nil) }

func (o *op) snapshot() (*Snapshot, error) {
	h, err := o.handle()
	if err != nil {
		return nil, err
	}
	return &Snapshot{reads{h, &snapshotReads}}, nil
}

// Close gives the snapshot up. It may be called more than once.
func (s *Snapshot) Close() { s.handle.close(closed(ReasonClean, "the snapshot was closed")) }
