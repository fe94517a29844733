package slatedb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb/internal/settings"
)

// What a value of a setting does to a database that writes, flushes and compacts.
const (
	works  = "works"
	hangs  = "hangs"  // it gets no further
	refuse = "refuse" // open says no
	breaks = "breaks" // the engine panics
	loses  = "loses"  // what was written is not there
	spins  = "spins"  // it sends requests without a pause
)

// harms are values that the engine takes, what they do, and whether the short
// form of the test tries them. None of them gets past the checks.
var harms = []struct {
	path  string
	value any
	does  string
	short bool
}{
	{"l0_max_ssts", 0, hangs, true},
	{"l0_max_ssts", 3, hangs, false},
	{"l0_max_ssts_per_key", 0, hangs, false},
	{"l0_sst_size_bytes", 1, hangs, false},
	{"l0_flush_parallelism", 0, refuse, false},
	{"l0_flush_parallelism", uint64(1) << 63, breaks, false},
	{"max_unflushed_bytes", 0, refuse, true},
	{"max_wal_flushes_before_l0_flush", 4095, refuse, false},
	{"manifest_poll_interval", "0s", spins, true},
	{"manifest_poll_interval", "9000000000s", hangs, false},
	{"default_ttl_millis", 0, loses, true},
	{"compactor_options.poll_interval", "0s", spins, false},
	{"compactor_options.poll_interval", "9000000000s", hangs, false},
	{"compactor_options.max_concurrent_compactions", 0, hangs, false},
	{"compactor_options.worker.max_concurrent_compactions", 0, hangs, false},
	{"compactor_options.worker.compactions_poll_interval", "9000000000s", hangs, false},
	{"compactor_options.worker.max_fetch_tasks", 0, hangs, false},
	{"compactor_options.worker.bytes_to_fetch", 0, hangs, false},
	{"compactor_options.scheduler_options.min_compaction_sources", "0", breaks, true},
	{"compactor_options.scheduler_options.min_compaction_sources", "9", hangs, false},
	{"compactor_options.scheduler_options.max_compaction_sources", "0", hangs, false},
	{"compactor_options.scheduler_options.max_compaction_sources", "3", hangs, false},
	{"garbage_collector_options.wal_options.interval", "0s", spins, false},
	{"object_store_cache_options.part_size_bytes", 1000, refuse, false},
	{"object_store_cache_options.max_open_file_handles", 0, breaks, false},
}

// busy are settings under which a small database does all that it ever does
// within a second, and the least that the checks let pass.
var busy = map[string]any{
	"l0_sst_size_bytes": 64 << 10, "max_unflushed_bytes": 1 << 20, "flush_interval": "20ms", "manifest_poll_interval": "100ms",
	"compactor_options": map[string]any{
		"poll_interval": "50ms", "commit_compacted_interval": "50ms",
		"worker": map[string]any{"compactions_poll_interval": "50ms"},
	},
}

// TestHarmfulSettings shows what each value does that the checks refuse.
func TestHarmfulSettings(t *testing.T) {
	for _, c := range harms {
		t.Run(fmt.Sprint(c.path, "=", c.value), func(t *testing.T) {
			t.Parallel()
			if !c.short && !stress() {
				t.Skip("with SLAP_STRESS=1")
			}
			given := nest(c.path, c.value)
			_, err := settingsJSON(merge2(maps.Clone(busy), given))
			require.ErrorIs(t, err, ErrInvalid)
			require.Equal(t, c.does, try(t, unchecked(t, given), c.does == hangs))
		})
	}
}

// TestBusySettings does the same with the least that the checks let pass.
func TestBusySettings(t *testing.T) {
	t.Parallel()
	require.Equal(t, works, try(t, unchecked(t, nil), false))
	if !stress() {
		return
	}
	for _, given := range settings.Extremes() {
		all := merge2(merge2(maps.Clone(busy), cacheIn(t.TempDir())), given)
		if text, err := settingsJSON(all); err == nil && !slowOnPurpose(given) {
			require.Contains(t, []string{works, spins}, try(t, text, false), "%v", given)
		}
	}
}

// slowOnPurpose tells whether settings leave the compaction to others or to a
// later time than the test has.
func slowOnPurpose(given map[string]any) bool {
	text := fmt.Sprint(given)
	for _, s := range []string{
		"map[compactor_options:<nil>]", "worker:<nil>", "poll_interval:10m0s", "default_ttl_millis:1]",
	} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

func nest(path string, value any) map[string]any {
	key, rest, nested := strings.Cut(path, ".")
	if nested {
		value = nest(rest, value)
	}
	return map[string]any{key: value}
}

// merge2 merges two trees of settings.
func merge2(into, from map[string]any) map[string]any {
	for key, value := range from {
		object, ok := value.(map[string]any)
		if old, isObject := into[key].(map[string]any); ok && isObject {
			value = merge2(maps.Clone(old), object)
		}
		into[key] = value
	}
	return into
}

// unchecked are all settings with the given ones among them.
func unchecked(t *testing.T, given map[string]any) string {
	t.Helper()
	defaults, err := defaultSettings()
	require.NoError(t, err)
	all := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(defaults), &all))
	text, err := json.Marshal(merge2(merge2(merge2(all, busy), cacheIn(t.TempDir())), given))
	require.NoError(t, err)
	return string(text)
}

