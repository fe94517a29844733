//go:build !race

package strategytest_test

const raceEnabled = false
