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
}

// Tally is the count over all runs so far.
func (l *Load) Tally() Tally {
	t := &l.tally
	return Tally{
		Acknowledged: t.acknowledged.Load(),
		NotExecuted:  t.notExecuted.Load(),
		Unknown:      t.unknown.Load(),
		P50:          t.latencies.quantile(0.5),
		P99:          t.latencies.quantile(0.99),
	}
}

type tally struct {
	acknowledged, notExecuted, unknown atomic.Int64

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
		t.unknown.Add(1)
	}
}

// histogram has eight buckets for each doubling, from a microsecond to an hour.
type histogram [256]atomic.Int64

func (h *histogram) add(d time.Duration) {
	bucket := int(8 * math.Log2(max(1, float64(d)/float64(time.Microsecond))))
	h[min(bucket, len(h)-1)].Add(1)
}

func (h *histogram) quantile(q float64) time.Duration {
	total := int64(0)
	for i := range h {
		total += h[i].Load()
	}
	rank := int64(math.Ceil(q * float64(total)))
	for i := range h {
		if rank -= h[i].Load(); rank <= 0 && total > 0 {
			return time.Duration(math.Exp2((float64(i)+0.5)/8) * float64(time.Microsecond))
		}
	}
	return 0
}
