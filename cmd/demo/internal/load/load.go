// Package load writes to the demo from many clients at once and keeps book of
// what was acknowledged, so that it can tell afterwards whether anything was lost.
package load

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// Options say where the load goes.
type Options struct {
	Addresses []string // host:port of each node
	Clients   int      // requests in flight at a time
	Counters  int      // each is shared by two clients or more; default: as many as clients
	Pinned    bool     // each client stays at one node, so that a silent node holds up its own clients alone
	Reads     bool     // one request in four reads a counter, which may not be older than what was known
}

// Load is a set of clients and the book they keep. Its runs may follow each
// other, over restarts of the nodes; Tally may be called at any time.
type Load struct {
	options  Options
	nodes    nodes
	counters []*counter
	values   []*value // one for each worker, which is its only writer
	tally    tally
	outages  outages
}

// New makes a load on keys that nobody used before.
func New(o Options) *Load {
	l := &Load{options: o, nodes: dial(o.Addresses, o.Clients)}
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
	for _, n := range l.nodes {
		n.Close()
	}
}

// Run writes until ctx ends, then waits for the answers that are still to come.
func (l *Load) Run(ctx context.Context) {
	l.outages.begin(time.Now())
	var workers sync.WaitGroup
	for n := range l.values {
		workers.Go(func() { l.worker(n).work(ctx) })
	}
	workers.Wait()
	l.outages.end(time.Now())
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
