package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// failover says that the long forms of the failover tests are asked for, which hold the
// nodes to the times that are promised.
var failover = os.Getenv("SLAP_FAILOVER") != ""

const (
	trioShards = 8
	trioTTL    = 3 * time.Second
)

// grace widens a promised time where the tests of all packages share the machine. The
// long forms have it for themselves.
func grace(d time.Duration) time.Duration {
	if failover {
		return d
	}
	return 4 * d
}

// trio is a cluster of three node processes under leases, and a load on all of them.
type trio struct {
	*testing.T

	random  *rand.Rand
	ttl     time.Duration
	members []*member
	load    *load.Load
	endLoad func()
}

// member is one node's name and addresses, and the process that has them now.
type member struct {
	name, remote, http string
	options            process.Options
	node               *process.Node
	client             *client.Client
}

// newTrio starts three nodes and waits until the shards are spread over them.
func newTrio(t *testing.T, p place, ttl time.Duration, more ...string) *trio {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := &trio{T: t, random: rand.New(rand.NewPCG(seed, 0)), ttl: ttl}
	var peers []string
	for _, name := range []string{"a", "b", "c"} {
		m := &member{name: name, remote: mustAddress(t), http: mustAddress(t)}
		m.client = client.New(m.http, 16)
		t.Cleanup(m.client.Close)
		peers = append(peers, name+"="+m.remote)
		c.members = append(c.members, m)
	}
	for _, m := range c.members {
		m.options = p.options(append(underLeases(ttl), append(more, "--peers", strings.Join(peers, ","), "--name", m.name)...)...)
		c.start(m)
	}
	c.loadOf(12)
	c.placed()
	return c
}

// loadOf makes the load one of so many clients, with a new book.
func (c *trio) loadOf(clients int) {
	var addresses []string
	for _, m := range c.members {
		addresses = append(addresses, m.http)
	}
	c.load = load.New(load.Options{Addresses: addresses, Clients: clients, Pinned: true, Reads: true})
	c.Cleanup(c.load.Close)
}

// underLeases are the flags of a node under leases.
func underLeases(ttl time.Duration) []string {
	return []string{
		"--shards", fmt.Sprint(trioShards), "--strategy", "object-lease", "--lease-ttl", ttl.String(), "--flush-interval", "10ms",
	}
}

// start starts a member's process. It does not wait for it.
func (c *trio) start(m *member) {
	c.Helper()
	node, err := process.StartAt(m.options, m.remote, m.http)
	require.NoError(c, err)
	c.Cleanup(node.Kill)
	m.node = node
}

// any is a member at random.
func (c *trio) any() *member { return c.members[c.random.IntN(len(c.members))] }

// others are the members but one.
func (c *trio) others(m *member) []*member {
	return slices.DeleteFunc(slices.Clone(c.members), func(o *member) bool { return o == m })
}

func clients(members []*member) (all []*client.Client) {
	for _, m := range members {
		all = append(all, m.client)
	}
	return all
}

// underLoad starts the load; calm ends it.
func (c *trio) underLoad() {
	c.Helper()
	before := c.load.Tally().Acknowledged
	end := keepLoading(c.load)
	c.endLoad = sync.OnceFunc(end)
	c.Cleanup(c.endLoad)
	awaitAcknowledged(c.T, c.load, before+100)
}

// calm ends the load and expects that nothing acknowledged is missing, no answer was from
// the past, and nothing happened that was said not to.
func (c *trio) calm() {
	c.Helper()
	c.endLoad()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	verdict, err := c.load.Verify(ctx)
	require.NoError(c, err, "%s", c.outputs())
	require.True(c, verdict.OK(), "%s\n%s", verdict, c.outputs())
}

// placed waits until every member says the same of every shard, with shares within one.
func (c *trio) placed() {
	c.Helper()
	c.await("the shards are spread", func() error { return placement(c.Context(), c.members) })
}

// placement is nil if the members agree on who owns each shard, each owner says that it
// serves it, and shares differ by one at most.
func placement(ctx context.Context, members []*member) error {
	var first []string
	for _, m := range members {
		if err := m.client.Ready(ctx); err != nil {
			return fmt.Errorf("%s is not ready: %w", m.name, err)
		}
		shown, err := m.client.Shards(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		owners, err := ownersOf(shown)
		if err != nil {
			return err
		}
		if first == nil {
			first = owners
		}
		if !slices.Equal(first, owners) {
			return fmt.Errorf("%s sees %v, %s sees %v", members[0].name, first, m.name, owners)
		}
	}
	return even(first, members)
}

// ownersOf is the owner of each shard, if the node shows one for all, and none in motion.
func ownersOf(m shardmap.Map) (owners []string, err error) {
	for _, s := range m.Shards {
		want := "remote"
		if s.Owner == m.Node {
			want = "running"
		}
		if s.Owner == "" || s.State != want {
			return nil, fmt.Errorf("shard %d of %q is %s as %s sees it", s.Shard, s.Owner, s.State, m.Node)
		}
		owners = append(owners, s.Owner)
	}
	return owners, nil
}

func even(owners []string, members []*member) error {
	share := map[string]int{}
	for _, owner := range owners {
		share[owner]++
	}
	low, high := len(owners), 0
	for _, m := range members {
		low, high = min(low, share[m.name]), max(high, share[m.name])
		delete(share, m.name)
	}
	if high-low > 1 || len(share) > 0 {
		return fmt.Errorf("shares differ by more than one: %v", owners)
	}
	return nil
}

// await polls until something is so; after a long while it fails with the last reason why
// it was not.
func (c *trio) await(what string, so func() error) {
	c.Helper()
	err := errors.New("not tried")
	for deadline := time.Now().Add(patience); err != nil; {
		if err = so(); err == nil {
			return
		}
		require.True(c, time.Now().Before(deadline), "%s: %v\n%s", what, err, c.outputs())
		load.Pause(c.Context(), 20*time.Millisecond)
	}
}

// outputs is what the processes wrote, for a failure.
func (c *trio) outputs() string {
	var all strings.Builder
	for _, m := range c.members {
		fmt.Fprintf(&all, "--- %s\n%s\n", m.name, m.node.Output())
	}
	return all.String()
}

// pulse starts a pulse through some members that ends with the scenario.
func (c *trio) pulse(every time.Duration, through []*member) *load.Pulse {
	c.Helper()
	p, err := load.StartPulse(c.Context(), every, trioShards, clients(through)...)
	require.NoError(c, err)
	c.Cleanup(p.Stop)
	began := time.Now()
	c.await("every shard is written to", func() error { return p.Served(began) })
	return p
}

// judge ends a pulse and expects that its book is right.
func (c *trio) judge(p *load.Pulse, at *member) {
	c.Helper()
	p.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	verdict, err := p.Verify(ctx, at.client)
	require.NoError(c, err, "%s", c.outputs())
	require.True(c, verdict.OK(), "%s\n%s", verdict, c.outputs())
}

// signal sends a signal to a member.
func (c *trio) signal(m *member, s syscall.Signal) {
	c.Helper()
	require.NoError(c, m.node.Signal(s))
}
