package tour

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/load"
)

// step is one part of the tour. What it returns says what happened.
type step struct {
	name, title string
	do          func(ctx context.Context) (string, error)
}

func (t *tour) steps() []step {
	return []step{
		{"start", "a node process opens its shards", t.open},
		{"load", fmt.Sprintf("%d clients write counters and values", clients), t.calm},
		{"kill -9", "no warning, under load; then a new process on the same store", t.kill},
		{"clean stop", "SIGTERM under load; then a new process on the same store", t.stop},
		{"fence", "an intruder opens a shard's database, under load", t.fence},
	}
}

// take carries out one step, then reads everything back.
func (t *tour) take(ctx context.Context, s step) error {
	fmt.Fprintf(t.out, "\n%s: %s\n", s.name, s.title)
	t.before = t.load.Tally()
	happened, err := s.do(ctx)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	verdict, err := t.load.Verify(bounded)
	if err != nil {
		return err
	}
	t.sayf("read back: %s", verdict)
	t.rows = append(t.rows, row{s.name, happened, t.load.LongestOutage(), t.counted().Acknowledged, verdict})
	return nil
}

func (t *tour) open(ctx context.Context) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return fmt.Sprintf("%d shards open", shards), t.start(bounded)
}

func (t *tour) calm(ctx context.Context) (string, error) {
	err := t.underLoad(ctx, func() error {
		load.Pause(ctx, calm)
		return nil
	})
	tally := t.counted()
	return fmt.Sprintf("p50 %s, p99 %s", tally.P50.Round(time.Millisecond), tally.P99.Round(time.Millisecond)), err
}

func (t *tour) kill(ctx context.Context) (string, error) {
	err := t.underLoad(ctx, func() error {
		load.Pause(ctx, randomly(2*time.Second))
		t.node.Kill()
		t.sayf("killed")
		return t.again(ctx)
	})
	tally := t.counted()
	return fmt.Sprintf("killed and restarted, %d not executed, %d unknown", tally.NotExecuted, tally.Unknown), err
}

func (t *tour) stop(ctx context.Context) (string, error) {
	err := t.underLoad(ctx, func() error {
		load.Pause(ctx, randomly(2*time.Second))
		if err := t.leave(ctx); err != nil {
			return err
		}
		return t.again(ctx)
	})
	tally := t.counted()
	if err == nil && tally.Unknown > 0 {
		err = fmt.Errorf("%d writes have an unknown outcome: a node that leaves answers every request", tally.Unknown)
	}
	return fmt.Sprintf("stopped and restarted, %d not executed, %d unknown", tally.NotExecuted, tally.Unknown), err
}

// leave stops the node and expects that it is content.
func (t *tour) leave(ctx context.Context) error {
	began := time.Now()
	bounded, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it took too long"))
	defer cancel()
	status, err := t.node.Stop(bounded)
	if err != nil {
		return err
	}
	if status != 0 {
		return fmt.Errorf("the node left with status %d: %s", status, t.node.Output())
	}
	t.sayf("left with status 0 after %s", seconds(time.Since(began)))
	return nil
}

// again starts the node anew and lets the load run on for a second.
func (t *tour) again(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := t.start(bounded); err != nil {
		return err
	}
	load.Pause(ctx, time.Second)
	return nil
}
