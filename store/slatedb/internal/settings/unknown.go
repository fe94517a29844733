package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unknownSetting is the error for a key that a group does not have. It names the
// nearest key of the group, a key of that name in another one, or all of the
// group's keys.
func unknownSetting(g group, path, key string) error {
	if strings.Contains(key, ".") {
		return fmt.Errorf("unknown setting %q: write its parts as objects inside each other, not with dots", path+key)
	}
	if near := nearest(slices.Sorted(maps.Keys(g)), key); near != "" {
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

// nearest is the candidate that takes the fewest edits to become the word, no
// more than a third of its letters.
func nearest(candidates []string, word string) string {
	best, least := "", len(word)/3+1
	for _, c := range candidates {
		if d := edits(strings.ToLower(word), c); d < least {
			best, least = c, d
		}
	}
	return best
}

// nearestPath is the path of the first group, from the top, that has a key near
// the word.
func nearestPath(g group, path, word string) string {
	keys := slices.Sorted(maps.Keys(g))
	if near := nearest(keys, word); near != "" {
		return path + near
	}
	for _, key := range keys {
		if near := nearestPath(g[key].settings, path+key+".", word); near != "" {
			return near
		}
	}
	return ""
}

// edits is how many letters to insert, delete or replace to make one word of
// another.
func edits(from, to string) int {
	row := make([]int, len(to)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(from) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(to) {
			cost := diagonal
			if from[i] != to[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
