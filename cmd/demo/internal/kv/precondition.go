package kv

import (
	"slices"

	"github.com/slap-go/slap/cmd/demo/demopb"
)

// holds says whether a write may go on. The current entry is nil when the key
// has no value.
func holds(when *demopb.Preconditions, current *demopb.Entry) bool {
	if match := when.GetIfMatch(); match != nil && !matches(match, current) {
		return false
	}
	none := when.GetIfNoneMatch()
	return none == nil || !matches(none, current)
}

func matches(tags *demopb.ETags, current *demopb.Entry) bool {
	if current == nil {
		return false
	}
	return tags.GetAny() || slices.Contains(tags.GetTags(), current.GetEtag())
}
