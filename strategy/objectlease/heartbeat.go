package objectlease

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/slap-go/slap/strategy/lease"
)

// heartbeatObject is a [lease.Heartbeat] as it is stored; the node's name is in its key.
type heartbeatObject struct {
	At          int64           `json:"heartbeat"` // ms since 1970
	Address     string          `json:"address"`
	Incarnation string          `json:"incarnation"`
	State       lease.NodeState `json:"state"`
	TTL         int64           `json:"ttl_ms"`
	Nonce       string          `json:"nonce"`
	Shards      []heldObject    `json:"shards"` // by number
}

type heldObject struct {
	Shard      int             `json:"shard"`
	State      lease.HeldState `json:"state"`
	Generation uint64          `json:"generation"`
}

func encodeHeartbeat(h lease.Heartbeat) ([]byte, error) {
	o := heartbeatObject{
		At: epoch(h.At), Address: h.Address, Incarnation: h.Incarnation, State: h.State,
		TTL: milliseconds(h.TTL), Nonce: h.Nonce, Shards: make([]heldObject, 0, len(h.Shards)),
	}
	for _, held := range h.Shards {
		o.Shards = append(o.Shards, heldObject(held))
	}
	if err := o.check(highestGeneration); err != nil {
		return nil, err
	}
	return encode(o, maxHeartbeatSize)
}

func decodeHeartbeat(node string, data []byte) (lease.Heartbeat, error) {
	var o heartbeatObject
	if err := decode(data, maxHeartbeatSize, &o); err != nil {
		return lease.Heartbeat{}, err
	}
	if err := o.check(highestRead); err != nil {
		return lease.Heartbeat{}, err
	}
	h := lease.Heartbeat{
		Node: node, Address: o.Address, Incarnation: o.Incarnation, State: o.State,
		TTL: time.Duration(o.TTL) * time.Millisecond, Nonce: o.Nonce, At: wall(o.At),
	}
	for _, held := range o.Shards {
		h.Shards = append(h.Shards, lease.Held(held))
	}
	return h, nil
}

// check also brings the shards in order.
func (o heartbeatObject) check(highest uint64) error {
	switch {
	case o.State != lease.Live && o.State != lease.Leaving && o.State != lease.Left:
		return fmt.Errorf("state is %q: it must be live, leaving or left", o.State)
	case o.At < 0 || o.At > endOfTime:
		return fmt.Errorf("heartbeat %d is no time", o.At)
	}
	if err := checkTTL(o.TTL); err != nil {
		return err
	}
	slices.SortFunc(o.Shards, func(a, b heldObject) int { return cmp.Compare(a.Shard, b.Shard) })
	for i, held := range o.Shards {
		if err := held.check(highest); err != nil {
			return err
		}
		if i > 0 && o.Shards[i-1].Shard == held.Shard {
			return fmt.Errorf("shard %d is listed twice", held.Shard)
		}
	}
	return nil
}

func (h heldObject) check(highest uint64) error {
	states := []lease.HeldState{lease.Opening, lease.Running, lease.Closing, lease.Failed}
	switch {
	case h.Shard < 0 || h.Shard >= maxShards:
		return fmt.Errorf("shard %d: there is none of that number", h.Shard)
	case !slices.Contains(states, h.State):
		return fmt.Errorf("shard %d has state %q: it must be one of %q", h.Shard, h.State, states)
	case h.Generation > highest:
		return fmt.Errorf("shard %d has generation %d: it is too high", h.Shard, h.Generation)
	}
	return nil
}
