package slatedb

import (
	"context"
	"encoding/binary"
	"time"
)

// A Reader reads a database that another process, or this one, writes. It fences
// nobody and sees what is durable, a little later. It is safe for concurrent use.
type Reader struct {
	reads
	ending ending
}

var readerReads = readMethods{readerGet, readerGetWith, readerGetRow, readerScan, readerScanPrefix}

// ReaderOptions says how to open a reader. Nil stands for the zero value.
type ReaderOptions struct {
	// Checkpoint pins the reader to a checkpoint, by its id.
	Checkpoint string
	// NoCheckpoint follows the latest state without making checkpoints: the
	// reader writes nothing, but what it reads may be collected under it.
	NoCheckpoint bool

	// PollInterval is how often to look for a new state. Default: 10 s.
	PollInterval time.Duration
	// CheckpointLifetime is how long the reader's own checkpoints live unless
	// renewed, at least twice PollInterval. Default: 10 min.
	CheckpointLifetime time.Duration
	// MemtableBytes bounds the memory for what is only in the log. Default: 64 MiB.
	MemtableBytes uint64
	// SkipLog reads sorted tables only.
	SkipLog bool

	// Cache, CacheID, NoCache, MergeOperator and Metrics are as in [Options].
	Cache         *Cache
	CacheID       uint64
	NoCache       bool
	MergeOperator MergeOperator
	Metrics       *Metrics
}

// OpenReader opens a database for reading. The database must exist.
func OpenReader(ctx context.Context, s *ObjectStore, path string, o *ReaderOptions) (*Reader, error) {
	return await(ctx, (*op).reader, func(c *op) bool { return s.openReader(c, path, o) })
}

// OpenReaderAsync is [OpenReader] without waiting; see the package for done.
func OpenReaderAsync(s *ObjectStore, path string, o *ReaderOptions, done func(*Reader, error)) {
	launch((*op).reader, done, func(c *op) bool { return s.openReader(c, path, o) })
}

func (o *op) reader() (*Reader, error) {
	h, err := o.handle()
	if err != nil {
		return nil, err
	}
	return &Reader{reads: reads{h, &readerReads}, ending: ending{handle: h, status: readerStatus}}, nil
}

func (s *ObjectStore) openReader(c *op, path string, o *ReaderOptions) bool {
	if o == nil {
		o = &ReaderOptions{}
	}
	builder, err := s.newBuilder(readerBuilderNew, path)
	if err != nil {
		return c.fail(s, err)
	}
	defer builder.close(closed(ReasonClean, "it is used up"))
	if err := o.apply(builder.id); err != nil {
		return c.fail(s, err)
	}
	return builder.start(c, readerBuilderBuild, nil, nil, nil)
}

func (o *ReaderOptions) apply(builder uint64) error {
	if o.Checkpoint != "" && o.NoCheckpoint {
		return invalid("ReaderOptions has both a Checkpoint and NoCheckpoint: set one of them")
	}
	if _, err := call(readerBuilderOptions, builder, 0, 0, o.encode(), nil); err != nil {
		return err
	}
	if _, err := call(readerBuilderMode, builder, 0, 0, o.encodeMode(), nil); err != nil {
		return err
	}
	if err := applyMergeOperator(readerBuilderMerge, builder, o.MergeOperator); err != nil {
		return err
	}
	if err := applyMetrics(readerBuilderMetrics, builder, o.Metrics); err != nil {
		return err
	}
	return applyCache(readerBuilderCache, readerBuilderNoCache, builder, o.Cache, o.CacheID, o.NoCache)
}

// The engine's own defaults.
const (
	defaultPollInterval       = 10 * time.Second
	defaultCheckpointLifetime = 10 * time.Minute
	defaultMemtableBytes      = 64 << 20
)

func (o *ReaderOptions) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, milliseconds(o.PollInterval, defaultPollInterval))
	b = binary.BigEndian.AppendUint64(b, milliseconds(o.CheckpointLifetime, defaultCheckpointLifetime))
	bytes := o.MemtableBytes
	if bytes == 0 {
		bytes = defaultMemtableBytes
	}
	b = binary.BigEndian.AppendUint64(b, bytes)
	b = appendFlag(b, o.SkipLog)
	return append(b, 0) // retries without end
}

func milliseconds(d, otherwise time.Duration) uint64 {
	if d <= 0 {
		d = otherwise
	}
	return uint64(max(d.Milliseconds(), 1))
}

// The modes of a reader.
const (
	modeManagedCheckpoint uint32 = iota + 1
	modeCheckpoint
	modeFollowLatest
)

func (o *ReaderOptions) encodeMode() []byte {
	switch {
	case o.Checkpoint != "":
		return appendBytes(binary.BigEndian.AppendUint32(nil, modeCheckpoint), []byte(o.Checkpoint))
	case o.NoCheckpoint:
		return binary.BigEndian.AppendUint32(nil, modeFollowLatest)
	default:
		return binary.BigEndian.AppendUint32(nil, modeManagedCheckpoint)
	}
}

// Status reads the state. It costs no allocation and waits for nothing. After
// the close it is the last state, for ever.
func (r *Reader) Status() Status { return r.ending.state() }

// Close closes the reader. When the context ends first, the close goes on, and
// another Close waits for the same one.
func (r *Reader) Close(ctx context.Context) error { return r.ending.await(ctx, false, r.shutdown) }

// CloseAsync is [Reader.Close] without waiting; see the package for done.
func (r *Reader) CloseAsync(done func(error)) { r.ending.launch(false, r.shutdown, done) }

func (r *Reader) shutdown(c *op) bool { return r.handle.start(c, readerShutdown, nil, nil, nil) }
