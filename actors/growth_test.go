package actors

import (
	"errors"
	"log/slog"
	"os"
	"testing"

	"github.com/slap-go/slap/internal/footprint"
	"github.com/slap-go/slap/store"
)

func measure(t *testing.T) footprint.Usage {
	t.Helper()
	u, err := footprint.Measure()
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no /proc here")
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSPEC10_ShardsThatComeAndGoLeaveNothingBehind(t *testing.T) {
	rounds := scaled(150, 1_000)
	r := newRig(t, 2*rounds, store.Dir(t.TempDir()), func(c *Config) {
		c.ShardChildren, c.Logger = workers, slog.New(slog.DiscardHandler)
	})
	next := 0
	round := func() { // each on a database of its own, since a database grows with its openings
		n := next
		next++
		if err := r.open(n); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Ask(t.Context(), n, "a", word("write"), Retry{}); err != nil {
			t.Fatal(err)
		}
		if err := r.shut(n); err != nil {
			t.Fatal(err)
		}
	}
	for range rounds / 2 {
		round()
	}
	before := measure(t)
	for range rounds {
		round()
	}
	var after footprint.Usage
	r.eventually("goroutines and descriptors are as before", func() bool {
		after = measure(t)
		return after.Goroutines <= before.Goroutines && after.Descriptors <= before.Descriptors
	})
	if grown := int64(after.Memory) - int64(before.Memory); !raced && grown > max(int64(before.Memory)/20, 12<<20) {
		t.Errorf("%d bytes of memory grew by %d", before.Memory, grown)
	}
	if n := len(r.openings); n > 1 {
		t.Errorf("%d openings are remembered", n)
	}
	t.Logf("before %+v, after %+v", before, after)
}
