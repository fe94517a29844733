//go:build unix

package store

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or what a test started this binary again for.
func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(runChild(role))
	}
	goleak.VerifyTestMain(m)
}
