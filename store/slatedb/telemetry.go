package slatedb

import (
	"encoding/binary"
	"math"
)

// logLevel is the engine's level of a log record.
type logLevel uint32

// The engine's levels, in its order.
const (
	logOff logLevel = iota + 1
	logError
	logWarn
	logInfo
	logDebug
	logTrace
)

// A logRecord is what the engine logs.
type logRecord struct {
	level           logLevel
	target, message string
	module, file    string // "" if unknown
	line            uint32 // 0 if unknown
}

// A logSink takes the engine's log records. It runs on the engine's threads, many
// at a time, and must not block or call the engine.
type logSink func(logRecord)

// startLogging sends the engine's records up to a level to a sink, once for the
// process: a second call is an [ErrInvalid].
func startLogging(level logLevel, sink logSink) error {
	if err := load(); err != nil {
		return err
	}
	encoded := binary.BigEndian.AppendUint32(nil, uint32(level))
	callback := binary.BigEndian.AppendUint64([]byte{1}, share(sink))
	_, err := call(initLogging, 0, 0, 0, encoded, callback)
	return err
}

func decodeLogRecord(b []byte) logRecord {
	d := decoder{rest: b}
	r := logRecord{level: logLevel(d.u32()), target: d.text(), message: d.text()}
	r.module, r.file = d.optionalText(), d.optionalText()
	if d.flag() {
		r.line = d.u32()
	}
	return r
}

// instrumentKind is what an instrument measures with; in the order of slate.h.
type instrumentKind uint8

const (
	instrumentCounter instrumentKind = iota
	instrumentGauge
	instrumentUpDownCounter
	instrumentHistogram
)

// A label is a name and a value that an instrument carries.
type label struct{ key, value string }

// An instrument is one of a database's metrics. The engine counts in its cell,
// where it can be read at any time between register and unregister.
type instrument struct {
	kind              instrumentKind
	name, description string
	labels            []label
	bounds            []float64 // of a histogram: upper bounds, inclusive
	cell              *cell
	recorder          metricsRecorder
}

// A metricsRecorder is told which instruments a database has. It is called on
// the engine's threads, many at a time, and must not call the engine. When
// unregister has returned, the instrument is not read any more.
type metricsRecorder interface {
	register(i *instrument)
	unregister(i *instrument)
}

func decodeLabels(b []byte) []label {
	d := decoder{rest: b}
	return decodeList(&d, func(d *decoder) label { return label{d.text(), d.text()} })
}

// decodeBounds reads a list of numbers, or nothing.
func decodeBounds(b []byte) []float64 {
	d := decoder{rest: b}
	return decodeList(&d, func(d *decoder) float64 { return math.Float64frombits(d.u64()) })
}
