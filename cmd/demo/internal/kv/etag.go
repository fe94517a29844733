package kv

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slap-go/slap/cmd/demo/demopb"
)

// Quote is the tag as the ETag header has it.
func Quote(tag string) string { return `"` + tag + `"` }

// ParsePreconditions reads the lines of the If-Match and If-None-Match headers.
func ParsePreconditions(ifMatch, ifNoneMatch []string) (*demopb.Preconditions, error) {
	match, err := parseTags(ifMatch, false)
	if err != nil {
		return nil, fmt.Errorf("If-Match: %w", err)
	}
	none, err := parseTags(ifNoneMatch, true)
	if err != nil {
		return nil, fmt.Errorf("If-None-Match: %w", err)
	}
	return &demopb.Preconditions{IfMatch: match, IfNoneMatch: none}, nil
}

// parseTags is nil without a header. A weak tag matches only where the comparison
// is weak; If-Match compares strongly, so there it matches nothing.
func parseTags(lines []string, weak bool) (*demopb.ETags, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	text := strings.Trim(strings.Join(lines, ","), " \t")
	if text == "*" {
		return &demopb.ETags{Any: true}, nil
	}
	tags := &demopb.ETags{}
	for {
		tag, isWeak, rest, err := nextTag(text)
		if err != nil {
			return nil, err
		}
		if weak || !isWeak {
			tags.Tags = append(tags.Tags, tag)
		}
		if rest == "" {
			return tags, nil
		}
		text = rest
	}
}

var errTagForm = errors.New(`it has to be * or quoted tags such as "abc", "def"`)

// nextTag splits the first tag off a list of them.
func nextTag(text string) (tag string, weak bool, rest string, err error) {
	text, weak = strings.CutPrefix(text, "W/")
	text, quoted := strings.CutPrefix(text, `"`)
	tag, rest, closed := strings.Cut(text, `"`)
	if !quoted || !closed {
		return "", false, "", errTagForm
	}
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" {
		return tag, weak, "", nil
	}
	rest, another := strings.CutPrefix(rest, ",")
	rest = strings.TrimLeft(rest, " \t,")
	if !another {
		return "", false, "", errTagForm
	}
	return tag, weak, rest, nil
}
