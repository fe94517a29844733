package main

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/load"
)

// increments is how many additions to counters a run of the test has at least.
const increments = 10_000

// Whatever happens to the nodes, a counter ends between the additions that were acknowledged
// and these with the unknown ones: so none that was said not to have run has run.
func TestNotExecutedIsTrueWhileNodesAreKilledPausedAndStopped(t *testing.T) {
	stores(t, func(t *testing.T, fresh func(*testing.T) place) {
		t.Helper()
		c := newTrio(t, fresh(t), trioTTL)
		c.loadOf(30)
		c.underLoad()
		faults := []func(*member){c.killedBriefly, c.killedForLong, c.pausedBriefly, c.pausedForLong, c.stoppedBriefly}
		for range times(5) {
			c.random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
			for _, fault := range faults {
				load.Pause(t.Context(), time.Duration(c.random.Int64N(int64(500*time.Millisecond)))) // the random moment
				fault(c.any())
				c.placed()
			}
		}
		c.await("enough additions", func() error {
			if n := c.load.Additions(); n < increments {
				return fmt.Errorf("%d", n)
			}
			return nil
		})
		c.calm()
		tally := c.load.Tally()
		t.Logf("%d additions; %s", c.load.Additions(), tally)
		require.Positive(t, tally.NotExecuted)
		require.Positive(t, tally.Unknown)
	})
}

func (c *trio) killedBriefly(m *member) {
	m.node.Kill()
	c.start(m)
}

func (c *trio) killedForLong(m *member) {
	m.node.Kill()
	c.takenOver(m)
	c.start(m)
}

func (c *trio) pausedBriefly(m *member) {
	c.signal(m, syscall.SIGSTOP)
	load.Pause(c.Context(), c.ttl/4) // how long it is paused
	c.signal(m, syscall.SIGCONT)
}

func (c *trio) pausedForLong(m *member) {
	c.signal(m, syscall.SIGSTOP)
	c.takenOver(m)
	c.signal(m, syscall.SIGCONT)
}

func (c *trio) stoppedBriefly(m *member) {
	stopNode(c.T, m.node)
	c.start(m)
}

// takenOver waits until the others share the shards.
func (c *trio) takenOver(m *member) {
	c.Helper()
	c.await("the others have the shards", func() error { return placement(c.Context(), c.others(m)) })
}
