//go:build cgo && (linux || darwin)

package slatedb

// #include "slate.h"
import "C"

import (
	"math"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"
)

// share makes the engine's handle of something that it calls back. The engine
// frees it.
func share(value any) uint64 {
	return uint64(C.slate_foreign(C.uint64_t(cgo.NewHandle(value))))
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

//export slateLog
func slateLog(handle C.uint64_t, record C.slate_buffer) {
	sink, _ := cgo.Handle(handle).Value().(logSink)
	sink(decodeLogRecord(bufferBytes(record)))
}

//export slateRegister
func slateRegister(
	recorder C.uint64_t, m *C.slate_metric, name, description, labels, bounds C.slate_buffer,
) C.uint64_t {
	r, _ := cgo.Handle(recorder).Value().(metricsRecorder)
	i := &instrument{
		kind:        instrumentKind(m.kind),
		name:        string(bufferBytes(name)),
		description: decodeDescription(bufferBytes(description)),
		labels:      decodeLabels(bufferBytes(labels)),
		bounds:      decodeBounds(bufferBytes(bounds)),
		cell:        m,
		recorder:    r,
	}
	if i.kind == instrumentHistogram {
		C.slate_metric_bounds(m, (*C.double)(unsafe.SliceData(i.bounds)), C.uint32_t(len(i.bounds)))
	}
	r.register(i)
	return C.uint64_t(cgo.NewHandle(i))
}

//export slateUnregister
func slateUnregister(handle C.uint64_t) {
	i, _ := cgo.Handle(handle).Value().(*instrument)
	i.recorder.unregister(i)
	cgo.Handle(handle).Delete()
}

// A cell is what the engine counts in.
type cell = C.slate_metric

// value is what a counter, an up-down counter or a gauge shows.
func (i *instrument) value() int64 { return atomic.LoadInt64((*int64)(&i.cell.value)) }

// histogram is how many observations there were, their sum, and how many fell
// up to each bound, and above the last one.
func (i *instrument) histogram() (count uint64, sum float64, buckets []uint64) {
	cells := unsafe.Slice((*uint64)(i.cell.buckets), len(i.bounds)+1)
	buckets = make([]uint64, len(cells))
	for n := range cells {
		buckets[n] = atomic.LoadUint64(&cells[n])
	}
	bits := atomic.LoadUint64((*uint64)(unsafe.Pointer(&i.cell.sum)))
	return uint64(i.value()), math.Float64frombits(bits), buckets
}
