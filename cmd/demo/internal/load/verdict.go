package load

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

// Verdict says what is wrong with the service. Its zero value says: nothing.
type Verdict struct { //nolint:recvcheck // only this package changes one
	Lost  int64 // acknowledged writes that are gone
	Twice int64 // values or ETags that were acknowledged twice
	Extra int64 // writes that happened although they were reported not executed

	First string // the first thing found, for people
}

// OK says whether nothing is wrong.
func (v Verdict) OK() bool { return v.Lost+v.Twice+v.Extra == 0 }

func (v *Verdict) losef(n int64, format string, args ...any) { v.find(&v.Lost, n, format, args) }

func (v *Verdict) twicef(format string, args ...any) { v.find(&v.Twice, 1, format, args) }

func (v *Verdict) extraf(n int64, format string, args ...any) { v.find(&v.Extra, n, format, args) }

func (v *Verdict) find(count *int64, n int64, format string, args []any) {
	if v.OK() {
		v.First = fmt.Sprintf(format, args...)
	}
	*count += n
}

func (v *Verdict) add(other Verdict) {
	if v.OK() {
		v.First = other.First
	}
	v.Lost += other.Lost
	v.Twice += other.Twice
	v.Extra += other.Extra
}

// Verify reads every key that was written and compares it with the book. It is
// called between runs and tries until ctx ends to get every answer.
func (l *Load) Verify(ctx context.Context) (Verdict, error) {
	var checks []check
	for _, c := range l.counters {
		checks = append(checks, c.verify)
	}
	for _, v := range l.values {
		checks = append(checks, v.verify)
	}
	verdicts, errs := make([]Verdict, len(checks)), make([]error, len(checks))
	var all sync.WaitGroup // at once: each waits until what it read is confirmed
	for i, c := range checks {
		all.Go(func() { verdicts[i], errs[i] = l.verify(ctx, c, i) })
	}
	all.Wait()
	var total Verdict
	for i, verdict := range verdicts {
		if errs[i] != nil {
			return total, errs[i]
		}
		total.add(verdict)
	}
	return total, nil
}

// check reads one key.
type check func(context.Context, *client.Client) (Verdict, error)

// verify makes one check, by the nodes in turn from the n-th on.
func (l *Load) verify(ctx context.Context, one check, n int) (Verdict, error) {
	for tries := 0; ; tries++ {
		node := l.nodes.next(n+tries, time.Now())
		verdict, err := one(ctx, node.Client)
		node.note(err, time.Now())
		if err == nil {
			return verdict, nil
		}
		if ctx.Err() != nil {
			return verdict, fmt.Errorf("not everything could be read back: %w", err)
		}
		Pause(ctx, 5*pause+time.Duration(tries)*pause)
	}
}

// String is one sentence.
func (v Verdict) String() string {
	if v.OK() {
		return "0 acknowledged writes lost, 0 acknowledged twice"
	}
	return fmt.Sprintf("%d acknowledged writes lost, %d acknowledged twice, %d happened that were reported as not executed: %s",
		v.Lost, v.Twice, v.Extra, v.First)
}
