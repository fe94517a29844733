package opener

import "time"

// plan decides when which shard is opened. It is a state machine without clock
// or I/O; the transcripts in testdata show what it does.
type plan struct {
	pace    Pace
	jitter  func(n int64) int64 // uniform in [1, n]
	shards  map[int]*entry
	queue   queue // of those that wait or are watched
	opening int
	untried int // shards whose first attempt has not ended
}

type entry struct {
	shard    int
	phase    phase
	tried    bool
	failures int       // in a row
	since    time.Time // when it began to run or was parked
	due      time.Time // when it is to be opened (waiting, watched)
	place    int       // in the queue
}

type phase uint8

const (
	waiting phase = iota
	opening
	running
	watched // somebody else opened it, or opens it: whether that worked has to be asked
	parked  // stopped by hand; started only by hand
)

// result is how an attempt to open a shard ended.
type result uint8

const (
	opened  result = iota
	failed         // try again later
	there          // somebody else opened it before, or opens it
	stopped        // somebody stopped it meanwhile
)

func newPlan(shards []int, pace Pace, jitter func(int64) int64) *plan {
	p := &plan{pace: pace, jitter: jitter, shards: make(map[int]*entry, len(shards)), untried: len(shards)}
	for _, n := range shards {
		e := &entry{shard: n}
		p.shards[n] = e
		p.queue.put(e)
	}
	return p
}

// next returns the shards to open now and how long to wait until another is due; 0
// means that none will be before something happens.
func (p *plan) next(now time.Time) (open []int, wake time.Duration) {
	for len(p.queue) > 0 && p.opening < p.pace.MaxConcurrency {
		if wait := p.queue[0].due.Sub(now); wait > 0 {
			return open, wait
		}
		e := p.queue.take()
		e.phase = opening
		p.opening++
		open = append(open, e.shard)
	}
	return open, 0
}

// attempted says how an open ended.
func (p *plan) attempted(n int, r result, now time.Time) {
	e := p.shards[n]
	if e == nil || e.phase != opening {
		return
	}
	p.opening--
	if !e.tried {
		e.tried = true
		p.untried--
	}
	switch r {
	case opened:
		e.phase, e.since = running, now
	case failed:
		p.retry(e, now)
	case there:
		e.phase, e.since, e.failures = watched, now, 0
		p.enqueue(e, now.Add(p.pace.BackoffMax))
	case stopped:
		e.phase, e.since = parked, now
	}
}

// down says that a shard is not open any more. One that was parked must have been
// started by hand meanwhile. Of one that opens, the answer to that will tell.
func (p *plan) down(n int, byHand bool, now time.Time) {
	e := p.shards[n]
	switch {
	case e == nil || e.phase == opening:
	case byHand:
		p.queue.drop(e)
		e.phase, e.since = parked, now
	case e.phase != waiting:
		p.queue.drop(e)
		if now.Sub(e.since) >= p.pace.BackoffMax {
			e.failures = 0
		}
		p.retry(e, now)
	}
}

// retry is due after the backoff plus up to a quarter of it.
func (p *plan) retry(e *entry, now time.Time) {
	e.failures++
	e.phase = waiting
	delay := p.pace.delay(e.failures)
	p.enqueue(e, now.Add(delay+time.Duration(p.jitter(max(int64(delay)/4, 1)))))
}

func (p *plan) enqueue(e *entry, due time.Time) {
	e.due = due
	p.queue.put(e)
}

// attemptedAll says whether every shard was tried at least once.
func (p *plan) attemptedAll() bool { return p.untried == 0 }
