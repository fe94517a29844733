package counter

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSumNoticesOverflow(t *testing.T) {
	for _, c := range []struct {
		a, b int64
		want int64
		fits bool
	}{
		{1, 2, 3, true},
		{math.MaxInt64 - 1, 1, math.MaxInt64, true},
		{math.MaxInt64, 1, 0, false},
		{1, math.MaxInt64, 0, false},
		{math.MinInt64 + 1, -1, math.MinInt64, true},
		{math.MinInt64, -1, 0, false},
		{-1, math.MinInt64, 0, false},
		{math.MinInt64, math.MaxInt64, -1, true},
	} {
		got, fits := sum(c.a, c.b)
		require.Equal(t, c.fits, fits, "%d + %d", c.a, c.b)
		require.Equal(t, c.want, got, "%d + %d", c.a, c.b)
	}
}

func TestStoredCountersAreReadBack(t *testing.T) {
	for _, value := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		got, err := decode(encode(value))
		require.NoError(t, err)
		require.Equal(t, value, got)
	}
	_, err := decode([]byte("seven b"))
	require.ErrorContains(t, err, "7 bytes")
}
