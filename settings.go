package slap

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/slap-go/slap/store/slatedb"
)

const (
	// defaultFlushInterval is the engine's own.
	defaultFlushInterval = 100 * time.Millisecond

	// watchInterval is the time between looks at an idle database. It costs a
	// fraction of a microsecond, and is below the engine's own manifest poll.
	watchInterval = 250 * time.Millisecond
)

// splitSettings takes out what the node does itself: it flushes, so that the
// engine's own timer is off.
func splitSettings(given map[string]any) (flushInterval time.Duration, engine map[string]any, err error) {
	engine = maps.Clone(given)
	if engine == nil {
		engine = map[string]any{}
	}
	flushInterval, err = flushIntervalOf(engine["flush_interval"])
	if err != nil {
		return 0, nil, err
	}
	if wal, ok := engine["wal_enabled"]; ok && wal != true {
		return 0, nil, fmt.Errorf("slap: Settings: wal_enabled must be true, not %#v: without the log no write becomes durable", wal)
	}
	if err := refuseRetryLimits(engine, ""); err != nil {
		return 0, nil, err
	}
	engine["flush_interval"] = nil
	return flushInterval, engine, nil
}

// settingsError names the field, unless the engine itself is what is missing.
func settingsError(err error) error {
	if errors.Is(err, slatedb.ErrInvalid) {
		return fmt.Errorf("slap: Settings: %w", err)
	}
	return fmt.Errorf("slap: %w", err)
}

// refuseRetryLimits finds object_store_max_retries at any depth: with a limit one
// outage of the store kills every database for good, and their close says nothing.
func refuseRetryLimits(settings map[string]any, path string) error {
	for key, value := range settings {
		if nested, ok := value.(map[string]any); ok {
			if err := refuseRetryLimits(nested, path+key+"."); err != nil {
				return err
			}
		}
		if key == "object_store_max_retries" && value != nil {
			return fmt.Errorf("slap: Settings: %s%s must not be set: with a limit, an outage of the store ends every shard for good", path, key)
		}
	}
	return nil
}

func flushIntervalOf(setting any) (time.Duration, error) {
	var d time.Duration
	switch v := setting.(type) {
	case nil:
		return defaultFlushInterval, nil
	case time.Duration:
		d = v
	case string:
		parsed, err := time.ParseDuration(v)
		if err != nil {
			return 0, fmt.Errorf("slap: Settings: flush_interval %q is no duration such as \"100ms\"", v)
		}
		d = parsed
	default:
		return 0, fmt.Errorf("slap: Settings: flush_interval must be a duration such as \"100ms\", not %v", v)
	}
	if d <= 0 {
		return 0, fmt.Errorf("slap: Settings: flush_interval must be above 0, it is %v", d)
	}
	return d, nil
}
