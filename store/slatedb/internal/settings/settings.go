// Package settings knows the engine's settings: every key of the pinned version,
// the type of its value, and the values that do no harm.
//
// The engine itself ignores keys that it does not know and takes values with which
// it hangs, polls without a pause, panics or deletes what it needs. The bounds here
// are those found by trying: each key with zero, tiny and huge values, on a
// database that takes writes, compacts and collects.
package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unflushedTables is how many sorted tables of l0_sst_size_bytes the default of
// max_unflushed_bytes holds: 256 MiB with the engine's default of 64 MiB, where
// the engine's own is 1 GiB. So many bytes of writes every database of a process
// keeps in memory, while the object store is away, before it makes writers wait.
// Four tables are what the default of l0_flush_parallelism makes use of.
const unflushedTables = 4

// Merge merges settings by key, at any depth, into the engine's defaults, and
// returns all of them as the engine reads them. An unknown key, a value of the
// wrong type, and one with which the engine hangs, spins, panics or loses data is
// an error of one sentence that names the key.
func Merge(defaults string, given map[string]any) (string, error) {
	all, err := decodeObject(defaults)
	if err != nil {
		return "", fmt.Errorf("the engine's default settings: %w", err)
	}
	if err := known.merge(all, given, ""); err != nil {
		return "", err
	}
	if _, ok := given["max_unflushed_bytes"]; !ok {
		table, _ := all.number("l0_sst_size_bytes")
		all["max_unflushed_bytes"] = unflushedTables * table
	}
	if err := checkRelations(all); err != nil {
		return "", err
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// A tree is settings as JSON has them: objects are maps, numbers json.Number.
type tree map[string]any

// decodeObject reads a JSON object and keeps its numbers as they are written.
func decodeObject(text string) (tree, error) {
	d := json.NewDecoder(bytes.NewBufferString(text))
	d.UseNumber()
	object := tree{}
	if err := d.Decode((*map[string]any)(&object)); err != nil {
		return nil, err
	}
	return object, nil
}

// at is the value of a dotted path, nil if one of its objects is null.
func (t tree) at(path string) any {
	head, rest, nested := strings.Cut(path, ".")
	if !nested {
		return t[head]
	}
	inner, _ := t[head].(map[string]any)
	return tree(inner).at(rest)
}

// merge merges the given keys of a group into an object. The path is that of the
// group, with a dot at its end unless it is empty.
func (g group) merge(into tree, given map[string]any, path string) error {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		s, ok := g[key]
		if !ok {
			return unknownSetting(g, path, key)
		}
		value, err := plain(given[key])
		if err != nil {
			return fmt.Errorf("setting %q: %w", path+key, err)
		}
		if into[key], err = s.merge(into[key], value, path+key); err != nil {
			return err
		}
	}
	return nil
}

// merge is the value to use: the given one, or for an object the one at hand with
// the given keys merged into it.
func (s setting) merge(into, given any, path string) (any, error) {
	if given == nil && s.nullable {
		return nil, nil
	}
	if s.settings == nil {
		value, err := s.check(given)
		if err != nil {
			return nil, fmt.Errorf("setting %q is %s, it must be %w", path, shown(given), err)
		}
		return value, nil
	}
	keys, ok := given.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("setting %q is %s, it must be an object that holds further settings", path, shown(given))
	}
	object, _ := into.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	return object, s.settings.merge(object, keys, path+".")
}
