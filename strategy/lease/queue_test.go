package lease

import (
	"fmt"

	"github.com/slap-go/slap/strategy"
)

// asksQueue is what a loop asks of a queue, or does with a lease that it gave.
func (p *player) asksQueue(what string, shard int, words []string) {
	var until strategy.Instant
	if len(words) > 0 {
		until = p.now.at.Add(p.duration(words[0]))
	}
	switch what {
	case "open":
		p.leases[shard] = strategy.NewLease(1, until)
		p.queue.open(shard, p.leases[shard])
	case "close":
		p.queue.close(shard)
	case "renew":
		p.leases[shard].Renew(until)
	case "drop":
		p.leases[shard].End()
	}
	p.steps()
}

// toQueue is what the host says of its shards, or that time has passed.
func (p *player) toQueue(input any) {
	switch in := input.(type) {
	case opened:
		p.queue.started(in.shard, in.err)
	case closed:
		p.queue.stopped(in.shard)
	case down:
		p.queue.down(in.shard, in.reason)
	}
	p.steps()
}

// steps writes what the runner does now: "start 0", or "tell closed 1".
func (p *player) steps() {
	p.queue.expire(p.now.at)
	for _, s := range p.queue.take() {
		switch {
		case s.start != nil:
			p.printf("start %d", s.start.shard)
			if s.start.lease != p.leases[s.start.shard] {
				p.Errorf("shard %d is started with another lease than its last", s.start.shard)
			}
		case s.told == nil:
			p.printf("stop %d", s.stop)
		default:
			p.printf("tell %s", told(s.told))
		}
	}
}

func told(message any) string {
	switch m := message.(type) {
	case opened:
		if m.err != nil {
			return fmt.Sprintf("opened %d: %v", m.shard, m.err)
		}
		return fmt.Sprint("opened ", m.shard)
	case closed:
		return fmt.Sprint("closed ", m.shard)
	case down:
		return fmt.Sprintf("down %d %v", m.shard, m.reason)
	case expired:
		return "expired " + strategy.Shards(m.shards).String()
	}
	return fmt.Sprintf("%T", message)
}
