package lease

import (
	"cmp"
	"errors"
	"slices"

	"github.com/slap-go/slap/strategy"
)

// queue decides which shards the runner opens and closes when: some at a time, those of
// one shard in the order they were asked for (P3.5), and none past its deadline. It is a
// state machine without goroutines, clocks or I/O.
type queue struct {
	max     int // opens and closes at a time
	jobs    map[int]*job
	waiting []*job // for a place, in order
	running int
	out     []step
}

// job is a shard that is open here, or on its way in or out.
type job struct {
	shard int
	lease *strategy.Lease
	stage jobStage
	until strategy.Instant // the lease lasts, as was last seen
}

// deadline is until when the job's lease lasts. One that the loop has ended counts as
// before: the loop says what becomes of the shard.
func (j *job) deadline() strategy.Instant {
	j.until = cmp.Or(j.lease.Deadline(), j.until)
	return j.until
}

type jobStage uint8

const (
	queuedToOpen jobStage = iota
	openingNow
	nowOpen
	queuedToClose
	closingNow
)

// step is what the runner does: start or stop a shard, or tell the loop.
type step struct {
	start *job
	stop  int // of a shard; see told and start
	told  any // opened, closed, down or expired
}

func newQueue(maximum int) *queue { return &queue{max: maximum, jobs: map[int]*job{}} }

// take returns what is to be done.
func (q *queue) take() []step {
	for len(q.waiting) > 0 && q.running < q.max {
		j := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.running++
		if j.stage == queuedToOpen {
			j.stage = openingNow
			q.out = append(q.out, step{start: j})
			continue
		}
		q.stop(j)
	}
	out := q.out
	q.out = nil
	return out
}

func (q *queue) tell(message any) { q.out = append(q.out, step{told: message}) }

// stop sends a stop. The place is counted by the caller.
func (q *queue) stop(j *job) {
	j.stage = closingNow
	q.out = append(q.out, step{stop: j.shard})
}

func (q *queue) wait(j *job, stage jobStage) {
	j.stage = stage
	q.waiting = append(q.waiting, j)
}

// unqueue takes a job out of the line.
func (q *queue) unqueue(j *job) {
	q.waiting = slices.DeleteFunc(q.waiting, func(other *job) bool { return other == j })
}

// open opens a shard that is not here.
func (q *queue) open(shard int, lease *strategy.Lease) {
	j := &job{shard: shard, lease: lease}
	q.jobs[shard] = j
	q.wait(j, queuedToOpen)
}

// close closes a shard, however far it is.
func (q *queue) close(shard int) {
	j := q.jobs[shard]
	switch {
	case j == nil:
		q.tell(closed{shard})
	case j.stage == queuedToOpen:
		q.unqueue(j)
		q.end(j, closed{shard})
	case j.stage == openingNow:
		q.stop(j) // in its place
	case j.stage == nowOpen:
		q.wait(j, queuedToClose)
	}
}

// end forgets a job.
func (q *queue) end(j *job, message any) {
	delete(q.jobs, j.shard)
	q.tell(message)
}

// started says how a start ended. After a stop the answer to that counts. A shard that
// somebody else stopped is kept as one that was open then.
func (q *queue) started(shard int, err error) {
	j := q.jobs[shard]
	if j == nil || j.stage != openingNow {
		return
	}
	q.running--
	if err != nil && !errors.Is(err, strategy.ErrStopped) {
		q.end(j, opened{shard, err})
		return
	}
	j.stage = nowOpen
	q.tell(opened{shard, err})
}

// stopped says that a stop has ended.
func (q *queue) stopped(shard int) {
	j := q.jobs[shard]
	if j == nil || j.stage != closingNow {
		return
	}
	q.running--
	q.end(j, closed{shard})
}

// down says that a shard ended by itself.
func (q *queue) down(shard int, reason strategy.DownReason) {
	j := q.jobs[shard]
	switch {
	case j == nil || reason == strategy.Stopped:
	case j.stage == nowOpen:
		q.end(j, down{shard, reason})
	case j.stage == queuedToClose:
		q.unqueue(j)
		q.end(j, closed{shard})
	}
}

// expire closes every shard whose lease is over, all at once, whatever the limit. Of those
// that are about to be closed, or whose lease was ended before they came here, the loop knows.
func (q *queue) expire(now strategy.Instant) {
	var over []*job
	for _, j := range q.jobs {
		if j.stage != closingNow && j.deadline() <= now || j.stage == queuedToClose && j.lease.Deadline() <= now {
			over = append(over, j)
		}
	}
	slices.SortFunc(over, func(a, b *job) int { return cmp.Compare(a.shard, b.shard) })
	var fenced []int
	for _, j := range over {
		if j.stage != queuedToClose && j.until > 0 {
			fenced = append(fenced, j.shard)
		}
	}
	if len(fenced) > 0 {
		q.tell(expired{fenced})
	}
	for _, j := range over {
		q.fence(j)
	}
}

// fence closes a shard whose lease is over.
func (q *queue) fence(j *job) {
	switch j.stage {
	case queuedToOpen:
		q.unqueue(j)
		q.end(j, closed{j.shard})
	case openingNow:
		q.stop(j)
	default:
		q.unqueue(j)
		q.running++
		q.stop(j)
	}
}

// due is when the next lease is over, if it is not renewed; 0 if there is none.
func (q *queue) due() (first strategy.Instant) {
	for _, j := range q.jobs {
		if j.stage != closingNow {
			first = sooner(first, max(j.deadline(), 1))
		}
	}
	return first
}
