package settings

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// A relation is what two settings demand of each other: the greater is at least
// the lesser, or so many times that.
type relation struct {
	greater, lesser string
	times           uint64
	because         string
}

const scheduler = "compactor_options.scheduler_options."

var relations = []relation{
	{
		"l0_max_ssts", scheduler + "min_compaction_sources", 1,
		"writes would stop at that many tables and no compaction begin",
	},
	{
		"l0_max_ssts_per_key", scheduler + "min_compaction_sources", 1,
		"writes would stop at that many tables and no compaction begin",
	},
	{
		scheduler + "max_compaction_sources", scheduler + "min_compaction_sources", 1,
		"no compaction would ever begin",
	},
	{
		"compactor_options.worker_heartbeat_timeout", "compactor_options.worker.heartbeat_interval", 2,
		"compactions at work would be taken for dead",
	},
}

// implied are the engine's defaults that its JSON does not show.
var implied = map[string]uint64{
	scheduler + "min_compaction_sources": 4,
	scheduler + "max_compaction_sources": 8,
}

// checkRelations checks all settings together. With a relation broken a database
// stops taking writes sooner or later.
func checkRelations(all tree) error {
	unflushed, _ := all.number("max_unflushed_bytes")
	if table, _ := all.number("l0_sst_size_bytes"); unflushed <= table {
		return fmt.Errorf("setting \"max_unflushed_bytes\" is %d, it must be more than l0_sst_size_bytes, which is %d, "+
			"or no table could be filled", unflushed, table)
	}
	for _, r := range relations {
		greater, ok := all.number(r.greater)
		lesser, also := all.number(r.lesser)
		if ok && also && greater < r.times*lesser {
			return fmt.Errorf("setting %q is %s, it must be at least %d times %s, which is %s, or %s",
				r.greater, all.text(r.greater), r.times, r.lesser, all.text(r.lesser), r.because)
		}
	}
	return nil
}

// number is the number or the nanoseconds at a path. There is none at a path
// through an object that is null.
func (t tree) number(path string) (uint64, bool) {
	switch v := t.at(path).(type) {
	case uint64:
		return v, true
	case json.Number:
		n, err := strconv.ParseUint(v.String(), 10, 64)
		return n, err == nil
	case string:
		if n, err := strconv.ParseUint(v, 10, 64); err == nil {
			return n, true
		}
		d, err := time.ParseDuration(v)
		return uint64(d), err == nil
	}
	n, ok := implied[path]
	return n, ok && t.at("compactor_options") != nil
}

// text is the value at a path as an error shows it.
func (t tree) text(path string) string {
	if v := t.at(path); v != nil {
		return shown(v)
	}
	return strconv.FormatUint(implied[path], 10)
}
