package load

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

// Pulse adds to one counter of every shard at a steady pace, whether or not the
// additions before were answered, and measures for how long none to a shard was
// acknowledged. It is safe for concurrent use.
type Pulse struct {
	every time.Duration
	beats []*beat // one for each shard

	end     context.CancelFunc
	running sync.WaitGroup
}

// beat is the counter of one shard.
type beat struct {
	*counter

	mu      sync.Mutex
	sent    time.Time // of the acknowledged additions, when the newest was sent
	last    time.Time // newest acknowledgement
	longest time.Duration
	refused error // the newest error
	unclear error // the newest whose outcome is unknown
}

// StartPulse looks for a counter of every shard, at the first node, and begins to add
// to each, through one node after the other. [Pulse.Stop] ends it.
func StartPulse(ctx context.Context, every time.Duration, shards int, nodes ...*client.Client) (*Pulse, error) {
	p := &Pulse{every: every, beats: make([]*beat, shards)}
	run := rand.Text()[:8]
	for n, missing := 0, shards; missing > 0; n++ {
		key := fmt.Sprintf("pulse/%s/%d", run, n)
		count, err := nodes[0].Counter(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("the shard of %s is not known: %w", key, err)
		}
		if p.beats[count.Shard] == nil {
			p.beats[count.Shard] = &beat{counter: newCounter(key)}
			missing--
		}
	}
	ctx, p.end = context.WithCancel(context.WithoutCancel(ctx))
	p.Mark()
	for _, b := range p.beats {
		p.running.Go(func() { p.beat(ctx, b, nodes) })
	}
	return p, nil
}

// Stop ends the pulse and waits for the answers that are still to come.
func (p *Pulse) Stop() {
	p.end()
	p.running.Wait()
}

func (p *Pulse) beat(ctx context.Context, b *beat, nodes []*client.Client) {
	for turn := 0; ctx.Err() == nil; turn++ {
		p.running.Go(func() { b.add(context.WithoutCancel(ctx), nodes[turn%len(nodes)]) })
		Pause(ctx, p.every)
	}
}

func (b *beat) add(ctx context.Context, node *client.Client) {
	sent := time.Now()
	_, err := b.counter.add(ctx, node)
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.refused = err
		if !errors.Is(err, client.ErrNotExecuted) {
			b.unclear = err
		}
		return
	}
	b.longest = max(b.longest, now.Sub(b.last))
	b.last = now
	if sent.After(b.sent) {
		b.sent = sent
	}
}

// Mark begins to measure anew and returns the time of that.
func (p *Pulse) Mark() time.Time {
	now := time.Now()
	for _, b := range p.beats {
		b.mu.Lock()
		b.last, b.longest = now, 0
		b.mu.Unlock()
	}
	return now
}

// Served is nil once every shard has acknowledged an addition that was sent after the
// given time.
func (p *Pulse) Served(after time.Time) error {
	for shard, b := range p.beats {
		b.mu.Lock()
		sent, refused := b.sent, b.refused
		b.mu.Unlock()
		if !sent.After(after) {
			return fmt.Errorf("shard %d acknowledges nothing: %w", shard, refused)
		}
	}
	return nil
}

// Outage is the longest time since the last [Pulse.Mark] in which a shard acknowledged
// nothing, and that shard.
func (p *Pulse) Outage() (longest time.Duration, shard int) {
	now := time.Now()
	for n, b := range p.beats {
		b.mu.Lock()
		if d := max(b.longest, now.Sub(b.last)); d > longest {
			longest, shard = d, n
		}
		b.mu.Unlock()
	}
	return longest, shard
}

// Unknown is how many additions so far have an unknown outcome, and the error of one.
func (p *Pulse) Unknown() (n int64, one error) {
	for _, b := range p.beats {
		b.counter.mu.Lock()
		n += b.unknown
		b.counter.mu.Unlock()
		b.mu.Lock()
		one = cmp.Or(one, b.unclear)
		b.mu.Unlock()
	}
	return n, one
}

// Read reads every counter through a node, so often at once. No value may be older than
// what was known when it was asked for: [Pulse.Verify] tells.
func (p *Pulse) Read(ctx context.Context, node *client.Client, times int) {
	var reads sync.WaitGroup
	for _, b := range p.beats {
		for range times {
			reads.Go(func() { b.read(ctx, node) })
		}
	}
	reads.Wait()
}

// Verify reads every counter and compares it with the book. It tries until ctx ends to
// get every answer.
func (p *Pulse) Verify(ctx context.Context, at *client.Client) (total Verdict, err error) {
	reader := &Load{nodes: []*node{{Client: at}}}
	for _, b := range p.beats {
		reader.counters = append(reader.counters, b.counter)
	}
	return reader.Verify(ctx)
}
