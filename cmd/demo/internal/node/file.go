package node

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readFile reads a YAML or JSON mapping. Keys that are flags, with underscores, set
// those that the command line did not. It returns the others: a key and one below it
// are joined by a dot, values are in YAML.
func readFile(path string, set *flag.FlagSet) (others map[string]string, err error) {
	keys, err := parseFile(path)
	if err != nil {
		return nil, err
	}
	onCommandLine := map[string]bool{}
	set.Visit(func(f *flag.Flag) { onCommandLine[f.Name] = true })
	others = map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		name := strings.ReplaceAll(key, "_", "-")
		isFlag := set.Lookup(name) != nil && !strings.Contains(key, "-") && key != "config"
		switch {
		case !isFlag:
			err = flatten(others, key, keys[key])
		case !onCommandLine[name]:
			err = setFlag(set, name, keys[key])
		}
		if err != nil {
			return nil, fmt.Errorf("--config %s: key %q: %w", path, key, err)
		}
	}
	return others, nil
}

func parseFile(path string) (map[string]any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("--config %s is neither YAML nor JSON: %w", path, err)
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	if document.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("--config %s has to be a mapping of keys to values", path)
	}
	var keys map[string]any
	if err := document.Decode(&keys); err != nil {
		return nil, fmt.Errorf("--config %s: %w", path, err)
	}
	return keys, nil
}

// setFlag sets a flag to a value, or to a list of values joined by commas.
func setFlag(set *flag.FlagSet, name string, value any) error {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	items := make([]string, len(list))
	for i, item := range list {
		switch item.(type) {
		case nil, map[string]any, []any:
			return fmt.Errorf("it has to be a single value")
		}
		items[i] = fmt.Sprint(item)
	}
	text := strings.Join(items, ",")
	if err := set.Set(name, text); err != nil {
		return fmt.Errorf("%q does not fit: %w", text, err)
	}
	return nil
}

// flatten writes a value, or those one level below it, as text.
func flatten(into map[string]string, key string, value any) (err error) {
	inner, nested := value.(map[string]any)
	if !nested {
		into[key], err = text(value)
		return err
	}
	for name, value := range inner {
		if into[key+"."+name], err = text(value); err != nil {
			return err
		}
	}
	return nil
}

// text is a value in YAML.
func text(value any) (string, error) {
	if text, ok := value.(string); ok {
		return text, nil
	}
	text, err := yaml.Marshal(value)
	return strings.TrimSpace(string(text)), err
}
