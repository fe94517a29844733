// Package spelling guesses which word somebody meant.
package spelling

import "strings"

// Nearest is the candidate that takes the fewest edits to become the word, no
// more than a third of its letters; the first of several, empty if none is near.
// Candidates are in lower case; the word may be in any.
func Nearest(word string, candidates []string) string {
	best, least := "", len(word)/3+1
	for _, c := range candidates {
		if d := edits(strings.ToLower(word), c); d < least {
			best, least = c, d
		}
	}
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
