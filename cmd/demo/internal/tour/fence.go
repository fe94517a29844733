package tour

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/intruder"
	"github.com/slap-go/slap/cmd/demo/internal/journal"
)

func (t *tour) fence(ctx context.Context) (string, error) {
	shard := rand.IntN(shards)
	var took time.Duration
	err := t.faulty(ctx, func() (err error) {
		owner := t.picture().owner(shard)
		bounded, cancel := bound(ctx)
		defer cancel()
		t.sayf("an intruder opens the database of shard %d, which %s serves", shard, owner)
		if err := intruder.Fence(bounded, t.store, shard); err != nil {
			return err
		}
		took, err = t.reopened(bounded, owner, shard)
		return err
	})
	return fmt.Sprintf("shard %d fenced, opened again after %s", shard, seconds(took)), err
}

// reopened tells what the owner says of the shard until that is served again.
func (t *tour) reopened(ctx context.Context, owner string, shard int) (took time.Duration, err error) {
	var fenced, started journal.Entry
	node := t.client(owner)
	err = t.await(ctx, func(picture) (err error) {
		fenced, err = event(ctx, node, "shard.fenced", shard, time.Time{})
		return err
	})
	if err != nil {
		return 0, err
	}
	t.sayf("%s tells that shard %d was fenced", owner, shard)
	err = t.await(ctx, func(p picture) (err error) {
		started, err = event(ctx, node, "shard.start", shard, fenced.Time)
		return errors.Join(err, p.served())
	})
	took = started.Time.Sub(fenced.Time)
	if err == nil {
		t.sayf("%s opened it again %s after that", owner, seconds(took))
	}
	return took, err
}

func (t *tour) client(name string) *client.Client {
	at := slices.IndexFunc(t.members, func(m *member) bool { return m.name == name })
	return t.members[at].client
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
