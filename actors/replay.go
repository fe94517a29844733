package actors

import (
	"sync"
	"time"
)

// How much of the log an opening leaves to the next one, which reads it all before it
// serves: some 70 µs for each flush on a directory, some milliseconds on a store that is
// far away. A flush of the tables takes the log's place. Its cost is a few requests, and
// work for the compactor, which wants some time for each.
const (
	longLog     = 128             // flushes of the log, then the tables are flushed
	shortLog    = 8               // with so many a planned end flushes the tables, too
	firstLog    = longLog - 8     // that are counted for what an opening finds
	tablesPause = 2 * time.Second // least time between two flushes of the tables
)

// replay decides when an opening flushes its tables. It is safe for concurrent use.
type replay struct {
	mu     sync.Mutex
	logged int       // flushes of the log since the last one of the tables
	found  int       // counted for what the opening found in the log
	began  time.Time // when that began
	busy   bool      // it goes on
}

// flushing counts a flush of the log, and says whether the tables are to be flushed, too.
func (r *replay) flushing(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logged++
	return r.found+r.logged >= longLog && now.Sub(r.began) >= tablesPause && r.begin(now)
}

// ending says whether the tables are to be flushed because the opening ends.
func (r *replay) ending(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.logged >= shortLog && r.begin(now)
}

// begin begins a flush of the tables unless one goes on. The caller holds the lock.
func (r *replay) begin(now time.Time) bool {
	if r.busy {
		return false
	}
	r.found, r.logged, r.began, r.busy = 0, 0, now, true
	return true
}

// flushed says that the flush of the tables has ended.
func (r *replay) flushed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = false
}
