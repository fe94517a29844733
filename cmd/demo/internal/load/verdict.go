package load

import (
	"context"
	"fmt"
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
	var verdict Verdict
	for _, c := range l.counters {
		if err := l.verify(ctx, &verdict, c.verify); err != nil {
			return verdict, err
		}
	}
	for _, v := range l.values {
		if err := l.verify(ctx, &verdict, v.verify); err != nil {
			return verdict, err
		}
	}
	return verdict, nil
}

func (l *Load) verify(ctx context.Context, total *Verdict, one func(context.Context, *client.Client) (Verdict, error)) error {
	for turn := 0; ; turn++ {
		verdict, err := one(ctx, l.nodes[turn%len(l.nodes)].Client)
		if err == nil {
			total.add(verdict)
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("not everything could be read back: %w", err)
		}
		Pause(ctx, 5*pause+time.Duration(turn)*pause)
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
