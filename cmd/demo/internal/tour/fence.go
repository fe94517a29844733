package tour

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/intruder"
	"github.com/slap-go/slap/cmd/demo/internal/journal"
)

func (t *tour) fence(ctx context.Context) (string, error) {
	shard := rand.IntN(shards)
	var took time.Duration
	err := t.faulty(ctx, func() error {
		owner := t.picture().owner(shard)
		bounded, cancel := bound(ctx)
		defer cancel()
		if err := intruder.Fence(bounded, t.store, shard); err != nil {
			return err
		}
		began := time.Now()
		t.sayf("the database of shard %d, which %s serves, was opened from outside", shard, owner)
		err := t.reopened(bounded, owner, shard)
		took = time.Since(began)
		return err
	})
	return fmt.Sprintf("shard %d fenced, served again after %s", shard, seconds(took)), err
}

// reopened tells what the owner says of the shard until that is served again.
func (t *tour) reopened(ctx context.Context, owner string, shard int) error {
	var fenced, started journal.Entry
	var from *client.Client
	for _, m := range t.members {
		if m.name == owner {
			from = m.client
		}
	}
	err := t.await(ctx, func(picture) (err error) {
		fenced, err = event(ctx, from, "shard.fenced", shard, time.Time{})
		return err
	})
	if err != nil {
		return err
	}
	t.sayf("%s says: shard %d was fenced", owner, shard)
	err = t.await(ctx, func(p picture) (err error) {
		started, err = event(ctx, from, "shard.start", shard, fenced.Time)
		return errors.Join(err, p.served())
	})
	if err == nil {
		t.sayf("%s opened it again after %s", owner, seconds(started.Time.Sub(fenced.Time)))
	}
	return err
}

// event finds an event of a shard that happened on a node after a moment.
func event(ctx context.Context, node *client.Client, name string, shard int, after time.Time) (journal.Entry, error) {
	entries, err := node.Events(ctx)
	for _, e := range entries {
		if e.Name == name && e.Details["shard"] == strconv.Itoa(shard) && e.Time.After(after) {
			return e, nil
		}
	}
	return journal.Entry{}, errors.Join(fmt.Errorf("the node does not tell of %s of shard %d", name, shard), err)
}
