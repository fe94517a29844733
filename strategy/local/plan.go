package local

import "time"

// plan decides when which shard is opened. It is a state machine without clock
// or I/O.
type plan struct {
	base, max time.Duration
	limit     int                 // opens at a time
	jitter    func(n int64) int64 // uniform in [0, n)

	shards  []int
	state   map[int]*entry
	opening int
	missing int // shards that were not attempted yet
}

type entry struct {
	phase    phase
	attempts int       // failures in a row
	due      time.Time // when to open (waiting)
	up       time.Time // when it was opened (running)
}

type phase uint8

const (
	waiting phase = iota
	opening
	running
	parked // stopped by hand; started only by hand
)

func newPlan(shards []int, base, longest time.Duration, limit int, jitter func(int64) int64) *plan {
	p := &plan{base: base, max: longest, limit: limit, jitter: jitter, shards: shards, state: map[int]*entry{}, missing: len(shards)}
	for _, n := range shards {
		p.state[n] = &entry{}
	}
	return p
}

// next returns the shards to open now and how long to wait until the next is due;
// 0 means that nothing is.
func (p *plan) next(now time.Time) (open []int, wake time.Duration) {
	for _, n := range p.shards {
		e := p.state[n]
		if e.phase != waiting {
			continue
		}
		wait := e.due.Sub(now)
		switch {
		case wait > 0 && (wake == 0 || wait < wake):
			wake = wait
		case wait <= 0 && p.opening < p.limit:
			e.phase = opening
			p.opening++
			open = append(open, n)
		}
	}
	return open, wake
}

// attempted says how an open ended.
func (p *plan) attempted(n int, ok bool, now time.Time) {
	e := p.state[n]
	if e == nil || e.phase != opening {
		return
	}
	p.closeAttempt(e)
	if ok {
		e.phase, e.up = running, now
		return
	}
	p.retry(e, now)
}

// stopped says that the shard was stopped by hand while it opened.
func (p *plan) stopped(n int) {
	if e := p.state[n]; e != nil && e.phase == opening {
		p.closeAttempt(e)
		e.phase = parked
	}
}

func (p *plan) closeAttempt(e *entry) {
	p.opening--
	if e.attempts == 0 && e.up.IsZero() {
		p.missing--
	}
}

// down says that an open shard is not open any more. One stopped by hand stays so.
func (p *plan) down(n int, stopped bool, now time.Time) {
	e := p.state[n]
	if e == nil || e.phase != running {
		return
	}
	if stopped {
		e.phase = parked
		return
	}
	if now.Sub(e.up) >= p.max {
		e.attempts = 0
	}
	p.retry(e, now)
}

// retry is due after base·2^attempts, at most max, plus up to a quarter.
func (p *plan) retry(e *entry, now time.Time) {
	delay := p.max
	if shifted := p.base << min(e.attempts, 32); shifted > 0 && shifted < p.max {
		delay = shifted
	}
	e.attempts++
	e.phase = waiting
	e.due = now.Add(delay + time.Duration(p.jitter(max(int64(delay)/4, 1))))
}

// attemptedAll says whether every shard was tried at least once.
func (p *plan) attemptedAll() bool { return p.missing == 0 }
