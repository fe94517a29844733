package actors

import (
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"testing"

	"github.com/slap-go/slap/store"
)

// usage is what a process holds.
type usage struct {
	goroutines, descriptors int
	memory                  uint64 // resident, bytes
}

func measure(t *testing.T) usage {
	t.Helper()
	debug.FreeOSMemory()
	u := usage{goroutines: goruntime.NumGoroutine()}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here")
	}
	u.descriptors = len(files)
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(status), &size, &resident); err != nil {
		t.Fatal(err)
	}
	u.memory = resident * uint64(os.Getpagesize())
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
	var after usage
	r.eventually("goroutines and descriptors are as before", func() bool {
		after = measure(t)
		return after.goroutines <= before.goroutines && after.descriptors <= before.descriptors
	})
	if grown := int64(after.memory) - int64(before.memory); !raced && grown > max(int64(before.memory)/20, 12<<20) {
		t.Errorf("%d bytes of memory grew by %d", before.memory, grown)
	}
	if n := len(r.openings); n > 1 {
		t.Errorf("%d openings are remembered", n)
	}
	t.Logf("before %+v, after %+v", before, after)
}
