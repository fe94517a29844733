package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

const (
	idleName      = "slatedb-idle512"
	idleDatabases = 512
	idleTime      = 5 * time.Second
)

// idleCosts is what many databases cost that nobody uses.
type idleCosts struct {
	OpenSeconds float64 `json:"open_seconds"` // all of them
	Kilobytes   float64 `json:"kilobytes"`    // of resident memory for each
	CPU         float64 `json:"cpu"`          // percent of one core, all of them
}

// idleLines measures the costs on each kind of store, in processes of their own
// so that nothing else counts.
func idleLines(ctx context.Context, say func(string, ...any)) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, c := range []struct{ store, flush string }{
		{"memory", "100ms"}, {"memory", "null"}, {"file", "100ms"}, {"file", "null"},
	} {
		say("idle databases: %d on %s, flush_interval %s", idleDatabases, c.store, c.flush)
		cmd := exec.CommandContext(ctx, self, "-idle", c.store, "-flush", c.flush)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		var costs idleCosts
		if err == nil {
			err = json.Unmarshal(out, &costs)
		}
		if err != nil {
			return nil, fmt.Errorf("idle databases on %s: %w", c.store, err)
		}
		lines = append(lines, costs.line(c.store, c.flush))
	}
	return lines, nil
}

func (c idleCosts) line(kind, flush string) string {
	return fmt.Sprintf("info: %s-%s flush_interval=%s opened=%.2fs memory=%.0fkB/database cpu=%.1f%% of a core (%.0fµs/s/database)",
		idleName, kind, flush, c.OpenSeconds, c.Kilobytes, c.CPU, c.CPU*1e4/idleDatabases)
}

// reportIdle is the process that measures one kind of store.
func reportIdle(ctx context.Context, kind, flush string, out io.Writer) error {
	s := store.Memory()
	if kind == "file" {
		dir, err := os.MkdirTemp("", "slap-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // nothing needs it any more
		s = store.Dir(dir)
	}
	settings := map[string]any{"flush_interval": nil}
	if flush != "null" {
		settings["flush_interval"] = flush
	}
	return withObjects(ctx, s, func(objects *slatedb.ObjectStore) error {
		costs, err := costsOf(ctx, objects, &slatedb.Options{Settings: settings})
		return errors.Join(err, json.NewEncoder(out).Encode(costs))
	})
}

func costsOf(ctx context.Context, objects *slatedb.ObjectStore, o *slatedb.Options) (c idleCosts, err error) {
	warm, err := openMany(ctx, objects, 1, 1, o) // what the engine allocates once does not count
	if err = errors.Join(err, closeMany(ctx, warm)); err != nil {
		return c, err
	}
	before, began := residentBytes(), clock.Now()
	dbs, err := openMany(ctx, objects, idleDatabases, openedAtOnce, o)
	c.OpenSeconds = clock.Since(began).Seconds()
	if err == nil {
		err = clock.Sleep(ctx, time.Second) // what the opens left behind
	}
	if err == nil {
		c.Kilobytes = (residentBytes() - before) / idleDatabases / 1e3
		used := cpuTime()
		err = clock.Sleep(ctx, idleTime)
		c.CPU = 100 * (cpuTime() - used).Seconds() / idleTime.Seconds()
	}
	return c, errors.Join(err, closeMany(ctx, dbs))
}

// residentBytes is the process's memory, 0 where the system does not tell.
func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	var size, resident float64
	if err == nil {
		_, err = fmt.Fscan(bytes.NewReader(text), &size, &resident)
	}
	if err != nil {
		return 0
	}
	return resident * float64(os.Getpagesize())
}

// cpuTime is the time that the process has used of all processors.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
