package slatedb

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEngineDefaults shows what a new version of the engine changed.
func TestEngineDefaults(t *testing.T) {
	text, err := defaultSettings()
	require.NoError(t, err)
	require.JSONEq(t, engineDefaults(t), text)
}

// TestEngineReadsEverySetting hands the engine every minimum, maximum and choice.
func TestEngineReadsEverySetting(t *testing.T) {
	everySetting(settings, "", func(path string, s setting) {
		for _, value := range extremes(s) {
			all, err := decodeObject(engineDefaults(t))
			require.NoError(t, err)
			require.NoError(t, settings.merge(all, nested(path, value), ""))
			text, err := json.Marshal(all)
			require.NoError(t, err)
			id, err := call(settingsFromJSON, 0, 0, 0, text, nil)
			require.NoError(t, err, "%s = %v", path, value)
			back, err := callBytes(settingsToJSON, id)
			require.NoError(t, err)
			freeObject(objectSettings, id)
			if s.kind != span { // the engine shows whole milliseconds
				read, err := decodeObject(string(back))
				require.NoError(t, err)
				want, _ := json.Marshal(all.at(path))
				got, _ := json.Marshal(read.at(path))
				require.JSONEq(t, string(want), string(got), path)
			}
		}
	})
}

func extremes(s setting) []any {
	var values []any
	if s.nullable {
		values = append(values, nil)
	}
	switch {
	case s.settings != nil:
	case s.kind == flag:
		values = append(values, true, false)
	case s.kind == on:
		values = append(values, true)
	case s.kind == text:
		values = append(values, "folder")
	case s.kind == choice:
		for _, c := range s.choices {
			values = append(values, c)
		}
	case s.kind == span:
		values = append(values, time.Duration(s.min), time.Duration(s.max))
	case s.kind == decimal:
		values = append(values, 1, 4.5)
	default:
		values = append(values, s.min, s.max)
	}
	return values
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
		"cache folder":      {nested("object_store_cache_options.root_folder", folder), ""},
		"mistyped":          {map[string]any{"flush_intervall": nil}, "did you mean"},
		"cache in a file": {
			nested("object_store_cache_options.root_folder", filepath.Join(file, "x")), "which cannot be made a folder",
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
