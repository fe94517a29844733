// Package source reads what a file, the environment or flags say of a
// configuration, by keys, and decodes it strictly. Its errors are one sentence that
// names the place and the key, and the nearest known one if a key is unknown.
package source

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/v2"

	"github.com/slap-go/slap/internal/spelling"
)

// Source is what one place says. Keys are snake case; below some of them are
// further keys.
type Source struct {
	koanf *koanf.Koanf
	keys  map[string]any
	place func(path []string) string // where the key is
	spell func(path []string) string // how the place writes it
}

// separator is between the keys of a flat path; no key contains it.
const separator = "\x00"

// Empty is a source that says nothing.
func Empty() *Source {
	return &Source{koanf: koanf.New(separator), place: dotted, spell: dotted}
}

// Over is what both sources say, merged by key. Of a key that both have, s says
// what holds.
func (s *Source) Over(other *Source) (*Source, error) {
	merged := koanf.New(separator)
	for _, k := range []*koanf.Koanf{other.koanf, s.koanf} {
		if err := merged.Merge(k); err != nil {
			return nil, err
		}
	}
	of := func(path []string) *Source { // that has the key, or else one above it
		for ; len(path) > 0; path = path[:len(path)-1] {
			if s.Has(path...) {
				return s
			}
			if other.Has(path...) {
				return other
			}
		}
		return s
	}
	return &Source{
		koanf: merged, keys: merged.Raw(),
		place: func(path []string) string { return of(path).place(path) },
		spell: func(path []string) string { return of(path).spell(path) },
	}, nil
}

// Text is a value without a type of its own, as variables and flags have them: it
// is taken as it is where text is wanted, else read as YAML.
type Text string

// Keys are the keys at the top, sorted.
func (s *Source) Keys() []string { return sortedKeys(s.keys) }

// Has says whether there is something at the path, be it without a value.
func (s *Source) Has(path ...string) bool {
	inner, _ := s.at(path[:len(path)-1]).(map[string]any)
	_, ok := inner[path[len(path)-1]]
	return ok
}

// Value is what is at the path, nil if nothing is. Values without a type are read
// as YAML.
func (s *Source) Value(path ...string) any { return typed(s.at(path)) }

// Map is [Source.Value] where further keys are wanted.
func (s *Source) Map(path ...string) (map[string]any, error) {
	m, ok := s.Value(path...).(map[string]any)
	if !ok {
		return nil, s.Errorf(path, "must be an object of further keys%s", instead(s.at(path)))
	}
	return m, nil
}

// Leaves are the paths of the values below a path, sorted. An empty object is one.
func (s *Source) Leaves(path ...string) [][]string {
	inner, ok := s.at(path).(map[string]any)
	if !ok || len(inner) == 0 {
		return [][]string{path}
	}
	var leaves [][]string
	for _, key := range sortedKeys(inner) {
		leaves = append(leaves, s.Leaves(below(path, key)...)...)
	}
	return leaves
}

// Key is how the place writes the path: cache.bytes, APP_CACHE__BYTES.
func (s *Source) Key(path ...string) string { return s.spell(path) }

// Errorf is an error about a key: its place, the key and the format.
func (s *Source) Errorf(path []string, format string, args ...any) error {
	return s.At(fmt.Errorf("%s "+format, append([]any{s.spell(path)}, args...)...), path...)
}

// At puts the place of a key in front of an error.
func (s *Source) At(err error, path ...string) error {
	return fmt.Errorf("%s: %w", s.place(path), err)
}

// Unknown is the error for a path whose last key is none of the known ones.
func (s *Source) Unknown(path, known []string) error {
	last := len(path) - 1
	if !word.MatchString(path[last]) {
		return s.At(fmt.Errorf("a key is no word of letters, digits and '_': use %s", strings.Join(known, ", ")), path...)
	}
	above := path[:last]
	if near := spelling.Nearest(path[last], known); near != "" {
		return s.At(fmt.Errorf("unknown key %q: did you mean %q?", s.spell(path), s.spell(below(above, near))), path...)
	}
	return s.At(fmt.Errorf("unknown key %q: the keys there are %s", s.spell(path), strings.Join(known, ", ")), path...)
}

// word is what a key may be repeated as: anything else could be a value in the
// wrong place, and that a secret.
var word = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,63}$`)

// at is the value at the path as it was read.
func (s *Source) at(path []string) any {
	var v any = s.keys
	for _, key := range path {
		inner, _ := v.(map[string]any)
		v = inner[key]
	}
	return v
}

// below is the path of a key below another.
func below(path []string, key string) []string { return append(slices.Clone(path), key) }

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// dotted is a path with dots between its keys.
func dotted(path []string) string { return strings.ReplaceAll(strings.Join(path, "."), ".[", "[") }
