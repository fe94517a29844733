package settings

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// engineDefaults are the engine's defaults as this version has them.
func engineDefaults(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/defaults.json")
	require.NoError(t, err)
	return string(text)
}

func merged(t *testing.T, given map[string]any) tree {
	t.Helper()
	text, err := Merge(engineDefaults(t), given)
	require.NoError(t, err)
	all, err := decodeObject(text)
	require.NoError(t, err)
	return all
}

func TestMergeKeepsDefaults(t *testing.T) {
	want, err := decodeObject(engineDefaults(t))
	require.NoError(t, err)
	want["max_unflushed_bytes"] = json.Number("268435456")
	require.Equal(t, want, merged(t, nil))
}

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		given map[string]any
		path  string
		want  any
	}{
		"duration":          {map[string]any{"flush_interval": "5ms"}, "flush_interval", "5000000ns"},
		"fraction":          {map[string]any{"flush_interval": "1.5s"}, "flush_interval", "1500000000ns"},
		"time.Duration":     {map[string]any{"flush_interval": time.Minute}, "flush_interval", "60000000000ns"},
		"null":              {map[string]any{"flush_interval": nil}, "flush_interval", nil},
		"number":            {map[string]any{"l0_max_ssts": 16}, "l0_max_ssts", json.Number("16")},
		"float of JSON":     {map[string]any{"l0_max_ssts": float64(16)}, "l0_max_ssts", json.Number("16")},
		"json.Number":       {map[string]any{"l0_max_ssts": json.Number("16")}, "l0_max_ssts", json.Number("16")},
		"flag":              {nested("compactor_options.enable_trivial_move", true), "compactor_options.enable_trivial_move", true},
		"choice":            {map[string]any{"compression_codec": "zstd"}, "compression_codec", "Zstd"},
		"nested":            {nested("compactor_options.worker.max_fetch_tasks", 8), "compactor_options.worker.max_fetch_tasks", json.Number("8")},
		"sibling stays":     {nested("compactor_options.worker.max_fetch_tasks", 8), "compactor_options.worker.heartbeat_interval", "10s"},
		"typed map":         {map[string]any{"compactor_options": map[string]string{"poll_interval": "1s"}}, "compactor_options.poll_interval", "1000000000ns"},
		"numeral":           {nested(scheduler+"min_compaction_sources", 2), scheduler + "min_compaction_sources", "2"},
		"numeral as string": {nested(scheduler+"min_compaction_sources", "2"), scheduler + "min_compaction_sources", "2"},
		"decimal":           {nested(scheduler+"include_size_threshold", 2.5), scheduler + "include_size_threshold", "2.5"},
		"object to null":    {map[string]any{"compactor_options": nil}, "compactor_options", nil},
		"retries":           {map[string]any{"object_store_max_retries": 0}, "object_store_max_retries", json.Number("0")},
		"text":              {nested("object_store_cache_options.root_folder", "/x"), "object_store_cache_options.root_folder", "/x"},
		"unflushed follows": {map[string]any{"l0_sst_size_bytes": 1 << 20}, "max_unflushed_bytes", json.Number("4194304")},
		"unflushed given":   {map[string]any{"max_unflushed_bytes": 1 << 30}, "max_unflushed_bytes", json.Number("1073741824")},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, merged(t, c.given).at(c.path)) })
	}
}

// nested is a value at a dotted path.
func nested(path string, value any) map[string]any {
	keys := strings.Split(path, ".")
	slices.Reverse(keys)
	for _, k := range keys {
		value = map[string]any{k: value}
	}
	return value.(map[string]any)
}

func TestMergeLeavesWhatWasGivenAlone(t *testing.T) {
	given := nested("compactor_options.worker.max_fetch_tasks", 8)
	merged(t, given)
	require.Equal(t, nested("compactor_options.worker.max_fetch_tasks", 8), given)
}

