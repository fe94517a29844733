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

// Get reads the value of a key. found is false if there is none. The value is
// the caller's.
func (r *reads) Get(ctx context.Context, key []byte, o *ReadOptions) (value []byte, ok bool, err error) {
	f, err := await(ctx, (*op).found, func(c *op) bool { return r.get(c, key, o) })
	return f.value, f.ok, err
}

// GetAsync is [DB.Get] without waiting; see the package for done.
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
