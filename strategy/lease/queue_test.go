package lease

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy"
)

// line is a queue and the leases of its shards, in the future, in which leases can still be
// renewed.
type line struct {
	*testing.T
	queue  *queue
	now    strategy.Instant
	leases map[int]*strategy.Lease
	opens  int // that were asked for; the generation of the last lease
}

func newLine(t *testing.T, maximum int) *line {
	t.Helper()
	return &line{T: t, queue: newQueue(maximum), now: strategy.Now().Add(time.Hour), leases: map[int]*strategy.Lease{}}
}

// open asks for shards whose leases end after that time.
func (l *line) open(after time.Duration, shards ...int) {
	for _, n := range shards {
		l.opens++
		l.leases[n] = strategy.NewLease(uint64(l.opens), l.now.Add(after))
		l.queue.open(n, l.leases[n])
	}
}

func (l *line) close(shards ...int) {
	for _, n := range shards {
		l.queue.close(n)
	}
}

func (l *line) started(shards ...int) {
	for _, n := range shards {
		l.queue.started(n, nil)
	}
}

// happens is what the host says of its shards.
func (l *line) happens(input any) {
	switch in := input.(type) {
	case opened:
		l.queue.started(in.shard, in.err)
	case closed:
		l.queue.stopped(in.shard)
	case down:
		l.queue.down(in.shard, in.reason)
	}
}

// steps are what is done now, as people read it: "start 0", or "tell closed 1".
func (l *line) steps() (texts []string) {
	l.Helper()
	l.queue.expire(l.now)
	for _, s := range l.queue.take() {
		switch {
		case s.start != nil:
			texts = append(texts, fmt.Sprint("start ", s.start.shard))
			if s.start.lease != l.leases[s.start.shard] {
				l.Errorf("shard %d is started with another lease than its last", s.start.shard)
			}
		case s.told == nil:
			texts = append(texts, fmt.Sprint("stop ", s.stop))
		default:
			texts = append(texts, "tell "+told(s.told))
		}
	}
	return texts
}

func told(message any) string {
	switch m := message.(type) {
	case opened:
		if m.err != nil {
			return fmt.Sprintf("opened %d: %v", m.shard, m.err)
		}
		return fmt.Sprint("opened ", m.shard)
	case closed:
		return fmt.Sprint("closed ", m.shard)
	case down:
		return fmt.Sprintf("down %d %v", m.shard, m.reason)
	case expired:
		return "expired " + strategy.Shards(m.shards).String()
	}
	return fmt.Sprintf("%T", message)
}

// want compares what is done now.
func (l *line) want(all ...string) {
	l.Helper()
	if got := l.steps(); !slices.Equal(got, all) {
		l.Fatalf("got %q, want %q", got, all)
	}
}

func TestP3_5_SomeAtATimeInTheOrderTheyWereAskedFor(t *testing.T) {
	l := newLine(t, 2)
	l.open(time.Minute, 5, 1, 3, 0)
	l.want("start 5", "start 1")
	l.want()
	l.started(1)
	l.want("tell opened 1", "start 3")
	l.close(1)
	l.open(time.Minute, 2)
	l.queue.started(5, strategy.ErrClosing)
	l.want("tell opened 5: the shard is still closing here", "start 0")
	l.started(0, 3)
	l.want("tell opened 0", "tell opened 3", "stop 1", "start 2") // a close takes a place, too
}

func TestP3_5_ACloseNeverOvertakesItsOpen(t *testing.T) {
	t.Run("which waits: neither is carried out", func(t *testing.T) {
		l := newLine(t, 1)
		l.open(time.Minute, 0, 1)
		l.want("start 0")
		l.close(1)
		l.want("tell closed 1")
		l.started(0)
		l.want("tell opened 0")
	})
	t.Run("which runs: only its end is told", func(t *testing.T) {
		l := newLine(t, 1)
		l.open(time.Minute, 0, 1)
		l.want("start 0")
		l.close(0)
		l.want("stop 0") // in the place of the open
		l.queue.started(0, strategy.ErrStopped)
		l.want()
		l.queue.stopped(0)
		l.want("tell closed 0", "start 1")
	})
	t.Run("which has run", func(t *testing.T) {
		l := newLine(t, 1)
		l.open(time.Minute, 0)
		l.want("start 0")
		l.started(0)
		l.close(0)
		l.want("tell opened 0", "stop 0")
		l.queue.stopped(0)
		l.want("tell closed 0")
	})
	t.Run("that never was", func(t *testing.T) {
		l := newLine(t, 1)
		l.close(7)
		l.want("tell closed 7")
	})
	t.Run("and the open after it comes after it", func(t *testing.T) {
		l := newLine(t, 4)
		l.open(time.Minute, 0)
		l.want("start 0")
		l.started(0)
		l.close(0)
		l.want("tell opened 0", "stop 0")
		l.queue.stopped(0)
		l.open(time.Minute, 0)
		l.want("tell closed 0", "start 0")
	})
}

