package node

import (
	"io"
	"log/slog"
	"math"
)

// log is the node's log. It is silent until the node has started: what keeps it
// from starting is told in one sentence instead.
type log struct {
	*slog.Logger

	level *slog.LevelVar
}

func newLog(w io.Writer) *log {
	level := &slog.LevelVar{}
	level.Set(math.MaxInt)
	return &log{slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), level}
}

// open lets the log speak from now on.
func (l *log) open() { l.level.Set(slog.LevelInfo) }
