package node

import (
	"flag"
	"fmt"
	"strings"
)

// unknownKey is the error for a key that is none, with the one that may be meant.
func unknownKey(flags *flag.FlagSet, key string) error {
	if near := nearest(flags, key); near != "" {
		return fmt.Errorf("unknown key %q: did you mean %q?", key, near)
	}
	return fmt.Errorf("unknown key %q: `demo node --help` lists the flags, whose names are the keys", key)
}

// nearest is the key that takes the fewest edits to become the word, no more than
// a third of its letters.
func nearest(flags *flag.FlagSet, word string) string {
	best, least := "", len(word)/3+1
	flags.VisitAll(func(f *flag.Flag) {
		key := strings.ReplaceAll(f.Name, "-", "_")
		if d := edits(strings.ToLower(word), key); d < least && f.Name != "config" {
			best, least = key, d
		}
	})
	return best
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
