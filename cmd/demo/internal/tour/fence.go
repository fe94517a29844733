package tour

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/intruder"
	"github.com/slap-go/slap/cmd/demo/internal/journal"
	"github.com/slap-go/slap/cmd/demo/internal/load"
)

func (t *tour) fence(ctx context.Context) (string, error) {
	shard := rand.IntN(shards)
	err := t.underLoad(ctx, func() error {
		load.Pause(ctx, randomly(2*time.Second))
		bounded, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it took too long"))
		defer cancel()
		if err := intruder.Fence(bounded, t.store, shard); err != nil {
			return err
		}
		t.sayf("shard %d: its database was opened from outside", shard)
		if err := t.reopened(bounded, shard); err != nil {
			return err
		}
		load.Pause(ctx, time.Second)
		return nil
	})
	tally := t.counted()
	return fmt.Sprintf("shard %d fenced and reopened, %d not executed, %d unknown", shard, tally.NotExecuted, tally.Unknown), err
}

// reopened shows what the node tells of the shard until it serves again.
func (t *tour) reopened(ctx context.Context, shard int) error {
	began := time.Now()
	err := t.watched(ctx, func(ctx context.Context) error {
		fenced, err := t.event(ctx, "shard.fenced", shard, time.Time{})
		if err != nil {
			return err
		}
		t.sayf("event %s after %s: %s", fenced.Name, seconds(time.Since(began)), fenced.Text)
		if _, err := t.event(ctx, "shard.start", shard, fenced.Time); err != nil {
			return err
		}
		return await(ctx, func() error { return t.client.Ready(ctx) })
	})
	if err == nil {
		t.sayf("running again after %s", seconds(time.Since(began)))
	}
	return err
}

// event waits for an event of a shard that happened after a moment.
func (t *tour) event(ctx context.Context, name string, shard int, after time.Time) (found journal.Entry, err error) {
	err = await(ctx, func() error {
		entries, err := t.client.Events(ctx)
		for _, e := range entries {
			if e.Name == name && e.Details["shard"] == strconv.Itoa(shard) && e.Time.After(after) {
				found = e
				return nil
			}
		}
		return errors.Join(fmt.Errorf("the node does not tell of %s of shard %d", name, shard), err)
	})
	return found, err
}

// await tries until there is no error any more.
func await(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), err)
		}
		load.Pause(ctx, 10*time.Millisecond)
	}
}
