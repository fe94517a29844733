package tour

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// teller writes the tour's lines, those of a step with the time since it began. It is safe
// for concurrent use.
type teller struct {
	mu    sync.Mutex
	out   io.Writer
	began time.Time // of the step
	last  time.Time // of the newest line
}

// begin tells what is about to happen, then lets the clock begin.
func (t *teller) begin(number int, s step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "\n%d %s: %s\n", number, s.name, s.title)
	t.began = time.Now()
	t.last = t.began
}

func (t *teller) sayf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = time.Now()
	fmt.Fprintf(t.out, "%7.2f s  %s\n", t.last.Sub(t.began).Seconds(), strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// silent is for how long nothing was told.
func (t *teller) silent() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Since(t.last)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
