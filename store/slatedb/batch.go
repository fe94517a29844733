package slatedb

import "encoding/binary"

// A Batch is a set of writes that are applied together or not at all; they share
// a sequence number. The zero Batch is empty and ready to use. It keeps copies
// of what it is given and may be written several times. It is not safe for
// concurrent use.
type Batch struct {
	entries []byte // as call.c reads them
	count   int
	wrong   error // the first entry that cannot be written
}

// Len is how many writes the batch holds.
func (b *Batch) Len() int { return b.count }

// Size is about how many bytes the batch holds.
func (b *Batch) Size() int { return len(b.entries) }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.entries, b.count, b.wrong = b.entries[:0], 0, nil }

// Put sets a key's value.
func (b *Batch) Put(key, value []byte, o *WriteOptions) {
	b.add(batchPut, batchPutTTL, key, value, o.ttl())
}

// Merge adds an operand to a key's value.
func (b *Batch) Merge(key, operand []byte, o *WriteOptions) {
	b.add(batchMerge, batchMergeTTL, key, operand, o.ttl())
}

// Delete removes a key.
func (b *Batch) Delete(key []byte) {
	b.add(batchDelete, batchDelete, key, nil, TTL{})
}

func (b *Batch) add(plain, withTTL method, key, value []byte, ttl TTL) {
	err := checkKey(key)
	if err == nil {
		err = checkValue(value)
	}
	if err != nil {
		if b.wrong == nil {
			b.wrong = err
		}
		return
	}
	var encoded []byte
	kind := plain
	if ttl != (TTL{}) {
		var memory [12]byte
		kind, encoded = withTTL, ttl.encode(memory[:0])
	}
	b.entries = append(b.entries, byte(kind))
	b.entries = binary.NativeEndian.AppendUint32(b.entries, uint32(len(key)))
	b.entries = binary.NativeEndian.AppendUint32(b.entries, uint32(len(value)))
	b.entries = append(b.entries, byte(len(encoded)))
	b.entries = append(append(append(b.entries, key...), value...), encoded...)
	b.count++
}
