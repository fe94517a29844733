package slatedb

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/store/slatedb/internal/settings"
)

// TestEngineDefaults shows what a new version of the engine changed.
func TestEngineDefaults(t *testing.T) {
	want, err := os.ReadFile("internal/settings/testdata/defaults.json")
	require.NoError(t, err)
	text, err := defaultSettings()
	require.NoError(t, err)
	require.JSONEq(t, string(want), text)
}

// TestEngineReadsEverySetting gives the engine the least and the largest values.
func TestEngineReadsEverySetting(t *testing.T) {
	for _, given := range settings.Extremes() {
		text, err := settingsJSON(given)
		if err != nil { // other settings would have to change with it
			require.ErrorContains(t, err, "it must be ")
			continue
		}
		id, err := call(settingsFromJSON, 0, 0, 0, []byte(text), nil)
		require.NoError(t, err, given)
		back, err := callBytes(settingsToJSON, id)
		require.NoError(t, err)
		freeObject(objectSettings, id)
		require.Equal(t, keysOf(t, []byte(text)), keysOf(t, back))
	}
}

// keysOf are the top-level keys of a JSON object whose values are no null.
func keysOf(t *testing.T, text []byte) map[string]bool {
	t.Helper()
	object := map[string]any{}
	require.NoError(t, json.Unmarshal(text, &object))
	keys := map[string]bool{}
	for k, v := range object {
		keys[k] = v != nil
	}
	return keys
}

func TestCheckSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	folder := filepath.Join(t.TempDir(), "made", "here")
	for name, c := range map[string]struct {
		given map[string]any
		want  string // empty: no error
	}{
		"none":              {nil, ""},
		"the product's own": {map[string]any{"flush_interval": nil, "manifest_poll_interval": "20ms"}, ""},
		"no compactor":      {map[string]any{"compactor_options": nil}, ""},
		"no collector":      {map[string]any{"garbage_collector_options": nil}, ""},
		"small tables":      {map[string]any{"l0_sst_size_bytes": 64 << 10, "max_unflushed_bytes": 128 << 10}, ""},
		"cache folder":      {cacheIn(folder), ""},
		"mistyped":          {map[string]any{"flush_intervall": nil}, "did you mean"},
		"cache in a file": {
			cacheIn(filepath.Join(file, "x")), "which cannot be made a folder",
		},
		"the engine refuses": {
			map[string]any{"object_store_cache_options": map[string]any{"root_folder": folder, "part_size_bytes": 1025}},
			"multiple of 1024",
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			err := CheckSettings(t.Context(), c.given)
			require.Less(t, time.Since(start), checkTimeout)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrInvalid)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, CheckSettings(ctx, nil), context.Canceled)
}

func cacheIn(folder string) map[string]any {
	return map[string]any{"object_store_cache_options": map[string]any{"root_folder": folder}}
}
