package slatedb

import "sync/atomic"

// written hears of the writes to one database, whatever object they go through.
type written struct {
	told   func(seq uint64) // of Options; may be nil
	flying atomic.Int64     // writes that have begun and are not told of
}

func (w *written) begun() { w.flying.Add(1) }

// ended tells of a write, unless it failed or wrote nothing.
func (w *written) ended(seq uint64) {
	if seq > 0 && w.told != nil {
		w.told(seq)
	}
	w.flying.Add(-1)
}

// writes says whether the method writes to a database.
func (m method) writes() bool {
	result := methods[m].result
	return result == resultWrite || result == resultCommit
}

// Writing says whether there are writes that have begun and of which OnWrite of [Options]
// has not been told. If not, it has been told of every write that a read before could see.
func (d *DB) Writing() bool { return d.handle.written.flying.Load() > 0 }