func TestMergeRefuses(t *testing.T) {
	both := func(a, b map[string]any) map[string]any { maps.Copy(a, b); return a }
	for name, c := range map[string]struct {
		given map[string]any
		want  string
	}{
		"mistyped": {map[string]any{"flush_intervall": "1s"}, `unknown setting "flush_intervall", did you mean "flush_interval"?`},
		"mistyped case": {
			map[string]any{"Flush_Interval": "1s"}, `unknown setting "Flush_Interval", did you mean "flush_interval"?`,
		},
		"mistyped inside": {
			nested("compactor_options.worker.max_fetch_task", 1),
			`unknown setting "compactor_options.worker.max_fetch_task", did you mean "compactor_options.worker.max_fetch_tasks"?`,
		},
		"in the wrong object": {
			map[string]any{"max_fetch_tasks": 1}, `unknown setting "max_fetch_tasks", did you mean "compactor_options.worker.max_fetch_tasks"?`,
		},
		"far too high": {
			nested("compactor_options.worker.l0_max_ssts", 1), `unknown setting "compactor_options.worker.l0_max_ssts", did you mean "l0_max_ssts"?`,
		},
		"like nothing": {
			nested("garbage_collector_options.detach_options.zzzzzz", 1),
			`unknown setting "garbage_collector_options.detach_options.zzzzzz": the keys of garbage_collector_options.detach_options are interval`,
		},
		"like nothing at the top": {map[string]any{"zzzzzz": 1}, `unknown setting "zzzzzz": the keys of the settings are compactor_options, `},
		"dotted": {
			map[string]any{"compactor_options.poll_interval": "1s"},
			`unknown setting "compactor_options.poll_interval": write its parts as objects inside each other, not with dots`,
		},
		"unknown to the scheduler": {
			nested(scheduler+"foo", "1"), `unknown setting "compactor_options.scheduler_options.foo": the keys of `,
		},

		"number for a duration": {map[string]any{"flush_interval": 100}, `setting "flush_interval" is 100, it must be a duration such as "100ms"`},
		"duration without unit": {map[string]any{"flush_interval": "100"}, `setting "flush_interval" is "100", it must be a duration`},
		"negative duration":     {map[string]any{"flush_interval": "-5s"}, `setting "flush_interval" is "-5s", it must be a duration`},
		"string for a number":   {map[string]any{"l0_max_ssts": "8"}, `setting "l0_max_ssts" is "8", it must be a whole number`},
		"fraction for a number": {map[string]any{"l0_max_ssts": 8.5}, `setting "l0_max_ssts" is 8.5, it must be a whole number`},
		"negative number":       {map[string]any{"l0_max_ssts": -1}, `setting "l0_max_ssts" is -1, it must be a whole number`},
		"huge number":           {map[string]any{"l0_max_ssts": json.Number("99999999999999999999")}, `it must be at most 1048576`},
		"number for a flag":     {nested("compactor_options.enable_trivial_move", 1), `setting "compactor_options.enable_trivial_move" is 1, it must be true or false`},
		"null for a flag":       {nested("compactor_options.enable_trivial_move", nil), `setting "compactor_options.enable_trivial_move" is null, it must be true or false`},
		"no log":                {map[string]any{"wal_enabled": false}, `setting "wal_enabled" is false, it must be true, or flushing and closing would fail`},
		"null for a duration":   {map[string]any{"manifest_poll_interval": nil}, `setting "manifest_poll_interval" is null, it must be a duration`},
		"unknown choice":        {map[string]any{"compression_codec": "gzip"}, `it must be one of ["Snappy" "Zlib" "Lz4" "Zstd"]`},
		"object for a number":   {map[string]any{"l0_max_ssts": map[string]any{"x": 1}}, `setting "l0_max_ssts" is {"x":1}, it must be a whole number`},
		"number for an object":  {map[string]any{"compactor_options": 5}, `setting "compactor_options" is 5, it must be an object`},
		"null for an object":    {map[string]any{"object_store_cache_options": nil}, `setting "object_store_cache_options" is null, it must be an object`},
		"list":                  {map[string]any{"compactor_options": []int{1}}, `setting "compactor_options" is [1], it must be an object`},
		"no JSON":               {map[string]any{"flush_interval": func() {}}, `setting "flush_interval": the value cannot be written as JSON`},
		"no JSON inside":        {nested("compactor_options.poll_interval", make(chan int)), `setting "compactor_options.poll_interval": the value`},
		"words for a decimal":   {nested(scheduler+"include_size_threshold", "big"), `it must be a number`},
		"NaN for a decimal":     {nested(scheduler+"include_size_threshold", "NaN"), `it must be a number`},
		"words for a numeral":   {nested(scheduler+"min_compaction_sources", "few"), `it must be a whole number`},
		"empty text":            {nested("object_store_cache_options.root_folder", ""), `it must be a string that is not empty`},
		"value of many letters": {map[string]any{"flush_interval": strings.Repeat("x", 1000)}, `xxx…, it must be a duration`},

		"unflushed below a table": {
			map[string]any{"max_unflushed_bytes": 1 << 20},
			`setting "max_unflushed_bytes" is 1048576, it must be more than l0_sst_size_bytes, which is 67108864, or `,
		},
		"fewer tables than a compaction takes": {
			map[string]any{"l0_max_ssts": 3},
			`setting "l0_max_ssts" is 3, it must be at least 1 times compactor_options.scheduler_options.min_compaction_sources, which is 4, or `,
		},
		"compaction of more than there are": {
			both(nested(scheduler+"min_compaction_sources", 9), map[string]any{"l0_max_ssts": 12, "l0_max_ssts_per_key": 12}),
			`setting "compactor_options.scheduler_options.max_compaction_sources" is 8, it must be at least 1 times ` +
				`compactor_options.scheduler_options.min_compaction_sources, which is "9", or `,
		},
		"heartbeat beyond its timeout": {
			nested("compactor_options.worker.heartbeat_interval", "20s"),
			`setting "compactor_options.worker_heartbeat_timeout" is "30s", it must be at least 2 times `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Merge(engineDefaults(t), c.given)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, len(err.Error()), 600)
		})
	}
}

