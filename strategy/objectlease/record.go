package objectlease

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/slap-go/slap/strategy/lease"
)

// What makes no sense in a record. Whoever reads it takes the record for unreadable;
// whoever is about to write it does not.
const (
	maxLeaseSize     = 64 << 10  // bytes
	maxHeartbeatSize = 256 << 20 // bytes; room for every shard there can be

	// highestGeneration is the highest whole number that every reader of JSON takes as it is.
	highestGeneration = 1 << 53

	// highestRead is the highest generation that is believed: a record by hand must not leave
	// the claims that follow, of this shard and of others, without a number.
	highestRead = highestGeneration / 2

	// endOfTime is the last millisecond of the year 9999.
	endOfTime = 253_402_300_799_999
)

var errTooLarge = errors.New("it is too large")

// leaseObject is a [lease.Record] as it is stored.
type leaseObject struct {
	Owner       owner   `json:"owner"`
	Address     string  `json:"address"`
	Incarnation string  `json:"incarnation"`
	Generation  *uint64 `json:"generation"` // required
	TTL         int64   `json:"ttl_ms"`
	Nonce       string  `json:"nonce"`
	ExpiresAt   int64   `json:"expires_at"` // ms since 1970, 0 in a free lease
}

// owner is the name of a node, or null for a lease that is free.
type owner struct {
	name  string
	given bool // as name or null
}

// MarshalJSON writes the name or null.
func (o owner) MarshalJSON() ([]byte, error) {
	if o.name == "" {
		return []byte("null"), nil
	}
	return json.Marshal(o.name)
}

// UnmarshalJSON takes a name or null.
func (o *owner) UnmarshalJSON(text []byte) error {
	*o = owner{given: true}
	if string(text) == "null" {
		return nil
	}
	if err := json.Unmarshal(text, &o.name); err != nil {
		return err
	}
	if o.name == "" {
		return errors.New("owner is empty: a free lease has null")
	}
	return nil
}

func encodeLease(r lease.Record) ([]byte, error) {
	o := leaseObject{
		Owner: owner{r.Owner, true}, Address: r.Address, Incarnation: r.Incarnation, Generation: &r.Generation,
		TTL: milliseconds(r.TTL), Nonce: r.Nonce,
	}
	if r.Owner != "" {
		o.ExpiresAt = epoch(r.ExpiresAt)
	}
	if err := o.check(highestGeneration); err != nil {
		return nil, err
	}
	return encode(o, maxLeaseSize)
}

func decodeLease(data []byte) (lease.Record, error) {
	var o leaseObject
	if err := decode(data, maxLeaseSize, &o); err != nil {
		return lease.Record{}, err
	}
	if err := o.check(highestRead); err != nil {
		return lease.Record{}, err
	}
	return lease.Record{
		Owner: o.Owner.name, Address: o.Address, Incarnation: o.Incarnation, Generation: *o.Generation,
		TTL: time.Duration(o.TTL) * time.Millisecond, Nonce: o.Nonce, ExpiresAt: wall(o.ExpiresAt),
	}, nil
}

func (o leaseObject) check(highest uint64) error {
	switch {
	case !o.Owner.given:
		return errors.New("owner is missing")
	case o.Generation == nil:
		return errors.New("generation is missing")
	case *o.Generation > highest:
		return fmt.Errorf("generation %d is too high", *o.Generation)
	case o.ExpiresAt < 0 || o.ExpiresAt > endOfTime:
		return fmt.Errorf("expires_at %d is no time", o.ExpiresAt)
	case o.Owner.name == "" && o.TTL == 0:
		return nil
	}
	return checkTTL(o.TTL)
}

func checkTTL(ms int64) error {
	if ms <= 0 || ms > lease.LongestTTL.Milliseconds() {
		return fmt.Errorf("ttl_ms is %d: it must be from 1 to %d", ms, lease.LongestTTL.Milliseconds())
	}
	return nil
}

func encode(object any, limit int) ([]byte, error) {
	data, err := json.Marshal(object)
	if err == nil && len(data) > limit {
		err = errTooLarge
	}
	return data, err
}

// decode takes an object; keys that it does not know, of newer versions, do not matter.
func decode(data []byte, limit int, into any) error {
	if len(data) > limit {
		return errTooLarge
	}
	return json.Unmarshal(data, into)
}

// milliseconds rounds up: nobody else may take a time to live for shorter than it is.
func milliseconds(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d > time.Duration(ms)*time.Millisecond {
		ms++
	}
	return ms
}

// epoch is the time in ms since 1970, or the nearest that a record can hold: a wall clock
// that is far off must not keep a node from writing. No time is 0.
func epoch(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return min(max(t.UnixMilli(), 0), endOfTime)
}

func wall(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
