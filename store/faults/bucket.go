// Package faults is a [store.Bucket] that misbehaves as told, for tests: requests
// fail, hang, are slow, lose their reply or have their condition ignored, and
// listings are stale or incomplete. What happens is decided by rules alone, never
// by chance, and every request is counted.
package faults

import (
	"context"
	"sync"
	"time"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/internal/injection"
	"github.com/slap-go/slap/store"
)

// Op is a kind of request, or with | a set of them.
type Op uint8

// The kinds of requests.
const (
	Get Op = 1 << iota
	Put
	Delete
	List

	Any = Get | Put | Delete | List
)

// Request is one call of a method of a bucket.
type Request struct {
	Op        Op
	Key       string // the prefix for List
	Data      []byte // Put
	Condition store.Condition

	bucket *Bucket
}

// Reply is what a request returns: the field of its kind, or an error.
type Reply struct {
	Object  store.Object  // Get
	Version store.Version // Put
	Entries []store.Entry // List
	Err     error
}

// Bucket passes requests on to another bucket, through the faults of its rules.
// It is safe for concurrent use.
type Bucket struct {
	inner store.Bucket
	sleep func(context.Context, time.Duration) error
	late  sync.WaitGroup
	done  chan struct{} // closed by Close
	rules injection.Rules[Request, Fault]

	mu     sync.Mutex
	closed bool
	counts map[counted]int
}

type counted struct {
	op  Op
	key string
}

var _ store.Bucket = (*Bucket)(nil)

// Options are the settings of a [Bucket].
type Options struct {
	// Sleep waits for the time or until the context ends, for [Delay].
	// Default: the process's clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// New makes a bucket without faults in front of inner, which it closes with itself.
func New(inner store.Bucket, o Options) *Bucket {
	if o.Sleep == nil {
		o.Sleep = clock.Sleep
	}
	return &Bucket{inner: inner, sleep: o.Sleep, done: make(chan struct{}), counts: make(map[counted]int)}
}

// Get is the Get of the inner bucket.
func (b *Bucket) Get(ctx context.Context, key string) (store.Object, error) {
	r := b.serve(ctx, Request{Op: Get, Key: key})
	return r.Object, r.Err
}

// Put is the Put of the inner bucket.
func (b *Bucket) Put(ctx context.Context, key string, data []byte, c store.Condition) (store.Version, error) {
	r := b.serve(ctx, Request{Op: Put, Key: key, Data: data, Condition: c})
	return r.Version, r.Err
}

// Delete is the Delete of the inner bucket.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	return b.serve(ctx, Request{Op: Delete, Key: key}).Err
}

// List is the List of the inner bucket.
func (b *Bucket) List(ctx context.Context, prefix string) ([]store.Entry, error) {
	r := b.serve(ctx, Request{Op: List, Key: prefix})
	return r.Entries, r.Err
}

// Close ends the requests that are held up, drops those that are still to arrive
// late, waits for those that are arriving, and closes the inner bucket.
func (b *Bucket) Close() error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.done)
	}
	b.mu.Unlock()
	b.late.Wait()
	return b.inner.Close()
}

// later runs f in a goroutine that Close waits for. It is false after Close.
func (b *Bucket) later(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.late.Go(f)
	}
	return !b.closed
}

func (b *Bucket) serve(ctx context.Context, r Request) Reply {
	r.bucket = b
	if fault := b.arrive(r); fault != nil {
		return fault(ctx, r, b.pass)
	}
	return b.pass(ctx, r)
}

// arrive counts the request and finds the fault that it meets, if any.
func (b *Bucket) arrive(r Request) Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[counted{r.Op, r.Key}]++
	return b.rules.Meet(r)
}

func (b *Bucket) pass(ctx context.Context, r Request) (reply Reply) {
	switch r.Op {
	case Get:
		reply.Object, reply.Err = b.inner.Get(ctx, r.Key)
	case Put:
		reply.Version, reply.Err = b.inner.Put(ctx, r.Key, r.Data, r.Condition)
	case Delete:
		reply.Err = b.inner.Delete(ctx, r.Key)
	case List:
		reply.Entries, reply.Err = b.inner.List(ctx, r.Key)
	}
	return reply
}

// Requests counts the requests of these kinds for keys that the pattern matches,
// as in a [Rule], since the start or the last [Bucket.ResetRequests], those that
// met a fault included.
func (b *Bucket) Requests(ops Op, pattern string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for c, count := range b.counts {
		if ops&c.op != 0 && matches(pattern, c.key) {
			n += count
		}
	}
	return n
}

// ResetRequests starts counting anew.
func (b *Bucket) ResetRequests() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.counts)
}
