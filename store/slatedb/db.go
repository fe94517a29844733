package slatedb

import (
	"context"
	"encoding/binary"
)

// A DB is an open database. It is safe for concurrent use; a use after the close
// is an [ErrClosed].
//
// Keys and values that are passed in are copied before a call returns, those
// that come back are the caller's.
type DB struct {
	reads
	writer writer
	ending ending
}

var dbReads = readMethods{dbGet, dbGetWith, dbGetRow, dbScan, dbScanPrefix}

// Status is the state of a database or a reader.
type Status struct {
	// DurableSeq: every write with this sequence number or a lower one is durable.
	// After the end of a database, whatever ended it, exactly these are.
	DurableSeq uint64
	// CloseReason is [ReasonNone] as long as the database works.
	CloseReason CloseReason
}

func newDB(h *handle) *DB {
	return &DB{reads: reads{h, &dbReads}, writer: writer{handle: h}, ending: ending{handle: h, status: dbStatus}}
}

// Status reads the state. It costs no allocation and waits for nothing. After
// the close it is the last state, for ever.
func (d *DB) Status() Status { return d.ending.state() }

// Put sets a key's value and returns the write's sequence number once the write
// is in memory: readable, not durable.
func (d *DB) Put(ctx context.Context, key, value []byte, o *WriteOptions) (seq uint64, err error) {
	return await(ctx, (*op).sequence, func(c *op) bool { return d.put(c, key, value, o) })
}

// PutAsync is [DB.Put] without waiting; see the package for done.
func (d *DB) PutAsync(key, value []byte, o *WriteOptions, done func(seq uint64, err error)) {
	launch((*op).sequence, done, func(c *op) bool { return d.put(c, key, value, o) })
}

func (d *DB) put(c *op, key, value []byte, o *WriteOptions) bool {
	return d.writer.begin(c, write{kind: batchPut, key: key, value: value, ttl: o.ttl()})
}

// Merge adds an operand to a key's value, which the database's merge operator
// combines when it is read. It returns as [DB.Put] does.
func (d *DB) Merge(ctx context.Context, key, operand []byte, o *WriteOptions) (seq uint64, err error) {
	return await(ctx, (*op).sequence, func(c *op) bool { return d.merge(c, key, operand, o) })
}

// MergeAsync is [DB.Merge] without waiting; see the package for done.
func (d *DB) MergeAsync(key, operand []byte, o *WriteOptions, done func(seq uint64, err error)) {
	launch((*op).sequence, done, func(c *op) bool { return d.merge(c, key, operand, o) })
}

func (d *DB) merge(c *op, key, operand []byte, o *WriteOptions) bool {
	return d.writer.begin(c, write{kind: batchMerge, key: key, value: operand, ttl: o.ttl()})
}

// Delete removes a key, which need not exist. It returns as [DB.Put] does.
func (d *DB) Delete(ctx context.Context, key []byte) (seq uint64, err error) {
	return await(ctx, (*op).sequence, func(c *op) bool { return d.remove(c, key) })
}

// DeleteAsync is [DB.Delete] without waiting; see the package for done.
func (d *DB) DeleteAsync(key []byte, done func(seq uint64, err error)) {
	launch((*op).sequence, done, func(c *op) bool { return d.remove(c, key) })
}

func (d *DB) remove(c *op, key []byte) bool {
	return d.writer.begin(c, write{kind: batchDelete, key: key})
}

// Write applies a batch, all of it or nothing, under one sequence number. It
// returns as [DB.Put] does. An empty batch is an [ErrInvalid].
func (d *DB) Write(ctx context.Context, b *Batch) (seq uint64, err error) {
	return await(ctx, (*op).sequence, func(c *op) bool { return d.apply(c, b) })
}

// WriteAsync is [DB.Write] without waiting; see the package for done. The batch
// may be used again at once.
func (d *DB) WriteAsync(b *Batch, done func(seq uint64, err error)) {
	launch((*op).sequence, done, func(c *op) bool { return d.apply(c, b) })
}

func (d *DB) apply(c *op, b *Batch) bool { return d.writer.begin(c, write{batch: b}) }

// Flush returns once every write before it is durable. While the object store is
// away it waits until that is back, or the context ends.
func (d *DB) Flush(ctx context.Context, kind FlushKind) error {
	_, err := await(ctx, (*op).nothing, func(c *op) bool { return d.flush(c, kind) })
	return err
}

// FlushAsync is [DB.Flush] without waiting; see the package for done.
func (d *DB) FlushAsync(kind FlushKind, done func(error)) {
	launch((*op).nothing, onlyError(done), func(c *op) bool { return d.flush(c, kind) })
}

func (d *DB) flush(c *op, kind FlushKind) bool {
	var memory [4]byte
	binary.BigEndian.PutUint32(memory[:], kind.encode())
	return d.handle.start(c, dbFlush, memory[:], nil, nil)
}

// Close makes every write durable and closes the database. It returns nil only
// if that is true of every write that was acknowledged before: closing a database
// that was fenced or has died gives [ErrClosed] with the reason. A write that runs
// at the same time may be acknowledged and lost, although the close is clean.
// Afterwards [DB.Status] tells exactly what is durable.
//
// While the object store is away it waits until that is back. When the context
// ends first, the close goes on, and another Close waits for the same one.
func (d *DB) Close(ctx context.Context, o *CloseOptions) error {
	return d.ending.await(ctx, !o.skipFlush(), func(c *op) bool { return d.shutdown(c, o) })
}

// CloseAsync is [DB.Close] without waiting; see the package for done.
func (d *DB) CloseAsync(o *CloseOptions, done func(error)) {
	d.ending.launch(!o.skipFlush(), func(c *op) bool { return d.shutdown(c, o) }, done)
}

func (d *DB) shutdown(c *op, o *CloseOptions) bool {
	return d.handle.start(c, dbShutdown, o.encode(), nil, nil)
}
