package slap_test

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/footprint"
	"github.com/slap-go/slap/store"
)

// TestSTR2 lets two nodes that both want all shards take them from each other. What
// either has acknowledged is in one history of the counter: no value twice, none lost.
func TestSTR2_TwoNodesThatFenceEachOtherLoseNothing(t *testing.T) {
	lasting := 3 * time.Second
	if stress {
		lasting = time.Minute
	}
	s := store.Memory()
	config := func() slap.Config {
		return slap.Config{
			Store: s, Shards: 2, ShardChildren: counters, Strategy: newLocal(t),
			Settings: map[string]any{"flush_interval": "2ms", "manifest_poll_interval": "50ms"},
		}
	}
	nodes := []*slap.Cluster{startCluster(t, config()), newCluster(t, config())}
	if err := nodes[1].Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	var values sync.Map
	var acknowledged, unknown [4]atomic.Uint64
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for i := range 16 {
		callers.Go(func() {
			for k := i % 4; ; {
				select {
				case <-stop:
					return
				default:
				}
				value, err := increment(within(t, 5*time.Second), nodes[i/8], keyOf(k))
				switch {
				case err == nil:
					acknowledged[k].Add(1)
					if _, twice := values.LoadOrStore(fmt.Sprint(k, "=", value), i); twice {
						t.Errorf("%s: %d acknowledged twice", keyOf(k), value)
					}
				case errors.Is(err, slap.ErrOutcomeUnknown):
					unknown[k].Add(1)
				case !errors.Is(err, slap.ErrNotExecuted):
					t.Errorf("%v", err)
				}
			}
		})
	}
	time.Sleep(lasting)
	stopCluster(t, nodes[1])
	close(stop)
	callers.Wait()
	if err := nodes[0].AwaitReady(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	for k := range acknowledged {
		low := acknowledged[k].Load() + 1
		high := low + unknown[k].Load()
		var value uint64
		var err error
		eventually(t, "the counter is served", func() bool {
			value, err = increment(within(t, time.Minute), nodes[0], keyOf(k))
			if errors.Is(err, slap.ErrOutcomeUnknown) {
				high++
			}
			return err == nil
		})
		if value < low || value > high {
			t.Errorf("%s is %d, want %d to %d", keyOf(k), value, low, high)
		}
	}
	t.Logf("acknowledged %d, unknown %d", acknowledged[0].Load(), unknown[0].Load())
	stopCluster(t, nodes[0])
}

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

func TestSPEC10_ClustersThatComeAndGoLeaveNothingBehind(t *testing.T) {
	rounds := 20
	if stress {
		rounds = 300
	}
	s := store.Memory()
	round := func() {
		cluster := startCluster(t, slap.Config{Store: s, Shards: 4, ShardChildren: counters, Cache: slap.Cache{Bytes: 1 << 20}})
		if _, err := increment(within(t, time.Minute), cluster, "k"); err != nil {
			t.Fatal(err)
		}
		stopCluster(t, cluster)
	}
	for range rounds / 4 {
		round()
	}
	before := measure(t)
	for range rounds {
		round()
	}
	eventually(t, "goroutines and descriptors are as before", func() bool {
		after := measure(t)
		return after.Goroutines <= before.Goroutines && after.Descriptors <= before.Descriptors
	})
	if grown := int64(measure(t).Memory) - int64(before.Memory); grown > max(int64(before.Memory)/20, 16<<20) {
		t.Errorf("%d bytes of memory grew by %d", before.Memory, grown)
	}
}
