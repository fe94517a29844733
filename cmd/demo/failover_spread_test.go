package main

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// spread is how long something took in several runs.
type spread struct{ sorted []time.Duration }

func (s *spread) add(d time.Duration) {
	at, _ := slices.BinarySearch(s.sorted, d)
	s.sorted = slices.Insert(s.sorted, at, d)
}

// again does something to a member at random, so often in a row under load, then ends the
// load, and tells for how long a shard was out each time.
func (c *trio) again(what string, times int, do func(*member) time.Duration) (outages spread) {
	c.Helper()
	for range times {
		outages.add(do(c.any()))
	}
	c.calm()
	c.Logf("%s: the longest time a shard was out: %s", what, &outages)
	return outages
}

// quantile is the shortest time within which the given part of the runs ended.
func (s *spread) quantile(q float64) time.Duration {
	return s.sorted[max(0, int(math.Ceil(q*float64(len(s.sorted))))-1)]
}

// String is the distribution on one line.
func (s *spread) String() string {
	ms := func(q float64) time.Duration { return s.quantile(q).Round(time.Millisecond) }
	return fmt.Sprintf("%d runs, min %s, p50 %s, p90 %s, max %s", len(s.sorted), ms(0), ms(0.5), ms(0.9), ms(1))
}

func TestASpreadOfRuns(t *testing.T) {
	var s spread
	for _, n := range []int{5, 1, 4, 2, 3, 10, 9, 8, 7, 6} {
		s.add(time.Duration(n) * time.Second)
	}
	require.Equal(t, "10 runs, min 1s, p50 5s, p90 9s, max 10s", s.String())
}
