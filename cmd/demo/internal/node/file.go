package node

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readFile sets the flags that the command line did not, from a YAML or JSON
// mapping whose keys are the flags' names with underscores.
func readFile(path string, flags *flag.FlagSet) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return fmt.Errorf("--config %s is neither YAML nor JSON: %w", path, err)
	}
	if len(document.Content) == 0 {
		return nil
	}
	mapping := document.Content[0]
	if mapping.Kind != yaml.MappingNode {
		return fmt.Errorf("--config %s has to be a mapping of keys to values", path)
	}
	return setKeys(path, mapping.Content, flags)
}

// setKeys takes keys and values in turn.
func setKeys(path string, nodes []*yaml.Node, flags *flag.FlagSet) error {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	seen := map[string]bool{}
	for i := 0; i+1 < len(nodes); i += 2 {
		key := nodes[i].Value
		if seen[key] {
			return fmt.Errorf("--config %s: key %q is there twice", path, key)
		}
		seen[key] = true
		if err := setKey(flags, given, key, nodes[i+1]); err != nil {
			return fmt.Errorf("--config %s: %w", path, err)
		}
	}
	return nil
}

func setKey(flags *flag.FlagSet, given map[string]bool, key string, node *yaml.Node) error {
	name := strings.ReplaceAll(key, "_", "-")
	if flags.Lookup(name) == nil || strings.Contains(key, "-") || name == "config" {
		return unknownKey(flags, key)
	}
	value, err := text(node)
	if err != nil {
		return fmt.Errorf("key %q: %w", key, err)
	}
	if given[name] {
		return nil
	}
	if err := flags.Set(name, value); err != nil {
		return fmt.Errorf("key %q: %q does not fit: %w", key, value, err)
	}
	return nil
}

// text is the node as a flag would be given: a scalar, or a list of them joined
// by commas.
func text(node *yaml.Node) (string, error) {
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag != "!!null":
		return node.Value, nil
	case node.Kind == yaml.SequenceNode:
		items := make([]string, len(node.Content))
		for i, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return "", fmt.Errorf("item %d has to be a single value", i+1)
			}
			items[i] = item.Value
		}
		return strings.Join(items, ","), nil
	}
	return "", fmt.Errorf("it has to be a single value")
}
