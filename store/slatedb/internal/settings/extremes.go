package settings

import (
	"slices"
	"time"
)

// Extremes are the least and the largest values of each setting, and all of those
// that have only a few, each as a tree of its own: for tests of the real engine.
// Texts have none.
func Extremes() []map[string]any {
	var all []map[string]any
	each(known, func(path []string, s setting) {
		for _, value := range s.extremes() {
			tree := map[string]any{path[len(path)-1]: value}
			for _, key := range slices.Backward(path[:len(path)-1]) {
				tree = map[string]any{key: tree}
			}
			all = append(all, tree)
		}
	})
	return all
}

// each calls f with the path of every setting.
func each(g group, f func(path []string, s setting)) {
	for key, s := range g {
		f([]string{key}, s)
		each(s.settings, func(path []string, s setting) { f(append([]string{key}, path...), s) })
	}
}

func (s setting) extremes() []any {
	var values []any
	if s.nullable {
		values = append(values, nil)
	}
	switch {
	case s.settings != nil || s.kind == text:
	case s.kind == flag:
		values = append(values, true, false)
	case s.kind == on:
		values = append(values, true)
	case s.kind == choice:
		for _, c := range s.choices {
			values = append(values, c)
		}
	case s.kind == span:
		values = append(values, time.Duration(s.min), time.Duration(s.max))
	case s.kind == decimal:
		values = append(values, s.min)
	default:
		values = append(values, s.min, s.max)
	}
	return values
}
