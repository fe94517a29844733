package actors

import (
	"context"
	"errors"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap/internal/alarm"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/supervision"
)

// ErrFenced is the exit reason of a shard whose database another writer has opened.
var ErrFenced = errors.New("fenced by another writer")

// Messages to the database.
type (
	opened      struct{}            // the open has ended
	openTimeout struct{}            // the open takes too long
	look        struct{}            // time to look at the database's state
	inspect     struct{ err error } // an operation failed: look why
	sample      struct{}            // time to say how far behind the durable sequence number is
)

// database is the actor that opens a shard's database, notices its end, and
// closes it. While it stops it waits for the close, at most CloseTimeout; it
// takes no messages then.
type database struct {
	shard   *Shard
	opening *opening
	overdue bool        // the open took too long
	alarm   alarm.Alarm // of the open, then of the watch
	lag     alarm.Alarm
}

// Receive opens, watches and closes.
func (d *database) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		d.open(ctx)
	case opened:
		d.opened(ctx)
	case openTimeout:
		if d.shard.DB() == nil {
			d.overdue = true
			supervision.Fail(ctx, errOpenAbandoned)
		}
	case look:
		d.look(ctx, nil)
	case inspect:
		d.look(ctx, m.err)
	case sample:
		d.shard.publish(messages.DurabilityLag{ShardOrigin: d.shard.origin(), Lag: d.shard.lag()})
		d.sampleLater(ctx)
	case *actor.Stopping:
		d.alarm.Stop()
		d.lag.Stop()
		d.close()
	}
}

func (d *database) open(ctx actor.Context) {
	c, root, self := d.shard.config, ctx.ActorSystem().Root, ctx.Self()
	d.shard.opens(self)
	options := c.Database
	options.CacheID = uint64(d.shard.number)
	options.OnWrite = d.shard.wrote
	d.alarm.Set(ctx, c.OpenTimeout, openTimeout{})
	d.opening = open(c.Objects, c.path(d.shard.number), &options, func() { root.Send(self, opened{}) })
}

func (d *database) opened(ctx actor.Context) {
	d.alarm.Stop()
	db, err := d.opening.result()
	switch {
	case errors.Is(err, slatedb.ErrFenced):
		d.fenced()
		d.fail(ctx, ErrFenced)
	case err != nil:
		d.fail(ctx, fmt.Errorf("open %s: %w", d.shard.config.path(d.shard.number), err))
	default:
		d.shard.opened(db)
		d.shard.publish(messages.ShardStarted{ShardOrigin: d.shard.origin()})
		d.sampleLater(ctx)
		if err := d.shard.fill(); err != nil {
			d.fail(ctx, err)
			return
		}
		supervision.Ready(ctx)
		d.watch(ctx)
	}
}

// fail ends an open that failed, and keeps why for an opener who is answered after a stop.
func (d *database) fail(ctx actor.Context, err error) {
	d.shard.failure.Store(&err)
	supervision.Fail(ctx, err)
}

// watch looks at the database's state from time to time: nothing tells when an
// idle database is fenced.
func (d *database) watch(ctx actor.Context) {
	d.alarm.Set(ctx, d.shard.config.WatchInterval, look{})
}

func (d *database) sampleLater(ctx actor.Context) {
	d.lag.Set(ctx, d.shard.config.LagInterval, sample{})
}

func (d *database) look(ctx actor.Context, cause error) {
	if d.shard.DB() == nil {
		return
	}
	switch reason := d.shard.DB().Status().CloseReason; {
	case reason == slatedb.ReasonFenced || errors.Is(cause, slatedb.ErrFenced):
		d.fenced()
		supervision.Exit(ctx, ErrFenced)
	case reason != slatedb.ReasonNone:
		cause = errors.Join(cause, slatedb.ErrClosed)
		supervision.Exit(ctx, fmt.Errorf("the database has ended (%v): %w", reason, cause))
	default:
		d.watch(ctx)
	}
}

func (d *database) fenced() {
	first := d.shard.status.fenced()
	d.shard.shut()
	if first {
		d.shard.publish(messages.ShardFenced{ShardOrigin: d.shard.origin()})
	}
}

// close ends the database and keeps its last word for those who wait.
func (d *database) close() {
	d.shard.status.stopping()
	d.shard.shut()
	d.shard.handlers.cancel(d.shard.lossKind())
	timeout := d.shard.config.CloseTimeout
	if d.overdue {
		timeout = 0 // it was waited for already
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	db, err := d.opening.wait(ctx, &d.shard.inFlight)
	if err != nil {
		d.shard.end(lastWord{reason: messages.ErrStopping})
	} else {
		d.shard.end(d.shutdown(ctx, db))
	}
	if d.shard.inFlight.Load() {
		d.shard.publish(messages.ShardAbandoned{ShardOrigin: d.shard.origin(), Op: d.abandoned()})
	}
}

// abandoned is what took too long.
func (d *database) abandoned() string {
	if d.shard.DB() == nil {
		return messages.OpOpen
	}
	return messages.OpClose
}

func (d *database) shutdown(ctx context.Context, db *slatedb.DB) lastWord {
	o := &slatedb.CloseOptions{SkipFlush: d.shard.status.get() == Fenced || d.shard.DB() == nil}
	err := db.Close(ctx, o)
	if err != nil && ctx.Err() != nil { // it goes on, or begins now
		d.shard.inFlight.Store(true)
		db.CloseAsync(o, func(error) { d.shard.inFlight.Store(false) })
	}
	last := lastWord{durable: db.Status().DurableSeq, reason: messages.ErrStopping}
	switch {
	case errors.Is(err, slatedb.ErrFenced) || d.shard.status.get() == Fenced:
		d.fenced()
		last.reason = ErrFenced
	case err != nil && ctx.Err() != nil:
		last.reason = errCloseAbandoned
	case err != nil:
		last.reason = err
	}
	return last
}
