package main

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/internal/s3test"
)

// A pulse through the nodes that stay measures outages, to its own pace.
const (
	killPulse = 50 * time.Millisecond
	stopPulse = 20 * time.Millisecond
)

// stores are where the scenarios run: each call of fresh is a place without anything.
func stores(t *testing.T, test func(t *testing.T, fresh func(t *testing.T) place)) {
	t.Helper()
	t.Run("directory", func(t *testing.T) { test(t, directory) })
	if failover {
		t.Run("S3", func(t *testing.T) {
			server, n := s3test.Start(t, "demo"), 0
			test(t, func(*testing.T) place {
				n++
				return place{url: server.URL("demo", fmt.Sprint("place-", n)), env: server.Env()}
			})
		})
	}
}

// times is how often a scenario is repeated in the long form.
func times(long int) int {
	if failover {
		return long
	}
	return 1
}

func TestFO1_FO2_FO3_PlacementKillAndPauseUnderLoad(t *testing.T) {
	stores(t, func(t *testing.T, fresh func(*testing.T) place) {
		t.Helper()
		for n := range times(5) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				c := newTrio(t, fresh(t), trioTTL)
				c.reachable()
				c.underLoad()
				c.kill(c.any())
				c.calm()
				c.underLoad()
				c.pause(c.any())
				c.calm()
				c.Logf("%s", c.load.Tally())
			})
		}
	})
}

// A node that leaves hands its shards over. Nobody has to wait long, and no request ends
// without an answer.
func TestACleanStopUnderLoad(t *testing.T) {
	stores(t, func(t *testing.T, fresh func(*testing.T) place) {
		t.Helper()
		c := newTrio(t, fresh(t), trioTTL)
		c.underLoad()
		outages := c.again("clean stops", times(20), c.stop)
		require.Less(t, outages.quantile(0.5), grace(300*time.Millisecond))
		require.Less(t, outages.quantile(1), grace(time.Second))
	})
}

func TestFO2_Kill9ManyTimesInARow(t *testing.T) {
	if !failover {
		t.Skip("the long form of FO-2: make failover")
	}
	stores(t, func(t *testing.T, fresh func(*testing.T) place) {
		t.Helper()
		c := newTrio(t, fresh(t), trioTTL)
		c.underLoad()
		c.again("kill -9", 20, c.kill)
	})
}

// FO-1: each key is reached through every node.
func (c *trio) reachable() {
	c.Helper()
	for n := range 40 {
		key := fmt.Sprint("reached-", n)
		for i, m := range c.members {
			count, err := m.client.Add(c.Context(), key, 1)
			require.NoError(c, err)
			require.Equal(c, int64(i+1), count.Value, "%s through %s", key, m.name)
		}
	}
}

// kill ends a member as kill -9 does, expects every shard to be written to again in time,
// starts the member again, and says how long the outage was.
func (c *trio) kill(victim *member) time.Duration {
	c.Helper()
	rest := c.others(victim)
	p := c.pulse(killPulse, rest)
	p.Mark()
	victim.node.Kill()
	killed := time.Now()
	c.await("every shard is served again", func() error { return p.Served(killed) })
	outage, shard := p.Outage()
	limit := c.ttl + 2*c.ttl/3 // two intervals; the promise adds the time to open
	c.Logf("%s was killed: shard %d was out for %v", victim.name, shard, outage)
	require.Less(c, outage, grace(limit), "%s", c.outputs())
	c.judge(p, rest[0])
	c.start(victim)
	c.placed()
	return outage
}

// pause stops a member's process for so long that its shards are taken over, lets it go
// on, and says how long the outage was.
func (c *trio) pause(victim *member) time.Duration {
	c.Helper()
	rest := c.others(victim)
	p := c.pulse(killPulse, rest)
	p.Mark()
	c.signal(victim, syscall.SIGSTOP)
	stopped := time.Now()
	c.await("every shard is served again", func() error { return p.Served(stopped) })
	outage, _ := p.Outage()
	load.Pause(c.Context(), time.Until(stopped.Add(2*c.ttl+time.Second))) // how long it is paused
	waking := make(chan struct{})
	go func() { // sent while it sleeps, answered by what it knows as it wakes
		defer close(waking)
		p.Read(c.Context(), victim.client, 5)
	}()
	load.Pause(c.Context(), 100*time.Millisecond) // until they are on their way
	c.signal(victim, syscall.SIGCONT)
	<-waking
	p.Read(c.Context(), victim.client, 2)
	c.placed()
	require.False(c, victim.node.Ended(), victim.node.Output())
	c.judge(p, victim)
	return outage
}

// stop lets a member leave, starts it again, and says for how long a shard could not be
// written.
func (c *trio) stop(victim *member) time.Duration {
	c.Helper()
	rest := c.others(victim)
	p := c.pulse(stopPulse, rest)
	before := c.load.Tally()
	p.Mark()
	stopNode(c.T, victim.node)
	gone := time.Now()
	c.await("every shard is served", func() error { return p.Served(gone) })
	outage, shard := p.Outage()
	c.Logf("%s left: shard %d was out for %v", victim.name, shard, outage)
	c.judge(p, rest[0])
	unknown, one := p.Unknown()
	require.Zero(c, unknown, "%v\n%s", one, c.outputs())
	c.start(victim)
	c.placed()
	require.Zero(c, c.load.Tally().Since(before).Unknown, "%v\n%s", c.load.NewestUnknown(), c.outputs())
	return outage
}