// TestBounds goes through every bounded setting: its minimum and maximum
// pass, one less and one more do not.
func TestBounds(t *testing.T) {
	each(known, func(keys []string, s setting) {
		path := strings.Join(keys, ".")
		write := map[kind]func(uint64) any{
			number:  func(n uint64) any { return n },
			numeral: func(n uint64) any { return n },
			span:    func(n uint64) any { return time.Duration(n) },
		}[s.kind]
		if write == nil || s.settings != nil {
			return
		}
		check := func(n uint64) error {
			value, err := plain(write(n))
			require.NoError(t, err)
			_, err = s.check(value)
			return err
		}
		require.NoError(t, check(s.min), path)
		require.NoError(t, check(s.max), path)
		require.ErrorContains(t, check(s.max+1), "at most ", path)
		if s.min > 0 {
			require.NotEmpty(t, s.because, path)
			require.ErrorContains(t, check(s.min-1), "at least ", path)
			require.ErrorContains(t, check(0), s.because, path)
		}
	})
}

// TestKnownAreTheEngines compares what is known of the settings with what the
// engine shows of its defaults: keys, types and nulls.
func TestKnownAreTheEngines(t *testing.T) {
	defaults, err := decodeObject(engineDefaults(t))
	require.NoError(t, err)
	require.Empty(t, differences(known, defaults, ""))
}

func differences(g group, shown map[string]any, path string) []string {
	var found []string
	for key := range shown {
		if _, ok := g[key]; !ok {
			found = append(found, "not known: "+path+key)
		}
	}
	for key, s := range g {
		value, ok := shown[key]
		inner, isObject := value.(map[string]any)
		switch {
		case !ok && path == scheduler: // its options are not shown
		case !ok:
			found = append(found, "not the engine's: "+path+key)
		case value == nil && !s.nullable:
			found = append(found, "null by default: "+path+key)
		case isObject != (s.settings != nil) && value != nil:
			found = append(found, "object or not: "+path+key)
		case isObject:
			found = append(found, differences(s.settings, inner, path+key+".")...)
		case value != nil:
			if _, err := s.check(value); err != nil {
				found = append(found, path+key+" by default is not "+err.Error())
			}
		}
	}
	return found
}

func FuzzMerge(f *testing.F) {
	defaults, err := os.ReadFile("testdata/defaults.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"flush_interval":null,"compactor_options":{"worker":{"max_fetch_tasks":7}}}`)
	f.Add(`{"compactor_options":{"scheduler_options":{"min_compaction_sources":"3"}}}`)
	f.Add(`{"a":{"b":[1,{"c":null}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		given := map[string]any{}
		if json.Unmarshal([]byte(text), &given) != nil {
			t.Skip()
		}
		got, err := Merge(string(defaults), given)
		if err == nil && !json.Valid([]byte(got)) {
			t.Fatal(got)
		}
	})
}

// TestExtremesAreTaken merges every extreme that no other default forbids.
func TestExtremesAreTaken(t *testing.T) {
	taken := 0
	for _, given := range Extremes() {
		all, err := decodeObject(engineDefaults(t))
		require.NoError(t, err)
		require.NoError(t, known.merge(all, given, ""))
		if checkRelations(all) == nil {
			taken++
		}
	}
	require.Greater(t, taken, 100)
}
