package main

import "slices"

// median is the middle of the values, or the mean of the two in the middle. It is
// zero of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// ratios divides the figures of each round. Rounds whose peer did nothing do not count.
func ratios(ours, peer []float64) []float64 {
	var quotients []float64
	for i, p := range peer {
		if p > 0 {
			quotients = append(quotients, ours[i]/p)
		}
	}
	return quotients
}
