package slatedb

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/slap-go/slap/internal/clock"
)

// LevelTrace is the level of the engine's most detailed records.
const LevelTrace = slog.LevelDebug - 4

// logQueueLength is how many records wait for a slow logger before more are
// dropped and counted.
const logQueueLength = 1024

// LogTo sends the engine's log records to a logger: those of all databases of the
// process, since the engine knows one log only. Another call replaces the logger;
// nil ends the logging and returns when the last record has been written.
//
// The engine decides once what it logs: the first logger that is enabled for any
// level settles it, by the lowest that it is enabled for. Below Info nothing shows that the engine
// retries. A logger that is slow or that panics never holds up the engine; records
// that it does not keep up with are dropped, and their number is logged.
//
// The engine calls it an error in each of a database's tasks that the database was fenced or
// closed, ten times for one fence. These records come at Debug: [ErrFenced], [ErrClosed] and
// [DB.Status] tell of it.
func LogTo(log *slog.Logger) error {
	logging.Lock()
	defer logging.Unlock()
	if old := logging.relay.Swap(nil); old != nil {
		old.end()
	}
	if log == nil {
		return nil
	}
	if level := lowestLevel(log); !logging.started && level != logOff {
		if err := startLogging(level, relayRecord); err != nil {
			return err
		}
		logging.started = true
	}
	logging.relay.Store(newLogRelay(log))
	return nil
}

// logging is the process's: the engine's logging is started once and never ends.
var logging struct {
	sync.Mutex
	started bool
	relay   atomic.Pointer[logRelay]
}

// relayRecord takes a record on one of the engine's threads.
func relayRecord(r logRecord) {
	if relay := logging.relay.Load(); relay != nil {
		relay.offer(r)
	}
}

// levels are the engine's levels, the most detailed first.
var levels = []struct {
	engine logLevel
	slog   slog.Level
}{
	{logTrace, LevelTrace},
	{logDebug, slog.LevelDebug},
	{logInfo, slog.LevelInfo},
	{logWarn, slog.LevelWarn},
	{logError, slog.LevelError},
}

// lowestLevel is the engine's level that shows all that the logger is enabled for.
func lowestLevel(log *slog.Logger) logLevel {
	for _, l := range levels {
		if log.Enabled(context.Background(), l.slog) {
			return l.engine
		}
	}
	return logOff
}

func (l logLevel) slog() slog.Level {
	for _, known := range levels {
		if known.engine == l {
			return known.slog
		}
	}
	return slog.LevelError
}

// A logRelay writes records with a goroutine of its own.
type logRelay struct {
	log     *slog.Logger
	records chan slog.Record
	dropped atomic.Int64
	stop    chan struct{}
	stopped chan struct{}
}

func newLogRelay(log *slog.Logger) *logRelay {
	r := &logRelay{
		log:     log,
		records: make(chan slog.Record, logQueueLength),
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
	}
	go r.run()
	return r
}

// offer never blocks.
func (r *logRelay) offer(record logRecord) {
	level := record.level.slog()
	if tellsOfAnEnd(record.message) {
		level = min(level, slog.LevelDebug)
	}
	s := slog.NewRecord(clock.Now(), level, record.message, 0)
	s.AddAttrs(slog.String("target", record.target))
	select {
	case r.records <- s:
	default:
		r.dropped.Add(1)
	}
}

// ends are what the records say in which a task ends because its database does.
var ends = []string{"error=Fenced,", "error=Fenced]", "error=Closed,", "error=Closed]", "kind: Closed(Fenced)", "kind: Closed(Clean)"}

func tellsOfAnEnd(message string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.Contains(message, end) })
}

func (r *logRelay) run() {
	defer close(r.stopped)
	for {
		select {
		case record := <-r.records:
			r.write(record)
		case <-r.stop:
			r.drain()
			return
		}
	}
}

func (r *logRelay) drain() {
	for {
		select {
		case record := <-r.records:
			r.write(record)
		default:
			return
		}
	}
}

// write gives a record to the logger. A panic in there concerns that record only.
func (r *logRelay) write(record slog.Record) {
	defer func() { _ = recover() }()
	if r.log.Enabled(context.Background(), record.Level) {
		_ = r.log.Handler().Handle(context.Background(), record) // as slog itself does
	}
	if n := r.dropped.Swap(0); n > 0 {
		r.log.Warn("records of the engine's log were dropped: the logger is too slow", "records", n)
	}
}

func (r *logRelay) end() {
	close(r.stop)
	<-r.stopped
}

// logger is where this package logs by itself.
func logger() *slog.Logger {
	if r := logging.relay.Load(); r != nil {
		return r.log
	}
	return slog.Default()
}
