package load

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

// Tally counts how requests ended. The latencies are those of acknowledged
// writes, within a tenth.
type Tally struct {
	Acknowledged, NotExecuted, Unknown int64

	P50, P99 time.Duration

	latencies latencies
}

// Since is what was counted after an earlier tally.
func (t Tally) Since(earlier Tally) Tally {
	for i, n := range earlier.latencies {
		t.latencies[i] -= n
	}
	t.Acknowledged -= earlier.Acknowledged
	t.NotExecuted -= earlier.NotExecuted
	t.Unknown -= earlier.Unknown
	return t.rank()
}

func (t Tally) rank() Tally {
	t.P50, t.P99 = t.latencies.quantile(0.5), t.latencies.quantile(0.99)
	return t
}

// Tally is the count over all runs so far.
func (l *Load) Tally() Tally {
	t := &l.tally
	return Tally{
		Acknowledged: t.acknowledged.Load(),
		NotExecuted:  t.notExecuted.Load(),
		Unknown:      t.unknown.Load(),
		latencies:    t.latencies.read(),
	}.rank()
}

type tally struct {
	acknowledged, notExecuted, unknown atomic.Int64

	newest    atomic.Pointer[error] // of the unknown outcomes
	latencies histogram
}

func (t *tally) add(err error, took time.Duration) {
	switch {
	case err == nil:
		t.acknowledged.Add(1)
		t.latencies.add(took)
	case errors.Is(err, client.ErrNotExecuted):
		t.notExecuted.Add(1)
	default:
		t.newest.Store(&err)
		t.unknown.Add(1)
	}
}

// NewestUnknown is the error of the newest write with an unknown outcome; nil without one.
func (l *Load) NewestUnknown() error {
	if err := l.tally.newest.Load(); err != nil {
		return *err
	}
	return nil
}

// histogram has eight buckets for each doubling, from a microsecond to an hour.
type histogram [256]atomic.Int64

func (h *histogram) add(d time.Duration) {
	bucket := int(8 * math.Log2(max(1, float64(d)/float64(time.Microsecond))))
	h[min(bucket, len(h)-1)].Add(1)
}

// latencies is a histogram as it was read.
type latencies [256]int64

func (h *histogram) read() latencies {
	var l latencies
	for i := range h {
		l[i] = h[i].Load()
	}
	return l
}

func (l *latencies) quantile(q float64) time.Duration {
	total := int64(0)
	for _, n := range l {
		total += n
	}
	rank := int64(math.Ceil(q * float64(total)))
	for i, n := range l {
		if rank -= n; rank <= 0 && total > 0 {
			return time.Duration(math.Exp2((float64(i)+0.5)/8) * float64(time.Microsecond))
		}
	}
	return 0
}
