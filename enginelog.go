package slap

import (
	"log/slog"
	"sync"

	"github.com/slap-go/slap/store/slatedb"
)

// engineLog counts the nodes of this process whose logger the engine, which has
// one log for the process, writes to. The last one to start gets the records.
var engineLog struct {
	sync.Mutex
	nodes int
}

func beginEngineLog(logger *slog.Logger) error {
	engineLog.Lock()
	defer engineLog.Unlock()
	if err := slatedb.LogTo(quiet(logger)); err != nil {
		return err
	}
	engineLog.nodes++
	return nil
}

func endEngineLog() error {
	engineLog.Lock()
	defer engineLog.Unlock()
	if engineLog.nodes--; engineLog.nodes > 0 {
		return nil
	}
	return slatedb.LogTo(nil)
}
