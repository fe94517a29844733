package slatedb

import (
	"bytes"
	"context"
)

// reads are the reads that a database, a snapshot, a transaction and a reader
// have in common.
type reads struct {
	handle  *handle
	methods *readMethods
}

// readMethods are the functions of one kind of object.
type readMethods struct{ get, getWith, getRow, scan, scanPrefix method }

// found is the result of a read of one key.
type found struct {
	value []byte
	ok    bool
}

// Get reads the value of a key; ok is false if there is none. The value is the
// caller's.
func (r *reads) Get(ctx context.Context, key []byte, o *ReadOptions) (value []byte, ok bool, err error) {
	f, err := await(ctx, (*op).found, func(c *op) bool { return r.get(c, key, o) })
	return f.value, f.ok, err
}

// GetAsync is Get without waiting; see the package for done.
func (r *reads) GetAsync(key []byte, o *ReadOptions, done func(value []byte, ok bool, err error)) {
	launch((*op).found, func(f found, err error) { done(f.value, f.ok, err) },
		func(c *op) bool { return r.get(c, key, o) })
}

func (r *reads) get(c *op, key []byte, o *ReadOptions) bool {
	if err := checkKey(key); err != nil {
		return c.fail(r.handle.objects, err)
	}
	if o == nil {
		return r.handle.start(c, r.methods.get, key, nil, nil)
	}
	var memory [16]byte
	return r.handle.start(c, r.methods.getWith, key, o.encode(memory[:0]), nil)
}

// GetRow reads a key with its value, sequence number and times. It is nil if there
// is none.
func (r *reads) GetRow(ctx context.Context, key []byte, o *ReadOptions) (*Row, error) {
	return await(ctx, (*op).row, func(c *op) bool { return r.getRow(c, key, o) })
}

// GetRowAsync is GetRow without waiting; see the package for done.
func (r *reads) GetRowAsync(key []byte, o *ReadOptions, done func(*Row, error)) {
	launch((*op).row, done, func(c *op) bool { return r.getRow(c, key, o) })
}

func (r *reads) getRow(c *op, key []byte, o *ReadOptions) bool {
	if err := checkKey(key); err != nil {
		return c.fail(r.handle.objects, err)
	}
	var memory [16]byte
	return r.handle.start(c, r.methods.getRow, key, o.encode(memory[:0]), nil)
}

// Scan reads the rows of a range of keys, as they are when it returns.
func (r *reads) Scan(ctx context.Context, keys Range, o *ScanOptions) (*Iterator, error) {
	return await(ctx, iterate(o), func(c *op) bool { return r.scan(c, keys, o) })
}

// ScanAsync is Scan without waiting; see the package for done.
func (r *reads) ScanAsync(keys Range, o *ScanOptions, done func(*Iterator, error)) {
	launch(iterate(o), done, func(c *op) bool { return r.scan(c, keys, o) })
}

func (r *reads) scan(c *op, keys Range, o *ScanOptions) bool {
	if err := keys.check(); err != nil {
		return c.fail(r.handle.objects, err)
	}
	return r.handle.start(c, r.methods.scan, keys.encode(), o.encode(), nil)
}

// ScanPrefix reads the rows whose keys start with a prefix, as they are when it
// returns. An empty prefix is all of them.
func (r *reads) ScanPrefix(ctx context.Context, prefix []byte, o *ScanOptions) (*Iterator, error) {
	return await(ctx, iterate(o), func(c *op) bool { return r.scanPrefix(c, prefix, o) })
}

// ScanPrefixAsync is ScanPrefix without waiting; see the package for done.
func (r *reads) ScanPrefixAsync(prefix []byte, o *ScanOptions, done func(*Iterator, error)) {
	launch(iterate(o), done, func(c *op) bool { return r.scanPrefix(c, prefix, o) })
}

func (r *reads) scanPrefix(c *op, prefix []byte, o *ScanOptions) bool {
	var all Range
	return r.handle.start(c, r.methods.scanPrefix, prefix, all.encode(), o.encode())
}

// iterate reads the iterator of a scan.
func iterate(o *ScanOptions) func(*op) (*Iterator, error) {
	return func(c *op) (*Iterator, error) {
		h, err := c.handle()
		if err != nil {
			return nil, err
		}
		it := &Iterator{handle: h}
		if o != nil {
			it.order = o.Order
		}
		return it, nil
	}
}

// found reads an optional value.
func (o *op) found() (found, error) {
	if o.failed != nil || o.code() != codeDone {
		return found{}, o.err()
	}
	b := o.output()
	const header = 5 // a flag and the length
	if len(b) == 0 || b[0] == 0 {
		return found{}, nil
	}
	if len(b) < header {
		return found{}, unreadable()
	}
	if len(b) == header {
		return found{value: []byte{}, ok: true}, nil
	}
	return found{value: bytes.Clone(b[header:]), ok: true}, nil
}

func unreadable() error {
	return &Error{Kind: KindInternal, Message: "the engine's answer cannot be read"}
}
