package slatedb

import (
	"context"
	"encoding/binary"
)

// An Isolation says which conflicts a transaction notices: [SnapshotIsolation], the
// zero value, or [Serializable].
type Isolation uint8

const (
	// SnapshotIsolation notices two transactions that write the same key.
	SnapshotIsolation Isolation = iota
	// Serializable also notices a write to a key, or a range, that the
	// transaction has read.
	Serializable
)

// A Transaction reads a database as it was when it began, with its own writes on
// top, and writes all of them or nothing. It must be ended by
// [Transaction.Commit] or [Transaction.Rollback], and is not safe for concurrent
// use.
type Transaction struct {
	reads
	over bool
}

var transactionReads = readMethods{txGet, txGetWith, txGetRow, txScan, txScanPrefix}

// Begin begins a transaction.
func (d *DB) Begin(ctx context.Context, i Isolation) (*Transaction, error) {
	return await(ctx, (*op).transaction, func(c *op) bool { return d.begin(c, i) })
}

// BeginAsync is [DB.Begin] without waiting; see the package for done.
func (d *DB) BeginAsync(i Isolation, done func(*Transaction, error)) {
	launch((*op).transaction, done, func(c *op) bool { return d.begin(c, i) })
}

func (d *DB) begin(c *op, i Isolation) bool {
	var level [4]byte
	binary.BigEndian.PutUint32(level[:], uint32(i)+1)
	return d.handle.start(c, dbBegin, level[:], nil, nil)
}

func (o *op) transaction() (*Transaction, error) {
	h, err := o.handle()
	if err != nil {
		return nil, err
	}
	return &Transaction{reads: reads{h, &transactionReads}}, nil
}

// Put sets a key's value when the transaction commits.
func (t *Transaction) Put(ctx context.Context, key, value []byte, o *WriteOptions) error {
	_, err := await(ctx, (*op).nothing, func(c *op) bool { return t.write(c, txPut, key, value, o) })
	return err
}

// PutAsync is [Transaction.Put] without waiting; see the package for done.
func (t *Transaction) PutAsync(key, value []byte, o *WriteOptions, done func(error)) {
	launch((*op).nothing, onlyError(done), func(c *op) bool { return t.write(c, txPut, key, value, o) })
}

// Merge adds an operand to a key's value when the transaction commits.
func (t *Transaction) Merge(ctx context.Context, key, operand []byte, o *WriteOptions) error {
	_, err := await(ctx, (*op).nothing, func(c *op) bool { return t.write(c, txMerge, key, operand, o) })
	return err
}

// MergeAsync is [Transaction.Merge] without waiting; see the package for done.
func (t *Transaction) MergeAsync(key, operand []byte, o *WriteOptions, done func(error)) {
	launch((*op).nothing, onlyError(done), func(c *op) bool { return t.write(c, txMerge, key, operand, o) })
}

func (t *Transaction) write(c *op, m method, key, value []byte, o *WriteOptions) bool {
	if err := checkKey(key); err != nil {
		return c.fail(t.handle.objects, err)
	}
	if err := checkValue(value); err != nil {
		return c.fail(t.handle.objects, err)
	}
	var memory [maxTTL]byte
	return t.handle.start(c, m, key, value, o.ttl().encode(memory[:0]))
}

// Delete removes a key when the transaction commits.
func (t *Transaction) Delete(ctx context.Context, key []byte) error {
	_, err := await(ctx, (*op).nothing, func(c *op) bool { return t.remove(c, key) })
	return err
}

// DeleteAsync is [Transaction.Delete] without waiting; see the package for done.
func (t *Transaction) DeleteAsync(key []byte, done func(error)) {
	launch((*op).nothing, onlyError(done), func(c *op) bool { return t.remove(c, key) })
}

func (t *Transaction) remove(c *op, key []byte) bool {
	if err := checkKey(key); err != nil {
		return c.fail(t.handle.objects, err)
	}
	return t.handle.start(c, txDelete, key, nil, nil)
}

// Commit writes everything and returns its sequence number, or 0 if there was
// nothing to write. [ErrConflict] means that nothing was written. The
// transaction is over, whatever the result.
func (t *Transaction) Commit(ctx context.Context) (seq uint64, err error) {
	return await(ctx, (*op).sequence, func(c *op) bool { return t.end(c, txCommit) })
}

// CommitAsync is [Transaction.Commit] without waiting; see the package for done.
func (t *Transaction) CommitAsync(done func(seq uint64, err error)) {
	launch((*op).sequence, done, func(c *op) bool { return t.end(c, txCommit) })
}

// Rollback ends the transaction without writing anything. After the end of the
// transaction it does nothing, so that it may be deferred.
func (t *Transaction) Rollback(ctx context.Context) error {
	if t.over {
		return nil
	}
	_, err := await(ctx, (*op).nothing, func(c *op) bool { return t.end(c, txRollback) })
	return err
}

// RollbackAsync is [Transaction.Rollback] without waiting; see the package for done.
func (t *Transaction) RollbackAsync(done func(error)) {
	if t.over {
		t.handle.objects.later(func() { done(nil) })
		return
	}
	launch((*op).nothing, onlyError(done), func(c *op) bool { return t.end(c, txRollback) })
}

// end begins the last operation; its end frees the transaction.
func (t *Transaction) end(c *op, m method) bool {
	t.over = true
	defer t.handle.close(closed(ReasonClean, "the transaction is over"))
	return t.handle.start(c, m, nil, nil, nil)
}

func onlyError(done func(error)) func(struct{}, error) {
	return func(_ struct{}, err error) { done(err) }
}
