package slatedb

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// ending is the end of a database or a reader: one shutdown, for which everybody
// who closes it waits.
type ending struct {
	handle *handle
	status method
	final  atomic.Pointer[Status] // the last state, once it has ended

	mu        sync.Mutex
	began     bool
	ended     bool
	abandoned bool // somebody gave up waiting
	err       error
	waiting   []func(error)
}

// state is the present state, or the last one.
func (e *ending) state() Status {
	if s := e.final.Load(); s != nil {
		return *s
	}
	if !e.handle.acquire() {
		return *e.final.Load() // stored before the handle is closed
	}
	defer e.handle.release()
	return readStatus(e.status, e.handle.id)
}

// await begins the shutdown, if nobody has, and waits for its end.
func (e *ending) await(ctx context.Context, flush bool, shutdown func(*op) bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	done := make(chan error, 1)
	e.launch(flush, shutdown, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return e.abandon(ctx)
	}
}

// launch begins the shutdown, if nobody has, and calls done at its end.
func (e *ending) launch(flush bool, shutdown func(*op) bool, done func(error)) {
	e.mu.Lock()
	began, ended, err := e.began, e.ended, e.err
	e.began = true
	if !ended {
		e.waiting = append(e.waiting, done)
	}
	e.mu.Unlock()
	switch {
	case ended:
		e.handle.objects.later(func() { done(err) })
	case !began:
		launch((*op).nothing, func(_ struct{}, err error) { e.end(flush, err) }, shutdown)
	}
}

// abandon counts a close whose caller gave up, until it ends.
func (e *ending) abandon(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return e.err
	}
	if !e.abandoned {
		e.abandoned = true
		e.handle.objects.abandoned.Add(1)
	}
	return abandoned(ctx)
}

// end keeps the last state, frees the handle and tells those who wait.
func (e *ending) end(flush bool, err error) {
	last := readStatus(e.status, e.handle.id)
	last, err = judge(last, flush, err)
	e.final.Store(&last)
	e.handle.close(closed(last.CloseReason, "it was closed"))

	e.mu.Lock()
	e.ended, e.err = true, err
	waiting := e.waiting
	e.waiting = nil
	if e.abandoned {
		e.handle.objects.abandoned.Add(-1)
	}
	e.mu.Unlock()
	for _, done := range waiting {
		done(err)
	}
}

// judge decides what a shutdown has shown. The engine's state says clean although
// the shutdown found the writer fenced, and the shutdown of a dead database gives
// no error although what was not durable is lost.
func judge(last Status, flush bool, err error) (Status, error) {
	switch {
	case errors.Is(err, ErrFenced):
		last.CloseReason = ReasonFenced
	case last.CloseReason == ReasonNone && err == nil: // a reader of a checkpoint
		last.CloseReason = ReasonClean
	case last.CloseReason == ReasonNone:
		last.CloseReason = ReasonUnknown
	}
	if err == nil && flush && last.CloseReason != ReasonClean {
		err = closed(last.CloseReason, "it had ended before the close")
	}
	return last, err
}
