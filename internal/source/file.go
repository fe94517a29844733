package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"
)

// File reads a YAML or JSON file.
func File(path string) (*Source, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	document := document{lines: map[string]int{}}
	k := koanf.New(separator)
	if err := k.Load(rawbytes.Provider(data), &document); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Source{
		koanf: k, keys: k.Raw(),
		place: func(keys []string) string { return fmt.Sprintf("%s:%d", path, document.line(keys)) },
		spell: dotted,
	}, nil
}

// document is a parser of YAML, of which JSON is a part, that remembers the lines.
type document struct{ lines map[string]int }

// Unmarshal reads the one mapping in the text.
func (d *document) Unmarshal(text []byte) (map[string]any, error) {
	reader := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	switch err := reader.Decode(&root); {
	case errors.Is(err, io.EOF): // nothing but comments
		return map[string]any{}, nil
	case err != nil:
		return nil, syntax(err)
	}
	if !errors.Is(reader.Decode(new(yaml.Node)), io.EOF) {
		return nil, errors.New("the file must hold one document, without a line --- after its beginning")
	}
	mapping := root.Content[0]
	if mapping.Tag == "!!null" {
		return map[string]any{}, nil
	}
	if mapping.Kind != yaml.MappingNode {
		return nil, errors.New("the file must be a mapping of keys to values, in YAML or JSON")
	}
	var keys map[string]any
	if err := mapping.Decode(&keys); err != nil {
		return nil, syntax(err)
	}
	d.remember(mapping, nil)
	return keys, nil
}

// Marshal is what a parser of koanf has and nobody needs here.
func (*document) Marshal(map[string]any) ([]byte, error) { return nil, errors.ErrUnsupported }

// remember notes the line of each key below a mapping, whose content is keys and
// values in turn.
func (d *document) remember(mapping *yaml.Node, path []string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		inner := below(path, key.Value)
		d.lines[strings.Join(inner, separator)] = key.Line
		if value.Kind == yaml.MappingNode {
			d.remember(value, inner)
		}
	}
}

// line is that of the key, or of the one above it that the file spells out.
func (d *document) line(path []string) int {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if line, ok := d.lines[strings.Join(path, separator)]; ok {
			return line
		}
	}
	return 1
}

// content is what the parser's errors quote of the file, which may be a secret.
var content = regexp.MustCompile("`[^`]*`?")

// syntax is the parser's first complaint without the file's content.
func syntax(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = wrong.Errors[0]
	}
	return fmt.Errorf("the file is neither YAML nor JSON: %s", content.ReplaceAllString(text, "a value"))
}
