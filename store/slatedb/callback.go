//go:build cgo && (linux || darwin)

package slatedb

// #include "slate.h"
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// shareMergeOperator makes the engine's handle of a merge operator.
func shareMergeOperator(m MergeOperator) uint64 {
	return uint64(C.slate_merge_operator(C.uint64_t(cgo.NewHandle(m))))
}

//export slateRelease
func slateRelease(handle C.uint64_t) { cgo.Handle(handle).Delete() }

//export slateMerge
func slateMerge(handle C.uint64_t, key, existing, operand C.slate_buffer, out *C.slate_buffer) C.int8_t {
	m, _ := cgo.Handle(handle).Value().(MergeOperator)
	value, err := m.run(bufferBytes(key), bufferBytes(existing), bufferBytes(operand))
	if err != nil {
		record := encodeMergeError(err)
		*out = C.slate_raw(pointer(record), C.uint64_t(len(record)))
		return C.int8_t(codeError)
	}
	*out = C.slate_bytes(pointer(value), C.uint64_t(len(value)))
	return C.int8_t(codeDone)
}

func bufferBytes(b C.slate_buffer) []byte {
	return unsafe.Slice((*byte)(b.data), int(b.len))
}
