package tour

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/load"
)

// calm is how long the load runs without a fault, and a moment how long before a fault and
// after it.
const (
	calm   = 3 * time.Second
	moment = time.Second
)

// step is one part of the tour. What it returns says what happened.
type step struct {
	name, title string
	do          func(t *tour, ctx context.Context) (string, error)
}

func steps() []step {
	return []step{
		{"start", "three processes claim leases in the store and open the shards that they get", (*tour).open},
		{"load", fmt.Sprintf("%d clients write counters and values by way of all three nodes", clients), (*tour).calm},
		{"kill -9", fmt.Sprintf("b dies without warning; once its leases are %d s old, the others take them", ttl/time.Second), (*tour).kill},
		{"return", "b starts under its name again; the others hand shards to it until shares are even", (*tour).comeBack},
		{"restart", "c is killed and started at once; its own leases need not run out first", (*tour).restart},
		{"clean stop", "SIGTERM to a; it hands its shards over, and every request gets a definite answer", (*tour).stop},
		{"fence", "an intruder opens the database of a shard; its owner is shut out and opens it again", (*tour).fence},
	}
}

func (t *tour) takeAll(ctx context.Context) error {
	defer t.keepWatch(ctx)()
	for i, s := range steps() {
		if err := t.take(ctx, i+1, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// take carries out one step, then reads everything back.
func (t *tour) take(ctx context.Context, number int, s step) error {
	t.begin(number, s)
	t.before = t.load.Tally()
	happened, err := s.do(t, ctx)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	outage, tally := t.load.LongestOutage(), t.counted()
	bounded, cancel := bound(ctx)
	defer cancel()
	verdict, err := t.load.Verify(bounded)
	if err != nil {
		return err
	}
	t.sayf("read back by way of all nodes: %s", verdict)
	t.rows = append(t.rows, row{s.name, happened, outage, tally, verdict})
	return nil
}

func (t *tour) open(ctx context.Context) (string, error) {
	for _, m := range t.members {
		if err := m.start(); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d shards shared out over %d nodes", shards, len(t.members)), t.settle(ctx, len(t.members))
}

// servedBy is nil once so many nodes answer and serve every shard.
func servedBy(nodes int) func(picture) error {
	return func(p picture) error { return errors.Join(p.answers(nodes), p.served()) }
}

// settle waits until so many nodes answer and have shared out the shards.
func (t *tour) settle(ctx context.Context, nodes int) error {
	err := t.await(ctx, func(p picture) error { return errors.Join(servedBy(nodes)(p), p.settled()) })
	if err == nil {
		t.sayf("settled: %s", t.picture().holdings())
	}
	return err
}

func (t *tour) calm(ctx context.Context) (string, error) {
	err := t.underLoad(ctx, func() error {
		load.Pause(ctx, calm)
		return nil
	})
	tally := t.counted()
	return fmt.Sprintf("p50 %s, p99 %s", tally.P50.Round(time.Millisecond), tally.P99.Round(time.Millisecond)), err
}

// faulty runs the load, does something to the cluster after a moment, and lets the load
// run for another.
func (t *tour) faulty(ctx context.Context, do func() error) error {
	return t.underLoad(ctx, func() error {
		load.Pause(ctx, moment)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := do(); err != nil {
			return err
		}
		load.Pause(ctx, moment)
		return nil
	})
}

func (t *tour) kill(ctx context.Context) (string, error) {
	var took time.Duration
	err := t.faulty(ctx, func() error {
		t.members[1].kill()
		began := time.Now()
		t.sayf("b was killed")
		err := t.await(ctx, servedBy(2))
		took = time.Since(began)
		t.sayf("taken over: %s", t.movedSince(began))
		return err
	})
	return "b's shards taken over after " + seconds(took), err
}

func (t *tour) comeBack(ctx context.Context) (string, error) {
	err := t.faulty(ctx, func() error {
		if err := t.members[1].start(); err != nil {
			return err
		}
		t.sayf("b was started")
		return t.settle(ctx, len(t.members))
	})
	return fmt.Sprintf("b has %s again", t.picture().holding("b")), err
}

func (t *tour) restart(ctx context.Context) (string, error) {
	var took time.Duration
	err := t.faulty(ctx, func() error {
		c := t.members[2]
		c.kill()
		began := time.Now()
		if err := c.start(); err != nil {
			return err
		}
		t.sayf("c was killed, and started again")
		bounded, cancel := bound(ctx)
		defer cancel()
		if err := c.node.Ready(bounded); err != nil {
			return err
		}
		err := t.await(ctx, servedBy(3))
		took = time.Since(began)
		t.sayf("served again: %s", t.movedSince(began))
		return errors.Join(err, t.settle(ctx, len(t.members)))
	})
	return "c serves its shards again after " + seconds(took), err
}

func (t *tour) stop(ctx context.Context) (string, error) {
	err := t.faulty(ctx, func() error {
		bounded, cancel := bound(ctx)
		defer cancel()
		began := time.Now()
		t.sayf("a was told to leave")
		if err := t.members[0].leave(bounded); err != nil {
			return err
		}
		t.sayf("a left with status 0 after %s", seconds(time.Since(began)))
		err := t.await(ctx, servedBy(2))
		t.sayf("handed over: %s", t.movedSince(began))
		return err
	})
	if unknown := t.counted().Unknown; err == nil && unknown > 0 {
		err = fmt.Errorf("%d writes have an unknown outcome, although a node that leaves answers every request: %w",
			unknown, t.load.NewestUnknown())
	}
	return "a handed its shards over", err
}