func TestLL10_AnOpenThatWaitsPastItsDeadlineIsNotCarriedOut(t *testing.T) {
	l := newLine(t, 1)
	l.open(time.Minute, 0)
	l.open(2*time.Second, 1)
	l.open(3*time.Second, 2)
	l.want("start 0")
	if due := l.queue.due(); due != l.now.Add(2*time.Second) {
		t.Errorf("it looks again at %v", elapsed(due))
	}
	l.now = l.now.Add(2*time.Second - 1)
	l.want()
	l.now++
	l.want("tell expired 1", "tell closed 1")
	l.leases[2].Renew(l.now.Add(time.Minute)) // what is renewed waits on
	l.now = l.now.Add(10 * time.Second)
	l.started(0)
	l.want("tell opened 0", "start 2")

	l.open(time.Minute, 1) // after the next claim
	l.started(2)
	l.want("tell opened 2", "start 1")
}

func TestLL12_WhatOpensAfterItsLeaseIsClosed(t *testing.T) {
	l := newLine(t, 1)
	l.open(2*time.Second, 0)
	l.want("start 0")
	l.now = l.now.Add(2 * time.Second)
	l.want("tell expired 0", "stop 0")
	l.started(0) // the answer was on its way
	l.want()
	l.queue.stopped(0)
	l.want("tell closed 0")
	l.started(0) // what comes twice
	l.queue.stopped(0)
	l.queue.down(0, strategy.Crashed)
	l.want()
	l.open(time.Minute, 0)
	l.want("start 0")
	l.queue.stopped(0)
	l.want()
	l.started(0)
	l.want("tell opened 0")
}

func TestLL9_AllWhoseLeasesAreOverCloseAtOnceBeyondTheLimit(t *testing.T) {
	l := newLine(t, 2)
	l.open(2*time.Second, 6, 4)
	l.want("start 6", "start 4")
	l.started(6, 4)
	l.open(2*time.Second, 3, 1, 0)
	l.open(time.Minute, 5)
	l.want("tell opened 6", "tell opened 4", "start 3", "start 1")
	l.close(4)
	l.now = l.now.Add(2 * time.Second)
	// 4 was about to be closed, of which the loop knows; 0 has not begun.
	l.want("tell expired 0-1,3,6", "tell closed 0", "stop 1", "stop 3", "stop 4", "stop 6")
	if l.queue.due() != l.leases[5].Deadline() {
		t.Error("it waits for a lease that is over")
	}
	l.queue.stopped(1)
	l.want("tell closed 1")
	l.queue.stopped(3)
	l.want("tell closed 3")
	l.queue.stopped(4)
	l.want("tell closed 4", "start 5") // there is a place again
	l.queue.stopped(6)
	l.started(5)
	l.want("tell closed 6", "tell opened 5")
}

func TestLL10_WhatTheLoopHasEndedIsNotOpenedAndNoSelfFence(t *testing.T) {
	l := newLine(t, 1)
	l.open(time.Minute, 0, 1)
	l.want("start 0")
	l.leases[1].End() // its close is on its way here
	l.leases[0].End()
	l.want()
	l.close(1, 0)
	l.want("tell closed 1", "stop 0")
}

func TestP3_5_AShardThatEndsByItself(t *testing.T) {
	t.Run("is told", func(t *testing.T) {
		l := newLine(t, 1)
		l.open(time.Minute, 0)
		l.want("start 0")
		l.started(0)
		l.queue.down(0, strategy.Fenced)
		l.want("tell opened 0", "tell down 0 fenced")
		l.queue.down(0, strategy.Fenced)
		l.want()
	})
	t.Run("while it waits to be closed is closed", func(t *testing.T) {
		l := newLine(t, 1)
		l.open(time.Minute, 0)
		l.want("start 0")
		l.started(0)
		l.open(time.Minute, 1)
		l.want("tell opened 0", "start 1")
		l.close(0)
		l.queue.down(0, strategy.Crashed)
		l.want("tell closed 0")
		l.started(1)
		l.want("tell opened 1") // and is not closed again
	})
	t.Run("while it closes is told by the close", func(t *testing.T) {
		l := newLine(t, 1)
		l.open(time.Minute, 0)
		l.want("start 0")
		l.started(0)
		l.close(0)
		l.want("tell opened 0", "stop 0")
		l.queue.down(0, strategy.Crashed)
		l.want()
		l.queue.stopped(0)
		l.want("tell closed 0")
	})
	t.Run("or by hand stays this node's", func(t *testing.T) {
		l := newLine(t, 1)
		l.open(time.Minute, 0, 1)
		l.want("start 0")
		l.queue.started(0, strategy.ErrStopped)
		l.queue.down(0, strategy.Stopped)
		l.want("tell opened 0: the shard was stopped while it opened", "start 1")
		l.started(1)
		l.queue.down(1, strategy.Stopped)
		l.close(0, 1)
		l.want("tell opened 1", "stop 0")
	})
}
