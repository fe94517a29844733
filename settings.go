package slap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/slap-go/slap/store/slatedb"
)

const (
	// defaultFlushInterval is the engine's own.
	defaultFlushInterval = 100 * time.Millisecond

	// watchInterval is the time between looks at an idle database. It costs a
	// fraction of a microsecond, and is below the engine's own manifest poll.
	watchInterval = 250 * time.Millisecond

	// waitingTables is how many sorted tables of a database may wait for the compactor
	// before no more are flushed. The compactor can be seconds behind, and every opening
	// flushes some, so that the next one reads little log. With the engine's own 8 a shard
	// that moves a few times in a row would hand its whole log on.
	waitingTables = 32

	// maxSettingsDepth is above the engine's own depth.
	maxSettingsDepth = 16
)

// checkSettings checks the node's own settings, then the engine's by its own parser.
// Its errors begin with the name, unless the engine itself is what is missing.
func checkSettings(name string, given map[string]any) error {
	_, engine, err := splitSettings(given)
	if err == nil {
		err = slatedb.CheckSettings(context.Background(), engine)
		wrong, ok := errors.AsType[*slatedb.Error](err)
		switch {
		case err != nil && (!ok || wrong.Kind != slatedb.KindInvalid):
			return err
		case ok:
			err = errors.New(wrong.Message)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// splitSettings puts in the node's own defaults, and takes out what the node does
// itself: it flushes, so that the engine's own timer is off.
func splitSettings(given map[string]any) (flushInterval time.Duration, engine map[string]any, err error) {
	engine, err = plainSettings(given)
	if err != nil {
		return 0, nil, err
	}
	flushInterval, err = flushIntervalOf(engine["flush_interval"])
	if err != nil {
		return 0, nil, err
	}
	if wal, ok := engine["wal_enabled"]; ok && wal != true {
		return 0, nil, fmt.Errorf("wal_enabled must be true, not %v: without the log no write becomes durable", wal)
	}
	if err := refuseRetryLimits(engine, ""); err != nil {
		return 0, nil, err
	}
	engine["flush_interval"] = nil
	for _, key := range []string{"l0_max_ssts", "l0_max_ssts_per_key"} {
		if _, set := engine[key]; !set {
			engine[key] = waitingTables
		}
	}
	return flushInterval, engine, nil
}

// plainSettings copies settings into what JSON has, so that nobody else can change
// them, and every nested object is a map[string]any. A [time.Duration] becomes its
// text. It is never nil.
func plainSettings(given map[string]any) (map[string]any, error) {
	plain, err := plainSetting(given, "", 0)
	if err != nil {
		return nil, err
	}
	return plain.(map[string]any), nil //nolint:forcetypeassert // a map remains one
}

func plainSetting(value any, path string, depth int) (any, error) {
	switch v := value.(type) {
	case time.Duration:
		return v.String(), nil
	case map[string]any:
		if depth > maxSettingsDepth {
			return nil, fmt.Errorf("setting %q is nested deeper than any setting of the engine", path)
		}
		plain := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner, err := plainSetting(v[key], join(path, key), depth+1)
			if err != nil {
				return nil, err
			}
			plain[key] = inner
		}
		return plain, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("setting %q is a %T: it must be a value that can be written as JSON", path, value)
	}
	var plain any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&plain)
	return plain, err
}

// join is the path of a setting inside another.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// refuseRetryLimits finds object_store_max_retries at any depth: with a limit one
// outage of the store kills every database for good, and their close says nothing.
func refuseRetryLimits(settings map[string]any, path string) error {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		value, at := settings[key], join(path, key)
		if nested, ok := value.(map[string]any); ok {
			if err := refuseRetryLimits(nested, at); err != nil {
				return err
			}
		}
		if key == "object_store_max_retries" && value != nil {
			return fmt.Errorf("%s must not be set: with a limit, an outage of the store ends every shard for good", at)
		}
	}
	return nil
}

func flushIntervalOf(setting any) (time.Duration, error) {
	if setting == nil {
		return defaultFlushInterval, nil
	}
	text, ok := setting.(string)
	d, err := time.ParseDuration(text)
	switch {
	case ok && err != nil:
		return 0, fmt.Errorf("flush_interval %s is no duration such as \"100ms\"", quoted(text))
	case !ok:
		return 0, fmt.Errorf("flush_interval must be a duration such as \"100ms\", not %v", setting)
	case d <= 0 || d > MaxTimeout:
		return 0, fmt.Errorf("flush_interval must be above 0 and at most %v, it is %v", MaxTimeout, d)
	}
	return d, nil
}
