package slatedb

import (
	"encoding/binary"
	"fmt"
)

// A MergeOperator combines a key's value with an operand of [DB.Merge].
// existing is nil if the key has no value; it may also be an earlier operand.
// The result must not depend on how operands were grouped before. The slices are
// valid during the call only.
//
// It runs on threads of the engine, many at a time, and must not call the
// engine. If it returns an error or panics, the read or the merge that needed it
// fails with [ErrInvalid]; a failure during a flush of the memtable ends the
// database, which loses nothing.
type MergeOperator func(key, existing, operand []byte) ([]byte, error)

// run decodes the engine's arguments and calls the operator.
func (m MergeOperator) run(key, existing, operand []byte) (value []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the merge operator panicked: %v", p)
		}
	}()
	k, e, o := decoder{rest: key}, decoder{rest: existing}, decoder{rest: operand}
	return m(k.bytes(), e.optionalBytes(), o.bytes())
}

// encodeMergeError is the engine's record of a failed merge.
func encodeMergeError(err error) []byte {
	b := binary.BigEndian.AppendUint32(nil, 1)
	return appendBytes(b, []byte(err.Error()))
}
