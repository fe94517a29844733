//go:build !cgo || !(linux || darwin)

package slatedb

import (
	"errors"
	"io"
)

// Without cgo, or on a system for which the engine publishes no library, load
// fails, so that nothing else here is ever called.
var errUnsupported = errors.New("slatedb: the engine needs cgo (CGO_ENABLED=1) and Linux or macOS")

func load() error { return errUnsupported }

type (
	record struct{}
	cell   struct{}
)

func newRecords(_, n int) []record { return make([]record, n) }

func (o *op) begin(*queue, method, uint64, []byte, []byte, []byte) bool {
	return o.fail(o.objects, errUnsupported)
}

func (o *op) beginNumber(*queue, method, uint64, uint64) bool {
	return o.fail(o.objects, errUnsupported)
}
func (o *op) invoke(method, uint64, uint64, uint64, []byte, []byte) { o.failed = errUnsupported }

func (*op) resume() bool   { return true }
func (*op) code() int8     { return codeDone }
func (*op) value() uint64  { return 0 }
func (*op) output() []byte { return nil }
func (*op) freeOutput()    {}

func resumeAll([]*record, []bool)      {}
func freeObject(objectKind, uint64)    {}
func readStatus(method, uint64) Status { return Status{} }
func share(any) uint64                 { return 0 }

func (*instrument) value() int64                           { return 0 }
func (*instrument) histogram() (uint64, float64, []uint64) { return 0, 0, nil }

type queue struct{ wake io.Reader }

func newQueue() (*queue, error) { return nil, errUnsupported }
func (*queue) take(func(*op))   {}
func (*queue) close() error     { return nil }
func (*queue) free()            {}
