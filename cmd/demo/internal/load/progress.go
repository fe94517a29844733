package load

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress writes a line each second until ctx ends, with what was counted since
// the given tally, and says when a node is gone.
func (l *Load) Progress(ctx context.Context, w io.Writer, since Tally) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var before Tally
	said := ""
	for second := 1; ; second++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := l.Tally().Since(since)
		fmt.Fprintf(w, "  %3d s  %s, %d/s\n", second, now, now.Acknowledged-before.Acknowledged)
		before = now
		absent := strings.Join(l.Absent(), ", ")
		if absent != "" && absent != said {
			fmt.Fprintf(w, "  no node answers at %s\n", absent)
		}
		said = absent
	}
}

// String is the tally on one line.
func (t Tally) String() string {
	return fmt.Sprintf("%7d acknowledged  %5d not executed  %4d unknown  p50 %s  p99 %s",
		t.Acknowledged, t.NotExecuted, t.Unknown, short(t.P50), short(t.P99))
}

func short(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}
