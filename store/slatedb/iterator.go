package slatedb

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"time"
)

// A Row is a key with its value and what the engine knows about it.
type Row struct {
	Key, Value []byte
	Seq        uint64    // of the write that made it
	CreatedAt  time.Time // when that was, in milliseconds
	ExpiresAt  time.Time // zero: never; see [TTL]
}

func decodeRow(d *decoder) Row {
	r := Row{Key: d.bytes(), Value: d.bytes(), Seq: d.u64(), CreatedAt: time.UnixMilli(int64(d.u64()))}
	if at, ok := d.optionalNumber(); ok {
		r.ExpiresAt = time.UnixMilli(at)
	}
	return r
}

// An Iterator walks over the rows of a scan, which do not change while it does.
// It must be closed, stays usable after the close of its database, and is not
// safe for concurrent use.
//
//	for it.Next(ctx) {
//		use(it.Row())
//	}
//	err := it.Err()
type Iterator struct {
	handle *handle
	order  Order

	row   Row
	rows  []Row // fetched and not given yet
	fetch int   // how many to fetch next
	end   bool  // nothing is left to fetch
	err   error
}

// The fetches of Next grow from the first to the largest number of rows, or to
// about the number of bytes.
const (
	firstFetch   = 8
	largestFetch = 512
	fetchBytes   = 1 << 20
)

// Next goes to the next row and tells whether there is one. After the end, and
// after an error, it is always false. A Next whose context ended has lost its
// place: the iterator keeps that error.
func (it *Iterator) Next(ctx context.Context) bool {
	if len(it.rows) == 0 && !it.more(ctx) {
		it.row = Row{}
		return false
	}
	it.row, it.rows = it.rows[0], it.rows[1:]
	return true
}

// Row is the row that Next went to. It is the caller's.
func (it *Iterator) Row() Row { return it.row }

// Err is the error that ended the iteration, if one did.
func (it *Iterator) Err() error { return it.err }

// more fetches rows and tells whether there are any.
func (it *Iterator) more(ctx context.Context) bool {
	if it.end || it.err != nil {
		return false
	}
	it.fetch = max(it.fetch, firstFetch)
	n := it.fetch
	it.rows, it.err = it.nextBatch(ctx, n)
	it.end = len(it.rows) < n
	it.fetch = nextFetch(it.rows, n)
	return len(it.rows) > 0
}

// nextFetch grows a fetch, as far as the size of the rows allows.
func nextFetch(rows []Row, n int) int {
	size := 1
	for i := range rows {
		size += len(rows[i].Key) + len(rows[i].Value)
	}
	fits := fetchBytes * max(len(rows), 1) / size
	return max(min(4*n, largestFetch, fits), 1)
}

// NextBatch reads up to n rows; fewer, or none, are the last ones. It is for
// callers that need to bound the rows themselves, and for asynchronous ones;
// rows that Next has fetched but not given come first.
func (it *Iterator) NextBatch(ctx context.Context, n int) ([]Row, error) {
	rows, done := it.fetched(n)
	if done {
		return rows, it.err
	}
	more, err := it.nextBatch(ctx, n-len(rows))
	it.err = err
	return append(rows, more...), err
}

// fetched takes up to n of the rows that are there, and tells whether that is all.
func (it *Iterator) fetched(n int) (rows []Row, done bool) {
	n = max(n, 0)
	rows = it.rows[:min(n, len(it.rows)):min(n, len(it.rows))]
	it.rows = it.rows[len(rows):]
	return rows, len(rows) == n || it.end || it.err != nil
}

func (it *Iterator) nextBatch(ctx context.Context, n int) ([]Row, error) {
	return await(ctx, (*op).rows, func(c *op) bool { return it.next(c, n) })
}

// NextBatchAsync is [Iterator.NextBatch] without waiting; see the package for
// done. The iterator must not be used before done is called.
func (it *Iterator) NextBatchAsync(n int, done func(rows []Row, err error)) {
	rows, all := it.fetched(n)
	if all {
		it.handle.objects.later(func() { done(rows, it.err) })
		return
	}
	launch((*op).rows, func(more []Row, err error) {
		it.err = err
		done(append(rows, more...), err)
	}, func(c *op) bool { return it.next(c, n-len(rows)) })
}

func (it *Iterator) next(c *op, n int) bool {
	return it.handle.startNumber(c, iteratorNext, uint64(n))
}

// Seek goes on at the first row at or after the key. It only goes forward, and
// only in an ascending scan: anything else is an [ErrInvalid] and changes nothing.
func (it *Iterator) Seek(ctx context.Context, key []byte) error {
	if done, err := it.seekFetched(key); done {
		return err
	}
	_, err := await(ctx, (*op).nothing, func(c *op) bool { return it.seek(c, key) })
	return it.sought(err)
}

// SeekAsync is [Iterator.Seek] without waiting; see the package for done. The
// iterator must not be used before done is called.
func (it *Iterator) SeekAsync(key []byte, done func(error)) {
	if found, err := it.seekFetched(key); found {
		it.handle.objects.later(func() { done(err) })
		return
	}
	launch((*op).nothing, func(_ struct{}, err error) { done(it.sought(err)) },
		func(c *op) bool { return it.seek(c, key) })
}

func (it *Iterator) seek(c *op, key []byte) bool {
	return it.handle.start(c, iteratorSeek, key, nil, nil)
}

// sought keeps an error after which the place is lost.
func (it *Iterator) sought(err error) error {
	if err != nil && !errors.Is(err, ErrInvalid) {
		it.err = err
	}
	return err
}

// seekFetched drops the fetched rows before the key. It tells whether that is all.
func (it *Iterator) seekFetched(key []byte) (done bool, err error) {
	switch {
	case it.err != nil:
		return true, it.err
	case it.order == Descending:
		return true, invalid("a descending scan cannot seek")
	case len(key) == 0:
		return true, invalid("the key to seek is empty")
	case it.row.Key != nil && bytes.Compare(key, it.row.Key) < 0:
		return true, invalid("the iterator has passed the key to seek")
	}
	for len(it.rows) > 0 && bytes.Compare(it.rows[0].Key, key) < 0 {
		it.rows = it.rows[1:]
	}
	return len(it.rows) > 0 || it.end, nil
}

// All is the rest of the rows, for one range statement; an error comes last,
// with a zero Row. It closes the iterator.
func (it *Iterator) All(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		defer it.Close()
		for it.Next(ctx) {
			if !yield(it.row, nil) {
				return
			}
		}
		if it.err != nil {
			yield(Row{}, it.err)
		}
	}
}

// Close gives the iterator up. It may be called more than once.
func (it *Iterator) Close() { it.handle.close(closed(ReasonClean, "the iterator was closed")) }

// rows reads a list of rows, which share one copy of the record.
func (o *op) rows() ([]Row, error) {
	return decode(o, func(d *decoder) []Row { return decodeList(d, decodeRow) })
}

// row reads an optional row.
func (o *op) row() (*Row, error) {
	return decode(o, func(d *decoder) *Row {
		if !d.flag() {
			return nil
		}
		row := decodeRow(d)
		return &row
	})
}
