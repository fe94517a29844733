package load

import (
	"sync"
	"time"
)

// outages measures for how long no write to a shard was acknowledged. Only
// shards that were written to count.
type outages struct {
	mu      sync.Mutex
	began   time.Time
	last    map[int]time.Time // newest acknowledged write of each shard
	longest time.Duration
}

func (o *outages) begin(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.began = now
	for shard := range o.last {
		o.last[shard] = now
	}
}

func (o *outages) written(shard int, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, known := o.last[shard]
	if !known {
		last = o.began
	}
	if o.last == nil {
		o.last = map[int]time.Time{}
	}
	o.longest = max(o.longest, now.Sub(last))
	o.last[shard] = now
}

func (o *outages) end(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, last := range o.last {
		o.longest = max(o.longest, now.Sub(last))
	}
}

// LongestOutage is the longest time in which no write to some shard was
// acknowledged while the load ran, since the last call.
func (l *Load) LongestOutage() time.Duration {
	l.outages.mu.Lock()
	defer l.outages.mu.Unlock()
	longest := l.outages.longest
	l.outages.longest = 0
	return longest
}
