package load

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

// counter is what is known of one counter that starts at 0 and only grows, by
// one with each addition. So no value may be acknowledged twice, and none below
// one that was acknowledged before its request was sent.
type counter struct {
	key string

	mu       sync.Mutex
	values   map[int64]struct{} // acknowledged
	highest  int64              // acknowledged or read
	unknown  int64              // additions that may have happened, or may happen yet
	verdicts Verdict
}

func newCounter(key string) *counter {
	return &counter{key: key, values: map[int64]struct{}{}}
}

// add adds one and returns the counter's shard.
func (c *counter) add(ctx context.Context, node *client.Client) (shard int, err error) {
	c.mu.Lock()
	floor := c.highest
	c.mu.Unlock()
	count, err := node.Add(ctx, c.key, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.acknowledged(count.Value, floor)
	case !errors.Is(err, client.ErrNotExecuted):
		c.unknown++
	}
	return count.Shard, err
}

func (c *counter) acknowledged(value, floor int64) {
	if _, twice := c.values[value]; twice {
		c.verdicts.twicef("counter %s: value %d was acknowledged twice", c.key, value)
	} else if value <= floor {
		c.verdicts.losef(1, "counter %s: value %d was acknowledged after %d", c.key, value, floor)
	}
	c.values[value] = struct{}{}
	c.highest = max(c.highest, value)
}

// read checks that a value is not older than what was known when it was asked for.
func (c *counter) read(ctx context.Context, node *client.Client) {
	c.mu.Lock()
	floor := c.highest
	c.mu.Unlock()
	count, err := node.Counter(ctx, c.key)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if count.Value < floor {
		c.verdicts.losef(1, "counter %s: %d was read after %d", c.key, count.Value, floor)
	}
	c.highest = max(c.highest, count.Value)
}

// verify reads the counter and adds what is wrong with it to the verdict.
func (c *counter) verify(ctx context.Context, node *client.Client) (Verdict, error) {
	count, err := node.Counter(ctx, c.key)
	if err != nil {
		return Verdict{}, fmt.Errorf("counter %s: %w", c.key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	verdict := c.verdicts
	acknowledged := int64(len(c.values))
	if least := max(acknowledged, c.highest); count.Value < least {
		verdict.losef(least-count.Value, "counter %s is %d, below the %d that were acknowledged", c.key, count.Value, least)
	}
	if most := acknowledged + c.unknown; count.Value > most {
		verdict.extraf(count.Value-most, "counter %s is %d: %d acknowledged and %d unknown additions cannot give that",
			c.key, count.Value, acknowledged, c.unknown)
	}
	return verdict, nil
}
