package actors

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/metric"

	"github.com/slap-go/slap/messages"
)

// Events is where everything that happens on a node is told: to the log, to the meters,
// and to whoever reads along. It is safe for concurrent use.
type Events struct {
	log    *slog.Logger
	meters *eventMeters

	readers atomic.Pointer[[]*reader]
	mu      sync.Mutex // guards changes of readers, and closed
	closed  bool
}

// NewEvents makes a place for the events of one node, which logs them and counts them.
func NewEvents(log *slog.Logger, meters metric.MeterProvider) *Events {
	e := &Events{log: log, meters: newEventMeters(meters)}
	e.readers.Store(new([]*reader))
	return e
}

// Publish tells everybody. It waits for nobody but the logger.
func (e *Events) Publish(event messages.Event) {
	e.write(event)
	e.meters.count(event)
	for _, r := range *e.readers.Load() {
		r.put(event)
	}
}

// heard says whether anybody hears of events of the level.
func (e *Events) heard(level slog.Level) bool {
	ctx := context.Background()
	return len(*e.readers.Load()) > 0 || e.log.Enabled(ctx, level) || e.meters.published.Enabled(ctx)
}

// write logs the event. Its attributes are made only for a log that wants them.
func (e *Events) write(event messages.Event) {
	ctx, level := context.Background(), event.Level()
	if e.log.Enabled(ctx, level) {
		e.log.LogAttrs(ctx, level, event.String(), event.Attrs()...)
	}
}

// Read gives the events from now on, also those that come before the loop begins. The
// loop ends when ctx does and, with the last event, when the node has ended; a second
// loop over the same sequence gives nothing. At most buffer events, one at least, wait
// for the loop; of those that it misses it is told in a [messages.EventsMissed].
func (e *Events) Read(ctx context.Context, buffer int) iter.Seq[messages.Event] {
	r := &reader{limit: max(buffer, 1), wake: make(chan struct{}, 1), missing: e.meters.miss}
	e.add(r)
	detach := context.AfterFunc(ctx, func() { e.remove(r) })
	return func(yield func(messages.Event) bool) {
		if !r.looped.CompareAndSwap(false, true) {
			return
		}
		defer detach()
		defer e.remove(r)
		for {
			event, ok := r.next(ctx)
			if !ok {
				return
			}
			if missed, is := event.(messages.EventsMissed); is {
				e.write(missed)
			}
			if !yield(event) {
				return
			}
		}
	}
}

// Close ends all loops once they have read what waits for them. What is published later
// is only logged and counted. A second call does nothing.
func (e *Events) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for _, r := range *e.readers.Swap(new([]*reader)) {
		r.close()
	}
}

func (e *Events) add(r *reader) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		r.close()
		return
	}
	all := append(slices.Clone(*e.readers.Load()), r)
	e.readers.Store(&all)
}

// remove ends the reader's loop and forgets what waits for it.
func (e *Events) remove(r *reader) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(*e.readers.Load()), func(other *reader) bool { return other == r })
	e.readers.Store(&all)
	r.drop()
}
