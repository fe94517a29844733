package slatedb

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"
)

// A Durability is what a read takes into account.
type Durability uint8

const (
	// Memory reads everything written, durable or not.
	Memory Durability = iota
	// Remote reads only what is durable.
	Remote
)

func (d Durability) encode() uint32 {
	if d == Remote {
		return 1
	}
	return 2
}

// ReadOptions says how to read. Nil stands for the zero value.
type ReadOptions struct {
	Durability Durability
	// Dirty also reads writes that are not committed yet.
	Dirty bool
	// NoCacheFill leaves the blocks that were read out of the block cache.
	NoCacheFill bool
}

// encode appends the options; the last two zeros are a filter context and tracing.
func (r *ReadOptions) encode(b []byte) []byte {
	if r == nil {
		r = &ReadOptions{}
	}
	b = binary.BigEndian.AppendUint32(b, r.Durability.encode())
	b = appendFlag(b, r.Dirty)
	b = appendFlag(b, !r.NoCacheFill)
	return append(b, 0, 0)
}

// An Order is the direction of a scan.
type Order uint8

// The directions of a scan.
const (
	Ascending Order = iota
	Descending
)

// ScanOptions says how to scan. Nil stands for the zero value.
type ScanOptions struct {
	Durability Durability
	// Dirty also reads writes that are not committed yet.
	Dirty bool
	// Order is the direction.
	Order Order
	// ReadAhead is how many bytes to fetch in advance. Default: one block.
	ReadAhead uint64
	// CacheFill puts the blocks that were read into the block cache.
	CacheFill bool
	// FetchTasks is how many fetches may run at a time. Default: 1.
	FetchTasks uint64
}

func (s *ScanOptions) encode() []byte {
	if s == nil {
		s = &ScanOptions{}
	}
	b := make([]byte, 0, 32)
	b = binary.BigEndian.AppendUint32(b, s.Durability.encode())
	b = appendFlag(b, s.Dirty)
	b = binary.BigEndian.AppendUint64(b, max(s.ReadAhead, 1))
	b = appendFlag(b, s.CacheFill)
	b = binary.BigEndian.AppendUint64(b, max(s.FetchTasks, 1))
	b = append(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(s.Order)+1)
	return append(b, 0, 0)
}

// A Range is a range of keys: from Start up to End, without End itself. The zero
// Range is all keys.
type Range struct {
	Start, End     []byte // empty is open
	StartExclusive bool   // leave Start out
	EndInclusive   bool   // End belongs to it
}

func (r *Range) check() error {
	if len(r.Start) == 0 || len(r.End) == 0 {
		return nil
	}
	if c := bytes.Compare(r.Start, r.End); c > 0 || c == 0 && (r.StartExclusive || !r.EndInclusive) {
		return invalid("the range from %q to %q holds no key", r.Start, r.End)
	}
	return nil
}

func (r *Range) encode() []byte {
	b := make([]byte, 0, len(r.Start)+len(r.End)+12)
	b = appendOptionalBytes(b, r.Start)
	b = appendFlag(b, !r.StartExclusive)
	b = appendOptionalBytes(b, r.End)
	return appendFlag(b, r.EndInclusive)
}

// A TTL says when a value expires. The zero TTL is the database's default
// (setting default_ttl_millis; never, unless that is set).
//
// An expired value goes away when the engine next writes the table that it is
// in, at a flush of the memtable or a compaction. Reads show it until then, and a
// [Row] tells when it expired.
type TTL struct {
	kind  uint32
	value int64
}

const (
	ttlDefault uint32 = iota
	ttlNever
	ttlAfter
	ttlAt
)

// NoExpiry keeps a value for ever.
func NoExpiry() TTL { return TTL{kind: ttlNever} }

// ExpireAfter lets a value expire that long after it was written, in whole
// milliseconds, at least one.
func ExpireAfter(d time.Duration) TTL { return TTL{kind: ttlAfter, value: max(d.Milliseconds(), 1)} }

// ExpireAt lets a value expire at that time.
func ExpireAt(t time.Time) TTL { return TTL{kind: ttlAt, value: t.UnixMilli()} }

// maxTTL is the longest encoded TTL.
const maxTTL = 4 + 8

// encode appends the TTL.
func (t TTL) encode(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, t.kind+1)
	if t.kind >= ttlAfter {
		b = binary.BigEndian.AppendUint64(b, uint64(t.value))
	}
	return b
}

// WriteOptions says how to write a value or a merge operand. Nil stands for the zero value.
type WriteOptions struct {
	TTL TTL
}

func (w *WriteOptions) ttl() TTL {
	if w == nil {
		return TTL{}
	}
	return w.TTL
}

// CloseOptions says how to close a database. Nil stands for the zero value.
type CloseOptions struct {
	// SkipFlush drops what is not durable yet instead of making it durable. It is
	// for a database that was fenced, or given up.
	SkipFlush bool
}

// A FlushKind says what to flush.
type FlushKind uint8

const (
	// WAL makes every write before it durable.
	WAL FlushKind = iota
	// Memtable also moves them from memory into sorted tables.
	Memtable
)

func (k FlushKind) encode() uint32 {
	if k == Memtable {
		return 1
	}
	return 2
}

func (o *CloseOptions) skipFlush() bool { return o != nil && o.SkipFlush }

// encode names the flush: none, or the log.
func (o *CloseOptions) encode() []byte {
	if o.skipFlush() {
		return []byte{0}
	}
	return binary.BigEndian.AppendUint32([]byte{1}, WAL.encode())
}

// maxBytes bounds a key or a value: the ABI's lengths are signed.
const maxBytes = math.MaxInt32 - 8

func checkKey(key []byte) error {
	switch {
	case len(key) == 0:
		return invalid("the key is empty")
	case len(key) > maxBytes:
		return invalid("the key has %d bytes, more than %d", len(key), maxBytes)
	}
	return nil
}

func checkValue(value []byte) error {
	if len(value) > maxBytes {
		return invalid("the value has %d bytes, more than %d", len(value), maxBytes)
	}
	return nil
}
