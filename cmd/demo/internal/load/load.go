// Package load writes to the demo from many clients at once and keeps book of
// what was acknowledged, so that it can tell afterwards whether anything was lost.
package load

import (
	"context"
	"crypto/rand"
	"fmt"
	randv2 "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

// pause is how long a client waits after a request that was not acknowledged.
const pause = 20 * time.Millisecond

// Options say where the load goes.
type Options struct {
	Addresses []string // host:port of each node
	Clients   int      // requests in flight at a time
	Counters  int      // shared by all clients; default: as many as clients
	Pinned    bool     // each client stays at one node, so that a silent node holds up its own clients alone
	Reads     bool     // one request in four reads a counter, which may not be older than what was known
}

// Load is a set of clients and the book they keep. Its runs may follow each
// other, over restarts of the nodes; Tally may be called at any time.
type Load struct {
	options  Options
	nodes    []*node
	counters []*counter
	values   []*value // one for each client, which is its only writer
	tally    tally
	outages  outages
}

// node is where requests go.
type node struct {
	*client.Client

	address           string
	answered, refused atomic.Bool // whether a write ever ended so
}

func (n *node) note(err error) {
	if client.Unreachable(err) {
		n.refused.Store(true)
	} else {
		n.answered.Store(true)
	}
}

// Unreached is the addresses at which nobody ever answered.
func (l *Load) Unreached() []string {
	var addresses []string
	for _, n := range l.nodes {
		if n.refused.Load() && !n.answered.Load() {
			addresses = append(addresses, n.address)
		}
	}
	return addresses
}

// New makes a load on keys that nobody used before.
func New(o Options) *Load {
	l := &Load{options: o}
	for _, address := range o.Addresses {
		l.nodes = append(l.nodes, &node{Client: client.New(address, o.Clients), address: address})
	}
	if o.Counters == 0 {
		o.Counters = o.Clients
	}
	run := rand.Text()[:8]
	for n := range o.Counters {
		l.counters = append(l.counters, newCounter(fmt.Sprintf("load/%s/counter-%d", run, n)))
	}
	for n := range o.Clients {
		l.values = append(l.values, newValue(fmt.Sprintf("load/%s/value-%d", run, n)))
	}
	return l
}

// Close closes the connections.
func (l *Load) Close() {
	for _, node := range l.nodes {
		node.Close()
	}
}

// Run writes until ctx ends, then waits for the answers that are still to come.
func (l *Load) Run(ctx context.Context) {
	l.outages.begin(time.Now())
	var clients sync.WaitGroup
	for n := range l.values {
		clients.Go(func() { l.work(ctx, n) })
	}
	clients.Wait()
	l.outages.end(time.Now())
}

// work is one client: three additions to any counter for each write to its own value.
func (l *Load) work(ctx context.Context, n int) {
	for turn := n; ctx.Err() == nil; turn++ {
		node := l.nodes[turn%len(l.nodes)]
		if l.options.Pinned {
			node = l.nodes[n%len(l.nodes)]
		}
		if l.options.Reads && randv2.IntN(4) == 0 {
			l.counters[randv2.IntN(len(l.counters))].read(context.WithoutCancel(ctx), node.Client)
		}
		began := time.Now()
		// The end of the run does not cut off a request: its outcome would be unknown.
		err := l.write(context.WithoutCancel(ctx), node.Client, n)
		node.note(err)
		l.tally.add(err, time.Since(began))
		if err != nil {
			Pause(ctx, pause)
		}
	}
}

func (l *Load) write(ctx context.Context, node *client.Client, n int) error {
	if randv2.IntN(4) == 0 {
		return l.values[n].write(ctx, node)
	}
	shard, err := l.counters[randv2.IntN(len(l.counters))].add(ctx, node)
	if err == nil {
		l.outages.written(shard, time.Now())
	}
	return err
}

// Additions is how many additions to counters were acknowledged.
func (l *Load) Additions() (n int) {
	for _, c := range l.counters {
		c.mu.Lock()
		n += len(c.values)
		c.mu.Unlock()
	}
	return n
}

// Pause waits for a time, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
