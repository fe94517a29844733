//go:build cgo && (linux || darwin)

package slatedb

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra
#cgo linux LDFLAGS: -ldl
#cgo noescape slate_start
#cgo noescape slate_call
#cgo noescape slate_resume
#cgo noescape slate_resume_all
#cgo noescape slate_read_status
#cgo nocallback slate_read_status
#cgo noescape slate_queue_take
#cgo nocallback slate_queue_take
#include <stdlib.h>
#include "slate.h"
*/
import "C"

import (
	"errors"
	"os"
	"unsafe"
)

// The numbers that both halves know are the same in both.
var (
	_ = [1]struct{}{}[C.SLATE_GLOBAL_RR-int(shapeGlobalRR)]
	_ = [1]struct{}{}[C.SLATE_COMMIT-int(resultCommit)]
	_ = [1]struct{}{}[C.SLATE_READER_STATUS-int(readerStatus)]
	_ = [1]struct{}{}[C.SLATE_OBJECT_READER-int(objectReader)]
	_ = [C.SLATE_METHODS - len(methods)]struct{}{}
	_ = [C.SLATE_OBJECTS - len(objectNames)]struct{}{}
)

// A record is the C half of an operation.
type record = C.slate_op

// openLibrary loads the library and returns the version of its ABI.
func openLibrary(path string) (uint32, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var (
		contract C.uint32_t
		message  [512]C.char
	)
	if C.slate_open(name, &contract, &message[0], C.size_t(len(message))) != 0 {
		return 0, errors.New(C.GoString(&message[0]))
	}
	return uint32(contract), nil
}

// bindMethod finds a function of the library and returns its checksum, or -1.
func bindMethod(m method) int32 {
	f := &methods[m]
	name := C.CString(f.name)
	defer C.free(unsafe.Pointer(name))
	return int32(C.slate_bind(C.uint32_t(m), name, C.uint8_t(f.shape), C.uint8_t(f.result),
		C.uint8_t(f.self), C.uint8_t(f.argument)))
}

func bindObject(o objectKind) bool {
	name := C.CString(objectNames[o])
	defer C.free(unsafe.Pointer(name))
	return C.slate_bind_object(C.uint32_t(o), name) == 0
}

func bindCallbacks() bool { return C.slate_bind_callbacks() == 0 }

// newRecords makes n records, which are never freed; the first one has the given index.
func newRecords(first, n int) []record {
	memory := (*record)(C.calloc(C.size_t(n), C.sizeof_slate_op))
	records := unsafe.Slice(memory, n)
	for i := range records {
		records[i].index = C.uint32_t(first + i)
	}
	return records
}

func pointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

// begin starts a future and polls it; it tells whether that was all. The
// arguments are copied before it returns.
func (o *op) begin(q *queue, m method, self uint64, a, b, c []byte) bool {
	return C.slate_start(o.record, q.c, C.uint32_t(m), C.uint64_t(self), pointer(a), C.uint64_t(len(a)),
		pointer(b), C.uint64_t(len(b)), pointer(c), C.uint64_t(len(c))) != 0
}

// beginNumber is begin for the functions that take a number.
func (o *op) beginNumber(q *queue, m method, self, n uint64) bool {
	return C.slate_start(o.record, q.c, C.uint32_t(m), C.uint64_t(self), nil, C.uint64_t(n), nil, 0, nil, 0) != 0
}

// resume goes on after a signal and tells whether the operation is done.
func (o *op) resume() bool { return C.slate_resume(o.record) != 0 }

// resumeAll resumes several operations; done has as many elements.
func resumeAll(records []*record, done []bool) {
	C.slate_resume_all(&records[0], C.int(len(records)), (*C.uint8_t)(unsafe.Pointer(&done[0])))
}

func (o *op) code() int8    { return int8(o.record.code) }
func (o *op) value() uint64 { return uint64(o.record.value) }

// output is the result's memory, valid until the operation is recycled.
func (o *op) output() []byte {
	return unsafe.Slice((*byte)(o.record.out.data), int(o.record.out.len))
}

func (o *op) freeOutput() {
	if o.record.out.capacity > 0 {
		C.slate_buffer_free(&o.record.out) //nolint:gocritic // cgo's own code
	}
}

// invoke calls a function that gives no future; its result is in o.
func (o *op) invoke(m method, self, handle, number uint64, a, b []byte) {
	C.slate_call(o.record, C.uint32_t(m), C.uint64_t(self), C.uint64_t(handle), C.uint64_t(number),
		pointer(a), C.uint64_t(len(a)), pointer(b), C.uint64_t(len(b)))
}

func freeObject(kind objectKind, id uint64) { C.slate_free(C.uint32_t(kind), C.uint64_t(id)) }

// readStatus reads the status of a database or a reader.
func readStatus(m method, self uint64) Status {
	s := C.slate_read_status(C.uint32_t(m), C.uint64_t(self))
	if s.code != 0 {
		return Status{CloseReason: ReasonUnknown}
	}
	return Status{DurableSeq: uint64(s.durable_seq), CloseReason: CloseReason(s.close_reason)}
}

// A queue is where the engine puts operations that can go on.
type queue struct {
	c    *C.slate_queue
	wake *os.File // readable when the queue is not empty
}

func newQueue() (*queue, error) {
	c, err := C.slate_queue_new()
	if c == nil {
		return nil, err
	}
	return &queue{c: c, wake: os.NewFile(uintptr(c.read_fd), "slatedb wake-up")}, nil
}

// take empties the queue and hands each operation to f.
func (q *queue) take(f func(*op)) {
	for r := C.slate_queue_take(q.c); r != nil; {
		next := r.next // r may be in use again once f has it
		f(opAt(uint32(r.index)))
		r = next
	}
}

// close ends take's wake-ups; free is for when no operation is in flight.
func (q *queue) close() error { return q.wake.Close() }
func (q *queue) free()        { C.slate_queue_free(q.c) }
