package slatedb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb/internal/settings"
)

// settingsJSON merges settings into the defaults and returns all of them as the
// engine reads them.
func settingsJSON(given map[string]any) (string, error) {
	defaults, err := defaultSettings()
	if err != nil {
		return "", err
	}
	all, err := settings.Merge(defaults, given)
	if err != nil {
		return "", invalid("%v", err)
	}
	return all, nil
}

// checkTimeout bounds each check of settings. A good one takes milliseconds.
const checkTimeout = 10 * time.Second

// CheckSettings checks [Options.Settings] before anything depends on them: each
// key and value, then all together with a throw-away database in memory that
// takes a write, flushes it and closes. It returns within twenty seconds. What is
// wrong with a key is an [ErrInvalid] that names it.
func CheckSettings(ctx context.Context, given map[string]any) error {
	all, err := settingsJSON(given)
	if err != nil {
		return err
	}
	if err := checkCacheFolder(all); err != nil {
		return err
	}
	s, err := NewObjectStore(ctx, store.Memory())
	if err != nil {
		return err
	}
	err = tryOut(ctx, s, given)
	if closing := closeWithin(ctx, s.Close); err == nil {
		return closing
	}
	return err
}

// tryOut uses a database with the settings once.
func tryOut(ctx context.Context, s *ObjectStore, given map[string]any) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err := useOnce(ctx, s, given)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return invalid("with these settings the engine hangs")
	case err != nil:
		return fmt.Errorf("the engine refuses the settings: %w", err)
	}
	return nil
}

func useOnce(ctx context.Context, s *ObjectStore, given map[string]any) error {
	db, err := Open(ctx, s, "check", &Options{Settings: given, NoCache: true})
	if err != nil {
		return err
	}
	_, err = db.Put(ctx, []byte("key"), []byte("value"), nil)
	if err == nil {
		err = db.Flush(ctx, Memtable)
	}
	if closing := db.Close(ctx, &CloseOptions{SkipFlush: err != nil}); err == nil {
		return closing
	}
	return err
}

func closeWithin(ctx context.Context, end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return end(ctx)
}

// checkCacheFolder checks that the engine can cache files in the folder that the
// settings name. Otherwise it would go without, and not say so.
func checkCacheFolder(all string) error {
	const path = "object_store_cache_options.root_folder"
	var s struct {
		Cache struct {
			Folder string `json:"root_folder"`
		} `json:"object_store_cache_options"`
	}
	if err := json.Unmarshal([]byte(all), &s); err != nil {
		return fmt.Errorf("slatedb: merged settings: %w", err)
	}
	dir := s.Cache.Folder
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return invalid("setting %q is %q, which cannot be made a folder: %v", path, dir, err)
	}
	probe, err := os.CreateTemp(dir, ".slap-*")
	if err != nil {
		return invalid("setting %q is %q, a folder that cannot be written to: %v", path, dir, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
