package slatedb

import "encoding/binary"

// A Batch is a set of writes that are applied together or not at all; they share
// a sequence number. The zero Batch is empty and ready to use. It keeps copies
// of what it is given and may be written several times. It is not safe for
// concurrent use.
type Batch struct {
	entries []byte // as call.c reads them
	count   int
	merges  bool
	wrong   error // the first entry that cannot be written
}

// Len is how many writes the batch holds.
func (b *Batch) Len() int { return b.count }

// Size is about how many bytes the batch holds.
func (b *Batch) Size() int { return len(b.entries) }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { *b = Batch{entries: b.entries[:0]} }

// Put sets a key's value. A wrong key or value is reported by the write.
func (b *Batch) Put(key, value []byte, o *WriteOptions) {
	b.checked(write{kind: batchPut, key: key, value: value, ttl: o.ttl()})
}

// Merge adds an operand to a key's value.
func (b *Batch) Merge(key, operand []byte, o *WriteOptions) {
	b.checked(write{kind: batchMerge, key: key, value: operand, ttl: o.ttl()})
}

// Delete removes a key.
func (b *Batch) Delete(key []byte) { b.checked(write{kind: batchDelete, key: key}) }

func (b *Batch) checked(x write) {
	if err := x.check(); err != nil {
		if b.wrong == nil {
			b.wrong = err
		}
		return
	}
	b.add(x.kind, x.key, x.value, x.ttl)
}

func (b *Batch) add(kind method, key, value []byte, ttl TTL) {
	b.merges = b.merges || kind == batchMerge
	var (
		memory  [maxTTL]byte
		encoded []byte
	)
	if ttl != (TTL{}) {
		kind++ // the same with a TTL
		encoded = ttl.encode(memory[:0])
	}
	b.entries = append(b.entries, byte(kind))
	b.entries = binary.NativeEndian.AppendUint32(b.entries, uint32(len(key)))
	b.entries = binary.NativeEndian.AppendUint32(b.entries, uint32(len(value)))
	b.entries = append(b.entries, byte(len(encoded)))
	b.entries = append(append(append(b.entries, key...), value...), encoded...)
	b.count++
}

func (b *Batch) append(other *Batch) {
	b.entries = append(b.entries, other.entries...)
	b.count += other.count
	b.merges = b.merges || other.merges
}
