package tour

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/load"
)

const (
	look    = 25 * time.Millisecond   // between two looks at the nodes
	silence = 1900 * time.Millisecond // after which the picture is told again
	glance  = time.Second             // that a node has to answer in
)

// watch looks at all nodes and tells what has changed.
type watch struct {
	*teller

	members []*member
	load    *load.Load

	mu    sync.Mutex
	now   picture
	moves map[int]move // the newest of each shard
}

// move is that a node has begun to serve a shard.
type move struct {
	to string // empty: nobody serves it any more
	at time.Time
}

// keepWatch watches until the returned function is called.
func (w *watch) keepWatch(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	w.moves = map[int]move{}
	w.now = make(picture, len(w.members))
	var loop sync.WaitGroup
	loop.Go(func() {
		for shown := ""; ctx.Err() == nil; load.Pause(ctx, look) {
			if p := w.look(ctx); ctx.Err() == nil {
				shown = w.tell(p, shown)
			}
		}
	})
	return func() {
		cancel()
		loop.Wait()
	}
}

// look asks every node at once.
func (w *watch) look(ctx context.Context) picture {
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	p := make(picture, len(w.members))
	var all sync.WaitGroup
	for i, m := range w.members {
		all.Go(func() {
			p[i].name = m.name
			if shown, err := m.client.Shards(ctx); err == nil {
				p[i].shards = shown.Shards
			}
		})
	}
	all.Wait()
	return p
}

// tell tells the picture if it is new, with the shards that have moved, or after a long
// silence. It returns what is shown.
func (w *watch) tell(p picture, shown string) string {
	moved := w.note(p, time.Now())
	if line := p.String(); line != shown || w.silent() > silence {
		w.sayf("%s   %s", line, strings.Join(moved, " "))
		return line
	}
	return shown
}

// note keeps the picture and finds the shards that a node has begun to serve.
func (w *watch) note(p picture, now time.Time) (moved []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = p
	for shard := range shards {
		owner := p.owner(shard)
		if owner == w.moves[shard].to {
			continue
		}
		w.moves[shard] = move{owner, now}
		if owner != "" {
			moved = append(moved, fmt.Sprintf("%d→%s", shard, owner))
		}
	}
	return moved
}

// picture is the newest one.
func (w *watch) picture() picture {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// movedSince says which shards went where since a moment, and after which time.
func (w *watch) movedSince(began time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var moved []string
	for shard := range shards {
		if m := w.moves[shard]; m.to != "" && m.at.After(began) {
			moved = append(moved, fmt.Sprintf("%d→%s after %s", shard, m.to, seconds(m.at.Sub(began))))
		}
	}
	return strings.Join(moved, ", ")
}

// await waits until something is so, by the newest picture. It fails if a node ends
// meanwhile.
func (w *watch) await(ctx context.Context, so func(picture) error) error {
	ctx, cancel := bound(ctx)
	defer cancel()
	for {
		err := so(w.picture())
		if err == nil {
			return nil
		}
		for _, m := range w.members {
			if ended := m.check(); ended != nil {
				return ended
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		load.Pause(ctx, look)
	}
}

// bound gives up at the end of all patience.
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, fmt.Errorf("it is not so after %s", patience))
}

// progress tells each second what was counted since the given tally, until ctx ends.
func (w *watch) progress(ctx context.Context, since load.Tally) {
	for last := since; ; {
		load.Pause(ctx, time.Second)
		if ctx.Err() != nil {
			return
		}
		all := w.load.Tally()
		t := all.Since(since)
		w.sayf("%6d acknowledged, %d/s;  %d not executed, %d unknown;  p50 %s, p99 %s", t.Acknowledged, all.Since(last).Acknowledged,
			t.NotExecuted, t.Unknown, t.P50.Round(time.Millisecond), t.P99.Round(time.Millisecond))
		last = all
	}
}
