package node

import (
	"context"
	"io"
	"log/slog"
	"sync"
)

// log is the node's log. It is silent until the node has started: what keeps it
// from starting is told in one sentence instead.
type log struct {
	*slog.Logger

	sink *sink
}

func newLog(w io.Writer) *log {
	s := &sink{}
	return &log{slog.New(&handler{slog.NewTextHandler(w, nil), s}), s}
}

// open lets the log speak from now on.
func (l *log) open() {
	l.sink.mu.Lock()
	defer l.sink.mu.Unlock()
	l.sink.opened = true
}

// trouble is the first error that was not written; nil if there was none.
func (l *log) trouble() error {
	l.sink.mu.Lock()
	defer l.sink.mu.Unlock()
	return l.sink.first
}

type sink struct {
	mu     sync.Mutex
	opened bool
	first  error
}

// keep remembers the record's error and says whether the record is to be written.
func (s *sink) keep(r slog.Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened || s.first != nil || r.Level < slog.LevelError {
		return s.opened
	}
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			s.first = err
		}
		return s.first == nil
	})
	return false
}

// handler writes what the sink lets through.
type handler struct {
	slog.Handler

	sink *sink
}

// Handle writes the record, or remembers its error.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if !h.sink.keep(r) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs is the handler with more attributes.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.sink}
}

// WithGroup is the handler with a group opened.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.sink}
}
