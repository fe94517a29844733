package load

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

// pause is how long a worker waits after a request that was not acknowledged.
const pause = 20 * time.Millisecond

// worker is one client: it writes to few keys, three times to a counter for each write to
// its own value, so that those of other shards go on while one waits for a shard.
type worker struct {
	load     *Load
	number   int
	counters []*counter // shared with other workers
	value    *value
	after    map[visit]time.Time // when a node wants to be asked about a key again
}

// visit is a question to a node about a key.
type visit struct {
	node *node
	key  string
}

func (l *Load) worker(n int) *worker {
	mine := []*counter{l.counters[n%len(l.counters)], l.counters[(n+1)%len(l.counters)]}
	return &worker{load: l, number: n, counters: mine, value: l.values[n], after: map[visit]time.Time{}}
}

// work writes until ctx ends, each time by the next node.
func (w *worker) work(ctx context.Context) {
	for turn := w.number; ctx.Err() == nil; turn++ {
		node := w.node(turn)
		if w.load.options.Reads && rand.IntN(4) == 0 {
			w.counter().read(context.WithoutCancel(ctx), node.Client)
		}
		if !w.turn(ctx, node) {
			Pause(ctx, pause)
		}
	}
}

func (w *worker) node(turn int) *node {
	if w.load.options.Pinned {
		return w.load.nodes[w.number%len(w.load.nodes)]
	}
	return w.load.nodes.next(turn, time.Now())
}

// turn is one write, or none if the node does not want to be asked yet. It says whether
// the next may follow at once. A node that is gone is no error as long as another is there.
func (w *worker) turn(ctx context.Context, to *node) bool {
	key, write := w.next()
	began, v := time.Now(), visit{to, key}
	if began.Before(w.after[v]) {
		return false
	}
	// The end of the run does not cut off a request: its outcome would be unknown.
	err := write(context.WithoutCancel(ctx), to.Client)
	now := time.Now()
	to.note(err, now)
	if client.Unreachable(err) && !w.load.nodes.gone() {
		return !w.load.options.Pinned
	}
	w.load.tally.add(err, now.Sub(began))
	if after := client.RetryAfter(err); after > 0 {
		w.after[v] = now.Add(after)
	}
	return err == nil
}

// counter is any of those that the worker adds to.
func (w *worker) counter() *counter { return w.counters[rand.IntN(len(w.counters))] }

// next is the key to write to, and how.
func (w *worker) next() (key string, write func(context.Context, *client.Client) error) {
	if rand.IntN(4) == 0 {
		return w.value.key, w.value.write
	}
	c := w.counter()
	return c.key, func(ctx context.Context, node *client.Client) error {
		shard, err := c.add(ctx, node)
		if err == nil {
			w.load.outages.written(shard, time.Now())
		}
		return err
	}
}