// try uses a database with settings that are not checked, in a process of its
// own, and returns what they do. One that is expected to hang is given up soon.
func try(t *testing.T, text string, soon bool) string {
	t.Helper()
	givenUp := patience
	if soon {
		givenUp = hangAfter
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), taskVariable+"=settings", "SLATEDB_TEST_SETTINGS="+text,
		"SLATEDB_TEST_PATIENCE="+givenUp.String())
	output, err := cmd.Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(output))
}

func init() { tasks["settings"] = useRaw }

// hangAfter is how long an open database may take for what takes a second at most.
const hangAfter = 3 * time.Second

func useRaw() int {
	givenUp, _ := time.ParseDuration(os.Getenv("SLATEDB_TEST_PATIENCE"))
	reader := sdk.NewManualReader()
	metrics := NewMetrics(sdk.NewMeterProvider(sdk.WithReader(reader)))
	outcome, err := useRawDB(givenUp, os.Getenv("SLATEDB_TEST_SETTINGS"), metrics, reader)
	fmt.Println(outcome)
	fmt.Fprintln(os.Stderr, err)
	return 0
}

func useRawDB(givenUp time.Duration, text string, m *Metrics, reader *sdk.ManualReader) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := NewObjectStore(ctx, store.Memory())
	if err != nil {
		return "", err
	}
	db, err := openRaw(ctx, s, text, m)
	switch {
	case errors.Is(err, ErrInvalid):
		return refuse, err
	case err != nil:
		return breaks, err
	}
	ctx, cancel = context.WithTimeout(context.Background(), givenUp)
	defer cancel()
	err = fill(ctx, db)
	_, ok, reading := db.Get(ctx, []byte("key 0"), nil)
	switch {
	case errors.Is(err, ErrClosed) || errors.Is(reading, ErrClosed): // nobody closed it
		return breaks, err
	case errors.Is(err, context.DeadlineExceeded):
		return hangs, err
	case !ok:
		return loses, reading
	}
	if !settles(ctx, reader) {
		return spins, nil
	}
	return works, db.Close(ctx, nil)
}

// openRaw opens a database with all of its settings as the engine reads them.
func openRaw(ctx context.Context, s *ObjectStore, text string, m *Metrics) (*DB, error) {
	return await(ctx, (*op).db, func(c *op) bool {
		builder, err := s.newBuilder(dbBuilderNew, "db")
		if err != nil {
			return c.fail(s, err)
		}
		id, err := call(settingsFromJSON, 0, 0, 0, []byte(text), nil)
		if err == nil {
			_, err = call(dbBuilderSettings, builder.id, id, 0, nil, nil)
		}
		if err == nil {
			err = applyMetrics(dbBuilderMetrics, builder.id, m)
		}
		if err != nil {
			return c.fail(s, err)
		}
		return builder.start(c, dbBuilderBuild, nil, nil, nil)
	})
}

// fill writes tables for several compactions.
func fill(ctx context.Context, db *DB) error {
	value := bytes.Repeat([]byte("value "), 170)
	for i := range 3000 {
		if _, err := db.Put(ctx, fmt.Append(nil, "key ", i), value, nil); err != nil {
			return err
		}
	}
	return db.Flush(ctx, Memtable)
}

// busyFor is how many requests the engine may send after the last write. All that
// it does for so few rows takes a few hundred.
const busyFor = 3_000

// settles tells whether the engine becomes quiet. One moment without requests says
// nothing: the engine may have had no processor.
func settles(ctx context.Context, reader *sdk.ManualReader) bool {
	first := requests(ctx, reader)
	for last, quiet := first, 0; quiet < 10 && ctx.Err() == nil; {
		time.Sleep(300 * time.Millisecond) // the time in which requests are counted
		now := requests(ctx, reader)
		if quiet++; now-last >= 60 {
			quiet = 0
		}
		if last = now; now-first > busyFor {
			return false
		}
	}
	return ctx.Err() == nil
}

// requests is how many requests of any kind the engine has sent to the store.
func requests(ctx context.Context, reader *sdk.ManualReader) int64 {
	var data metricdata.ResourceMetrics
	_ = reader.Collect(ctx, &data)
	var total int64
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "slatedb.object_store.request_count" {
				for _, p := range sum.DataPoints {
					total += p.Value
				}
			}
		}
	}
	return total
}
