package settings

import "time"

// A group is the settings of one object, by key.
type group map[string]setting

// A setting is what this version of the engine takes for one key, less what
// makes it hang, spin, panic or lose data.
type setting struct {
	kind     kind
	nullable bool
	min, max uint64   // of a number, or in nanoseconds
	choices  []string // of a choice
	because  string   // what a value below the minimum does
	settings group    // of an object: its own settings
}

// The kinds of settings.
type kind uint8

const (
	flag    kind = iota
	on           // true
	text         // a string
	choice       // one of a few strings
	number       // a whole number
	span         // a duration
	numeral      // a whole number in a string
	decimal      // a number in a string, at least the minimum
)

const (
	year    = uint64(365 * 24 * time.Hour)
	largest = uint64(1) << 40 // of sizes: 1 TiB
)

// polls is how often something is looked after that writes wait for in the end.
func polls() setting {
	return setting{
		kind: span, min: uint64(20 * time.Millisecond), max: uint64(10 * time.Minute),
		because: "the engine would poll almost without a pause",
	}
}

// collects is how often the garbage collector lists files.
func collects() setting {
	return optional(setting{
		kind: span, min: uint64(100 * time.Millisecond), max: year,
		because: "the engine would list files almost without a pause",
	})
}

// tasks is how much goes on at a time; none would get nothing done.
func tasks() setting {
	return setting{kind: number, min: 1, max: 1024, because: "nothing would ever be done"}
}

// compacts is polls for the compactor, of which each costs several requests.
func compacts() setting {
	s := polls()
	s.min = uint64(50 * time.Millisecond)
	return s
}

func optional(s setting) setting {
	s.nullable = true
	return s
}

func object(g group) setting { return setting{settings: g} }

var (
	retries     = optional(setting{kind: number, max: 1<<32 - 1})
	timeout     = setting{kind: span, min: uint64(time.Second), max: year, because: "no update would ever succeed"}
	codec       = optional(setting{kind: choice, choices: []string{"Snappy", "Zlib", "Lz4", "Zstd"}})
	metricLevel = setting{kind: choice, choices: []string{"Debug", "Info"}}
	filterKeys  = setting{kind: number, max: 1<<32 - 1}
)

// collection is when and what the garbage collector collects of one kind.
func collection() setting {
	return optional(object(group{
		"interval": collects(),
		"min_age": {
			kind: span, min: uint64(time.Second), max: year,
			because: "files would be deleted before anything refers to them",
		},
		"dry_run": {kind: flag},
	}))
}

// known are all settings of the engine's version.
var known = group{
	"flush_interval": optional(setting{
		kind: span, min: uint64(time.Millisecond), max: year,
		because: "the engine would flush without a pause",
	}),
	"wal_enabled":             {kind: on},
	"manifest_poll_interval":  polls(),
	"manifest_update_timeout": timeout,
	"min_filter_keys":         filterKeys,
	"l0_sst_size_bytes": {
		kind: number, min: 64 << 10, max: largest,
		because: "almost every write would become a table of its own",
	},
	"max_wal_flushes_before_l0_flush": {kind: number, min: 4096, max: 1 << 63, because: "the engine refuses it"},
	"l0_max_ssts":                     {kind: number, min: 2, max: 1 << 20, because: "nothing could ever be flushed"},
	"l0_max_ssts_per_key":             {kind: number, min: 2, max: 1 << 20, because: "nothing could ever be flushed"},
	"l0_flush_parallelism":            tasks(),
	"max_unflushed_bytes":             {kind: number, min: 128 << 10, max: largest, because: "writes would wait for ever"},
	"compactor_options":               optional(object(compactorSettings)),
	"compression_codec":               codec,
	"object_store_cache_options":      object(storeCacheSettings),
	"garbage_collector_options":       optional(object(collectorSettings)),
	"metric_level":                    metricLevel,
	"default_ttl_millis": optional(setting{
		kind: number, min: 1, max: 1 << 62, because: "every value would expire at once",
	}),
	"object_store_max_retries": retries,
}

var compactorSettings = group{
	"poll_interval":              compacts(),
	"manifest_update_timeout":    timeout,
	"max_concurrent_compactions": tasks(),
	"enable_trivial_move":        {kind: flag},
	"scheduler_options": object(group{
		"min_compaction_sources": {kind: numeral, min: 2, max: 1 << 20, because: "tables would be compacted over and over"},
		"max_compaction_sources": {kind: numeral, min: 2, max: 1 << 20, because: "nothing would ever be compacted"},
		"include_size_threshold": {kind: decimal, min: 1, because: "sorted runs would never be compacted"},
		"sorted_run_consolidation_threshold": {
			kind: numeral, min: 2, max: 1 << 20, because: "sorted runs would be compacted over and over",
		},
	}),
	"worker": optional(object(group{
		"max_concurrent_compactions": tasks(),
		"compactions_poll_interval":  compacts(),
		"heartbeat_interval":         compacts(),
		"max_sst_size": {
			kind: number, min: 64 << 10, max: largest, because: "compactions would write countless tables",
		},
		"max_fetch_tasks":    tasks(),
		"bytes_to_fetch":     {kind: number, min: 1, max: largest, because: "compactions would crash"},
		"max_subcompactions": tasks(),
		"min_filter_keys":    filterKeys,
		"compression_codec":  codec,
		"metric_level":       optional(metricLevel),
	})),
	"metric_level":              optional(metricLevel),
	"commit_compacted_interval": compacts(),
	"checkpoint_lifetime": {
		kind: span, min: uint64(10 * time.Second), max: year,
		because: "tables that a compaction reads could be collected",
	},
	"worker_heartbeat_timeout": {
		kind: span, min: uint64(100 * time.Millisecond), max: year,
		because: "every compaction would be taken for dead",
	},
	"object_store_max_retries": retries,
}

var storeCacheSettings = group{
	"root_folder":          optional(setting{kind: text}),
	"max_cache_size_bytes": optional(setting{kind: number, max: 1 << 60}),
	"part_size_bytes": {
		kind: number, min: 1024, max: 1 << 30, because: "the engine refuses it",
	},
	"cache_on_flush":                {kind: flag},
	"cache_on_compaction":           {kind: flag},
	"preload_disk_cache_on_startup": optional(setting{kind: choice, choices: []string{"L0Sst", "AllSst"}}),
	"scan_interval": optional(setting{
		kind: span, min: uint64(time.Second), max: year,
		because: "the engine would read the folder almost without a pause",
	}),
	"max_open_file_handles": {kind: number, min: 1, max: 1 << 20, because: "the engine would panic"},
}

var collectorSettings = group{
	"manifest_options":         collection(),
	"wal_options":              collection(),
	"wal_fence_options":        collection(),
	"compacted_options":        collection(),
	"compactions_options":      collection(),
	"detach_options":           optional(object(group{"interval": collects()})),
	"metric_level":             optional(metricLevel),
	"boundary_files_enabled":   {kind: flag},
	"object_store_max_retries": retries,
}
