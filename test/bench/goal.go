package main

import (
	"fmt"
	"math"
)

// A goal is the bound that a measured figure has to keep.
type goal struct {
	atMost bool // else at least
	bound  float64
}

func atLeast(bound float64) goal { return goal{bound: bound} }
func atMost(bound float64) goal  { return goal{atMost: true, bound: bound} }

// String is the goal as a result line ends with it.
func (g goal) String() string {
	if g.atMost {
		return fmt.Sprintf("target<=%g", g.bound)
	}
	return fmt.Sprintf("target>=%g", g.bound)
}

// met tells whether the figure keeps the goal, as precisely as a line shows it.
func (g goal) met(figure float64) bool {
	if g.atMost {
		return rounded(figure) <= g.bound
	}
	return rounded(figure) >= g.bound
}

// rounded is a figure with the two decimals that are shown.
func rounded(figure float64) float64 { return math.Round(figure*100) / 100 }
