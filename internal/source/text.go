package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"
)

// nested is what separates a key from one below it in the name of a variable.
const nested = "__"

// Environment reads the variables, of the form of [os.Environ], whose names begin
// with the prefix and "_": with APP, cache.bytes is APP_CACHE__BYTES.
func Environment(prefix string, variables []string) (*Source, error) {
	prefix = strings.TrimSuffix(prefix, "_") + "_"
	s := &Source{
		place: func([]string) string { return "environment" },
		spell: func(path []string) string { return prefix + strings.ToUpper(strings.Join(path, nested)) },
	}
	return s, s.load(variables, prefix, nested, func(name string) string {
		key := strings.TrimPrefix(name, prefix)
		if key != strings.ToUpper(key) {
			return name // which no key is
		}
		return strings.ToLower(key)
	})
}

// Flags reads values by key, with dots between a key and one below it.
func Flags(values map[string]string) (*Source, error) {
	var pairs []string
	for key, value := range values {
		pairs = append(pairs, key+"="+value)
	}
	s := &Source{
		place: func([]string) string { return "flags" },
		spell: dotted,
	}
	return s, s.load(pairs, "", ".", func(key string) string { return key })
}

// load reads pairs of a name and a value.
func (s *Source) load(pairs []string, prefix, delimiter string, key func(name string) string) error {
	var names []string
	k := koanf.New(delimiter)
	err := k.Load(env.Provider(delimiter, env.Opt{
		Prefix:      prefix,
		EnvironFunc: func() []string { return pairs },
		TransformFunc: func(name, value string) (string, any) {
			names = append(names, key(name))
			return key(name), Text(value)
		},
	}), nil)
	if err != nil {
		return err
	}
	s.koanf, s.keys = k, k.Raw()
	return s.refuseBoth(names, delimiter)
}

// refuseBoth refuses a value for a key beside values for keys below it, of which
// one would be lost.
func (s *Source) refuseBoth(names []string, delimiter string) error {
	slices.Sort(names)
	for _, outer := range names {
		for _, inner := range names {
			if strings.HasPrefix(inner, outer+delimiter) {
				path := strings.Split(outer, delimiter)
				return s.Errorf(path, "and %s exclude each other: set one", s.spell(strings.Split(inner, delimiter)))
			}
		}
	}
	return nil
}

// typed is a value with all texts in it read as YAML.
func typed(value any) any {
	switch v := value.(type) {
	case Text:
		return v.read()
	case map[string]any:
		inner := make(map[string]any, len(v))
		for key, value := range v {
			inner[key] = typed(value)
		}
		return inner
	}
	return value
}

// read is the text as YAML: 5 is a number, [a, b] a list. What is no YAML is text.
func (t Text) read() any {
	var value any
	if err := yaml.Unmarshal([]byte(t), &value); err != nil {
		return string(t)
	}
	return value
}

// instead is the end of a sentence about a value of the wrong type. A URL is not
// repeated: it may contain credentials.
func instead(value any) string {
	switch v := value.(type) {
	case nil:
		return ", and has no value"
	case map[string]any:
		return ", not further keys"
	case []any:
		return ", not a list"
	case string, Text:
		if strings.Contains(fmt.Sprint(v), "://") {
			return ", not a URL"
		}
		return fmt.Sprintf(", not %q", v)
	}
	return fmt.Sprintf(", not %v", value)
}
