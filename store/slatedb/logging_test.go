package slatedb

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/internal/testlog"
	"github.com/slap-go/slap/store"
)

const (
	waitLong  = 30 * time.Second
	pollOften = 5 * time.Millisecond
)

// logTo directs the engine's log for one test.
func logTo(t *testing.T, log *slog.Logger) {
	t.Helper()
	require.NoError(t, LogTo(log))
	t.Cleanup(func() { require.NoError(t, LogTo(nil)) })
}

func TestLogTo(t *testing.T) {
	log, written := newLog()
	logTo(t, log)
	db := openDB(t, openStore(t, store.Memory()), "logged", nil)
	require.NoError(t, db.Close(t.Context(), nil))
	require.NoError(t, LogTo(nil))
	text := written.String()
	require.Contains(t, text, `level=INFO msg="opening SlateDB database`)
	require.Contains(t, text, "target=slatedb::")

	openDB(t, openStore(t, store.Memory()), "not logged", nil)
	require.Equal(t, text, written.String(), "nothing is written any more")

	other, also := newLog()
	require.NoError(t, LogTo(other))
	openDB(t, openStore(t, store.Memory()), "logged again", nil)
	require.NoError(t, LogTo(nil))
	require.Contains(t, also.String(), "logged again")
}

// The tasks of a database that was fenced each call that an error.
func TestTheEndOfADatabaseIsNoErrorInTheLog(t *testing.T) {
	log, written := newLog()
	logTo(t, log)
	first, second, _, _ := unaware(t)
	require.ErrorIs(t, first.Flush(t.Context(), WAL), ErrClosed)
	require.ErrorIs(t, first.Close(t.Context(), nil), ErrFenced)
	require.NoError(t, second.Close(t.Context(), nil))
	require.NoError(t, LogTo(nil))
	text := written.String()
	require.Contains(t, text, "error=Fenced")
	for line := range strings.Lines(text) {
		if strings.Contains(line, "error=Fenced") || strings.Contains(line, "error=Closed") {
			require.Contains(t, line, "level=DEBUG")
		}
	}
}

// TestLogToABadHandler logs to one that panics and blocks: the engine goes on.
func TestLogToABadHandler(t *testing.T) {
	h := &badHandler{open: make(chan struct{})}
	logTo(t, slog.New(h))
	opened := sync.OnceFunc(func() { close(h.open) })
	defer opened()
	h.block.Store(true)
	db := openDB(t, openStore(t, store.Memory()), "a", nil)
	_, err := db.Put(t.Context(), []byte("k"), []byte("v"), nil)
	require.NoError(t, err)
	require.NoError(t, db.Close(t.Context(), nil))
	opened()
	require.NoError(t, LogTo(nil))
	require.Positive(t, h.handled.Load())
}

// badHandler panics, or blocks until it is opened.
type badHandler struct {
	block   atomic.Bool
	open    chan struct{}
	handled atomic.Int64
}

// Enabled is as for the other loggers here: the first one settles the engine's level.
func (h *badHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelDebug }

func (h *badHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h *badHandler) WithGroup(string) slog.Handler      { return h }

func (h *badHandler) Handle(context.Context, slog.Record) error {
	h.handled.Add(1)
	if h.block.Load() {
		<-h.open
	}
	panic("bad handler")
}

func TestLogRelayDropsAndCounts(t *testing.T) {
	log, written := newLog()
	r := &logRelay{log: log, records: make(chan slog.Record, 2), stop: make(chan struct{}), stopped: make(chan struct{})}
	for range 5 {
		r.offer(logRecord{level: logWarn, message: "too many", target: "t"})
	}
	go r.run()
	r.end()
	require.Equal(t, 2, strings.Count(written.String(), "too many"))
	require.Contains(t, written.String(), "records=3")
}

func TestLogLevels(t *testing.T) {
	for want, level := range map[logLevel]slog.Level{
		logTrace: LevelTrace, logDebug: slog.LevelDebug, logInfo: slog.LevelInfo,
		logWarn: slog.LevelWarn, logError: slog.LevelError, logOff: slog.LevelError + 1,
	} {
		log := slog.New(slog.NewTextHandler(&testlog.Buffer{}, &slog.HandlerOptions{Level: level}))
		require.Equal(t, want, lowestLevel(log))
		if want != logOff {
			require.Equal(t, level, want.slog())
		}
	}
	require.Equal(t, slog.LevelError, logLevel(99).slog())
}

func TestLogToWhileLoggersChange(t *testing.T) {
	logTo(t, slog.New(slog.DiscardHandler))
	s := openStore(t, store.Memory())
	stop := make(chan struct{})
	var changers sync.WaitGroup
	for range 2 {
		changers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					log, _ := newLog()
					_ = LogTo(log)
				}
			}
		})
	}
	for range 20 {
		db := openDB(t, s, "a", nil)
		require.NoError(t, db.Close(t.Context(), nil))
	}
	close(stop)
	changers.Wait()
}
