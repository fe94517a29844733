package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slap-go/slap/internal/spelling"
)

// unknownSetting is the error for a key that a group does not have. It names the
// nearest key of the group, a key of that name in another one, or all of the
// group's keys.
func unknownSetting(g group, path, key string) error {
	if strings.Contains(key, ".") {
		return fmt.Errorf("unknown setting %q: write its parts as objects inside each other, not with dots", path+key)
	}
	if near := spelling.Nearest(key, slices.Sorted(maps.Keys(g))); near != "" {
		return fmt.Errorf("unknown setting %q, did you mean %q?", path+key, path+near)
	}
	if near := nearestPath(known, "", key); near != "" {
		return fmt.Errorf("unknown setting %q, did you mean %q?", path+key, near)
	}
	where := "the settings"
	if path != "" {
		where = strings.TrimSuffix(path, ".")
	}
	return fmt.Errorf("unknown setting %q: the keys of %s are %s",
		path+key, where, strings.Join(slices.Sorted(maps.Keys(g)), ", "))
}

// nearestPath is the path of the first group, from the top, that has a key near
// the word.
func nearestPath(g group, path, word string) string {
	keys := slices.Sorted(maps.Keys(g))
	if near := spelling.Nearest(word, keys); near != "" {
		return path + near
	}
	for _, key := range keys {
		if near := nearestPath(g[key].settings, path+key+".", word); near != "" {
			return near
		}
	}
	return ""
}
