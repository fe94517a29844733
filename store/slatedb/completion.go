package slatedb

import (
	"runtime"
	"sync"
)

// completions brings the engine's signals to those who wait for them. A reader
// wakes the callers that wait and passes the detached operations to the
// completers, which resume them and call what was to be called then. So neither
// the engine's work nor a callback delays the reader.
type completions struct {
	queue  *queue
	reader sync.WaitGroup
	others sync.WaitGroup

	mu      sync.Mutex
	some    sync.Cond // pending is not empty, or stopped
	pending []*op
	stopped bool
}

// completersAtMost bounds the goroutines that run callbacks, one per processor.
const completersAtMost = 8

// completionBatch is how many operations a completer takes at a time.
const completionBatch = 64

func startCompletions() (*completions, error) {
	q, err := newQueue()
	if err != nil {
		return nil, err
	}
	c := &completions{queue: q}
	c.some.L = &c.mu
	c.reader.Go(c.read)
	for range min(runtime.GOMAXPROCS(0), completersAtMost) {
		c.others.Go(c.complete)
	}
	return c, nil
}

// stop ends the goroutines. No operation may be in flight.
func (c *completions) stop() {
	_ = c.queue.close()
	c.reader.Wait()
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.some.Broadcast()
	c.others.Wait()
	c.queue.free()
}

func (c *completions) read() {
	var (
		count    [512]byte
		detached []*op
	)
	for {
		if _, err := c.queue.wake.Read(count[:]); err != nil {
			return // closed
		}
		c.queue.take(func(o *op) {
			if o.signal() {
				detached = append(detached, o)
			}
		})
		c.push(detached...)
		clear(detached)
		detached = detached[:0]
	}
}

// push passes operations to the completers.
func (c *completions) push(ops ...*op) {
	if len(ops) == 0 {
		return
	}
	c.mu.Lock()
	stopped := c.stopped
	if !stopped {
		c.pending = append(c.pending, ops...)
	}
	c.mu.Unlock()
	if stopped {
		// Only what never began can come now.
		for _, o := range ops {
			go o.then(o)
		}
		return
	}
	c.some.Signal()
}

// take waits for operations and fills the batch. It returns none when stopped.
func (c *completions) take(batch []*op) []*op {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) == 0 && !c.stopped {
		c.some.Wait()
	}
	n := copy(batch, c.pending)
	rest := copy(c.pending, c.pending[n:])
	clear(c.pending[rest:])
	c.pending = c.pending[:rest]
	if rest > 0 {
		c.some.Signal()
	}
	return batch[:n]
}

func (c *completions) complete() {
	var (
		batch   [completionBatch]*op
		resumed [completionBatch]*op
		records [completionBatch]*record
		done    [completionBatch]bool
	)
	for {
		ops := c.take(batch[:])
		if len(ops) == 0 {
			return
		}
		n := 0
		for _, o := range ops {
			if o.done {
				o.then(o)
				continue
			}
			resumed[n], records[n] = o, o.record
			n++
		}
		if n > 0 {
			resumeAll(records[:n], done[:n])
		}
		for i, o := range resumed[:n] {
			if done[i] {
				o.then(o)
			}
		}
	}
}
