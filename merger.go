package slap

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/slap-go/slap/internal/source"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/store"
)

// merger is a configuration while its sources are merged.
type merger struct {
	config  Config
	sources []*source.Source // that were read, the first one first
}

func (m *merger) load(s Sources) error {
	if err := m.override(s.Defaults); err != nil {
		return err
	}
	environment, err := m.readEnvironment(s)
	if err != nil {
		return err
	}
	if err := m.apply(environment, environment); err != nil {
		return err
	}
	if err := m.override(s.Options); err != nil {
		return err
	}
	flags, err := source.Flags(s.Flags)
	if err != nil {
		return err
	}
	everything, err := m.over(flags, environment)
	if err != nil {
		return err
	}
	if err := m.apply(flags, everything); err != nil {
		return err
	}
	return m.checkSettings()
}

// readEnvironment reads the file and the variables.
func (m *merger) readEnvironment(s Sources) (*source.Source, error) {
	environment := source.Empty()
	if s.File != "" {
		file, err := source.File(s.File)
		if err != nil {
			return nil, err
		}
		if environment, err = m.over(file, environment); err != nil {
			return nil, err
		}
	}
	if s.Env == "" {
		return environment, nil
	}
	variables, err := source.Environment(s.Env, os.Environ())
	if err != nil {
		return nil, err
	}
	return m.over(variables, environment)
}

// over checks the keys of a source and merges it over another one.
func (m *merger) over(s, other *source.Source) (*source.Source, error) {
	known := []string{strategyOptions}
	for _, f := range fields {
		if f.key != "" {
			known = append(known, f.key)
		}
	}
	slices.Sort(known)
	for _, key := range s.Keys() {
		if !slices.Contains(known, key) {
			return nil, s.Unknown([]string{key}, known)
		}
	}
	m.sources = append(m.sources, s)
	return s.Over(other)
}

// override takes over the fields of a Config that are set.
func (m *merger) override(c Config) error {
	settings, err := plainSettings(c.Settings)
	if err != nil {
		return fmt.Errorf("Settings: %w", err)
	}
	c.Settings = merge(m.config.Settings, settings)
	c.ChildOptions = mergeOptions(m.config.ChildOptions, c.ChildOptions)
	if c.Retries != 0 || c.noRetries {
		m.config.noRetries = c.noRetries
		m.config.Retries = c.Retries
	}
	into, from := reflect.ValueOf(&m.config).Elem(), reflect.ValueOf(c)
	for _, f := range reflect.VisibleFields(into.Type()) {
		if given := from.FieldByIndex(f.Index); f.IsExported() && !given.IsZero() {
			into.FieldByIndex(f.Index).Set(given)
		}
	}
	return nil
}

// apply takes over what a source says. Of a strategy's options all sources together
// say what they are.
func (m *merger) apply(s, all *source.Source) error {
	if s.Has(strategyOptions) && !all.Has("strategy") {
		return s.Errorf([]string{strategyOptions}, "needs %s: name the strategy that they are for", s.Key("strategy"))
	}
	for _, f := range fields {
		if f.key == "strategy" && s.Has(strategyOptions) || f.key != "" && s.Has(f.key) {
			if err := m.set(f, s, all); err != nil {
				return err
			}
		}
	}
	return nil
}

// set sets one field and checks it.
func (m *merger) set(f field, s, all *source.Source) error {
	var err error
	switch f.name {
	case "Strategy":
		m.config.Strategy, err = makeStrategy(all)
		return err
	case "Settings":
		given, err := s.Map(f.key)
		m.config.Settings = merge(m.config.Settings, given)
		return err // checked once all are there
	case "ChildOptions":
		given, err := s.Map(f.key)
		m.config.ChildOptions = mergeOptions(m.config.ChildOptions, given)
		return err
	case "Store":
		m.config.Store = store.Store{}
		err = s.Decode((*storeURL)(&m.config.Store), f.key)
	case "Peers":
		err = m.setPeers(s, f.key)
	case "TLS":
		err = m.setTLS(s, f.key)
	default:
		value := reflect.ValueOf(&m.config).Elem().FieldByName(f.name)
		value.SetZero()
		err = s.Decode(value.Addr().Interface(), f.key)
		if err == nil && value.IsZero() && !f.zero {
			err = refuseZero(s, f.key, value)
		}
	}
	if err != nil {
		return err
	}
	if f.name == "Retries" {
		m.config.noRetries = m.config.Retries == 0
	}
	if f.check == nil {
		return nil
	}
	if err := f.check(&m.config, s.Key(f.key)); err != nil {
		return s.At(err, f.key)
	}
	return nil
}

