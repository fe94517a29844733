package slatedb

import "encoding/binary"

// The engine's records are big-endian; bytes, strings and lists have an i32
// length in front, options a flag.

func appendFlag(b []byte, flag bool) []byte {
	if flag {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendBytes(b, value []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	return append(b, value...)
}

// appendOptionalBytes takes an empty value for none.
func appendOptionalBytes(b, value []byte) []byte {
	b = appendFlag(b, len(value) > 0)
	if len(value) == 0 {
		return b
	}
	return appendBytes(b, value)
}

// appendOptionalText takes "" for none.
func appendOptionalText(b []byte, value string) []byte {
	b = appendFlag(b, value != "")
	if value == "" {
		return b
	}
	return appendBytes(b, []byte(value))
}

// optionalNumber takes 0 for none.
func optionalNumber(value uint64) []byte {
	if value == 0 {
		return []byte{0}
	}
	return binary.BigEndian.AppendUint64([]byte{1}, value)
}

// A decoder reads a record. A record that ends too early sets short and reads as zeros.
type decoder struct {
	rest  []byte
	short bool
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.short, d.rest = true, nil
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) flag() bool {
	b := d.take(1)
	return b != nil && b[0] != 0
}

func (d *decoder) u32() uint32 {
	if b := d.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// bytes shares the record's memory.
func (d *decoder) bytes() []byte { return d.take(int(int32(d.u32()))) }

func (d *decoder) text() string { return string(d.bytes()) }

func (d *decoder) optionalText() string {
	if d.flag() {
		return d.text()
	}
	return ""
}

func (d *decoder) optionalBytes() []byte {
	if d.flag() {
		return d.bytes()
	}
	return nil
}

func (d *decoder) optionalNumber() (int64, bool) {
	if d.flag() {
		return int64(d.u64()), true
	}
	return 0, false
}

// decodeDescription reads a metric's description, an optional text; "" if there is none.
func decodeDescription(b []byte) string {
	d := decoder{rest: b}
	return d.optionalText()
}

// decodeList reads a list whose items take at least one byte each.
func decodeList[T any](d *decoder, item func(*decoder) T) []T {
	n := int(int32(d.u32()))
	if n < 0 || n > len(d.rest) {
		d.short = true
		return nil
	}
	list := make([]T, n)
	for i := range list {
		list[i] = item(d)
	}
	return list
}
