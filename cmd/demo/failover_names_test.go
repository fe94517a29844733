package main

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/internal/relay"
)

// restartTime is how long the shards of a node are out that starts again.
const restartTime = 2 * time.Second

// A node that was killed and comes back under its name takes its shards at once: a TTL is
// far longer here than what it may take.
func TestP6_1_ARestartUnderTheSameNameWaitsForNoTTL(t *testing.T) {
	const ttl = 12 * time.Second
	stores(t, func(t *testing.T, fresh func(*testing.T) place) {
		t.Helper()
		c := newTrio(t, fresh(t), ttl)
		c.underLoad()
		outages := c.again("restarts", times(5), c.restart)
		require.Less(t, outages.quantile(1), grace(restartTime))
	})
}

// restart kills a member, starts it at once, and says how long after the start a shard was
// out.
func (c *trio) restart(victim *member) time.Duration {
	c.Helper()
	rest := c.others(victim)
	p := c.pulse(killPulse, rest)
	victim.node.Kill()
	began := p.Mark()
	c.start(victim)
	c.await("every shard is served again", func() error { return p.Served(began) })
	outage, shard := p.Outage()
	c.Logf("%s was killed and started again: shard %d was out for %v", victim.name, shard, outage)
	if outage > grace(restartTime) {
		c.Logf("%s", c.outputs())
	}
	c.placed()
	c.judge(p, victim)
	return outage
}

// A second process under a name does not start while the first one answers. While that is
// silent it waits for a TTL, and takes over; the first one ends when it wakes. They never
// take the name from each other.
func TestP6_1_TwoProcessesUnderOneName(t *testing.T) {
	stores(t, func(t *testing.T, fresh func(*testing.T) place) {
		t.Helper()
		p := fresh(t)
		c := newTrio(t, p, trioTTL, "--trust-leases")
		c.underLoad()
		older := c.members[0]
		command := nodeOn(t, p.url, append(underLeases(trioTTL), "--trust-leases")...)
		refused(t, unfit{arguments: command, env: p.env, says: []string{"--name a", "another node runs under this name"}})

		pulse := c.pulse(killPulse, c.others(older))
		c.signal(older, syscall.SIGSTOP)
		began := time.Now()
		newer := c.replace(older)
		awaitReady(t, newer.node)
		require.Greater(t, time.Since(began), trioTTL, "it has to wait whether the other's heartbeat moves")
		c.placed()
		c.signal(older, syscall.SIGCONT)
		c.superseded(older)
		c.unmoved(2 * trioTTL / 3)
		require.False(t, newer.node.Ended())
		c.judge(pulse, newer)
		c.calm()
	})
}

// replace starts another process under a member's name, elsewhere. It becomes the member.
func (c *trio) replace(older *member) (newer *member) {
	c.Helper()
	newer = &member{name: older.name, remote: mustAddress(c.T), http: mustAddress(c.T), options: older.options}
	newer.client = client.New(newer.http, 16)
	c.Cleanup(newer.client.Close)
	c.start(newer)
	for i, m := range c.members {
		if m == older {
			c.members[i] = newer
		}
	}
	return newer
}

// superseded expects that a process ends by itself because another has its name.
func (c *trio) superseded(m *member) {
	c.Helper()
	c.await("the older process ends", func() error {
		if !m.node.Ended() {
			return errors.New("it runs")
		}
		return nil
	})
	status, err := m.node.Stop(c.Context()) // it has ended: this is only its status
	require.NoError(c, err)
	require.Equal(c, statusFailed, status, m.node.Output())
	require.Contains(c, m.node.Output(), "another process has taken over this node's name")
	require.NotContains(c, m.node.Output(), "panic")
}

// unmoved expects that for a while no shard gets another owner or generation.
func (c *trio) unmoved(during time.Duration) {
	c.Helper()
	first, err := c.members[0].client.Shards(c.Context())
	require.NoError(c, err)
	for end := time.Now().Add(during); time.Now().Before(end); load.Pause(c.Context(), 50*time.Millisecond) {
		now, err := c.members[0].client.Shards(c.Context())
		require.NoError(c, err)
		require.Equal(c, first, now)
	}
}

// The older process reaches the store, but no peer reaches it: the newer one sees its
// heartbeat move and does not start.
func TestP6_1_ANameWhoseNodeIsCutOffFromItsPeers(t *testing.T) {
	p := directory(t)
	remote, http := mustAddress(t), mustAddress(t)
	way := relay.Start(t, remote)
	flags := append(underLeases(trioTTL), "--trust-leases")
	older, err := process.StartAt(p.options(append(flags, "--advertise", way.Address())...), remote, http)
	require.NoError(t, err)
	t.Cleanup(older.Kill)
	awaitReady(t, older)
	way.Hold()
	refused(t, unfit{arguments: nodeOn(t, p.url, flags...), says: []string{"--name a", "another node runs under this name"}})
	c := client.New(http, 1)
	defer c.Close()
	_, err = c.Add(t.Context(), "k", 1)
	require.NoError(t, err)
	stopNode(t, older)
}