func (m *merger) setPeers(s *source.Source, key string) error {
	var list peerList
	err := s.Decode(&list, key)
	m.config.Peers, _ = peers.Parse(strings.Join(list, ",")) // the field's check tells what is wrong
	return err
}

func (m *merger) setTLS(s *source.Source, key string) error {
	var files tlsFiles
	err := s.Decode(&files, key)
	if err != nil {
		return err
	}
	if m.config.TLS, err = files.load(s.Key(key)); err != nil {
		return s.At(err, key)
	}
	return nil
}

func refuseZero(s *source.Source, key string, value reflect.Value) error {
	if value.Kind() == reflect.String {
		return s.Errorf([]string{key}, "must not be empty: give it a value, or leave it out")
	}
	return s.Errorf([]string{key}, "must not be %v: set it above 0, or leave it out", value)
}

// peerList is a list of peers, or a text with commas between them.
type peerList []string

// UnmarshalText takes the text as it is.
func (l *peerList) UnmarshalText(text []byte) error {
	*l = peerList{string(text)}
	return nil
}

// storeURL is a store that is read from its URL.
type storeURL store.Store

// UnmarshalText reads the URL; no error repeats it.
func (s *storeURL) UnmarshalText(text []byte) error {
	parsed, err := store.Parse(string(text))
	*s = storeURL(parsed)
	return err
}

// checkSettings checks the settings of all sources together; a wrong one is blamed
// on the source that it comes from.
func (m *merger) checkSettings() error {
	err := checkSettings("Settings", m.config.Settings)
	if err == nil {
		return nil
	}
	if broken := checkSettings("", nil); broken != nil { // no engine to check with
		return broken
	}
	for _, s := range slices.Backward(m.sources) {
		if !s.Has("settings") {
			continue
		}
		for _, leaf := range s.Leaves("settings") {
			value := s.Value(leaf...)
			if len(leaf) == 1 || !reflect.DeepEqual(value, valueAt(m.config.Settings, leaf[1:])) {
				continue // overridden
			}
			if wrong := checkSettings("settings", nest(leaf[1:], value)); wrong != nil {
				return s.At(wrong, leaf...)
			}
		}
	}
	return err
}

// valueAt is what is inside objects at the path, nil if nothing is.
func valueAt(settings map[string]any, path []string) any {
	if len(path) == 1 {
		return settings[path[0]]
	}
	inner, _ := settings[path[0]].(map[string]any)
	return valueAt(inner, path[1:])
}

// nest is the value inside objects, one for each key of the path.
func nest(path []string, value any) map[string]any {
	if len(path) > 1 {
		value = nest(path[1:], value)
	}
	return map[string]any{path[0]: value}
}

// merge is one map over another, by key at any depth. Neither is changed.
func merge(below, above map[string]any) map[string]any {
	merged := maps.Clone(below)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range above {
		inner, isMap := value.(map[string]any)
		under, both := merged[key].(map[string]any)
		if isMap && both {
			value = merge(under, inner)
		}
		merged[key] = value
	}
	return merged
}

// mergeOptions merges maps; anything else replaces what is below.
func mergeOptions(below, above any) any {
	under, isMap := below.(map[string]any)
	over, both := above.(map[string]any)
	if isMap && both {
		return merge(under, over)
	}
	if above == nil {
		return below
	}
	return above
}
