package links

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

const (
	pieceBytes = 64 << 10 // a piece that has as much gets no more envelopes or replies
	queueBytes = 64 << 20 // of what waits for a peer that takes nothing
	queueCount = 100_000
)

// conn is a connection to one incarnation of another node. Its requests and their numbers
// are its own, so that nothing that comes elsewhere can answer them.
type conn struct {
	links  *Links
	peer   strategy.Node
	raw    *watched
	cc     *grpc.ClientConn
	stream grpc.ClientStream
	cancel func()
	over   chan struct{} // closed when the connection has ended
	wake   chan struct{} // filled when there is something to write
	loops  sync.WaitGroup

	handshake atomic.Pointer[error] // why that of TLS failed; nil if it did not

	mu        sync.Mutex // guards the fields below
	why       error      // the connection has ended; set before over is closed
	last      uint64     // request
	open      map[uint64]*outgoing
	queue     []*outgoing
	bytes     int      // in the queue
	withdrawn []uint64 // requests whose answers nobody waits for any more
	pinging   bool
	hinting   bool
	finishing error  // why it ends once all requests are answered
	used      bool   // since the last look
	came      uint64 // at the last look
}

func (c *conn) start() {
	c.loops.Add(2)
	go c.write()
	go c.read()
}

// send takes a request, or returns the kind and cause of why it is not sent.
func (c *conn) send(o *outgoing) (kind, cause error) {
	c.mu.Lock()
	switch {
	case c.why != nil:
		kind, cause = messages.ErrNoConnection, c.why
	case c.finishing != nil:
		kind, cause = messages.ErrNoConnection, c.finishing
	case len(c.queue) >= queueCount || c.bytes >= queueBytes:
		kind, cause = messages.ErrOverloaded, errors.New("the connection to the node is full")
	default:
		c.last++
		o.envelope.Id = c.last
		c.open[c.last] = o
		c.queue = append(c.queue, o)
		c.bytes += len(o.envelope.GetPayload())
		c.used = true
	}
	c.mu.Unlock()
	if kind == nil {
		c.rouse()
	}
	return kind, cause
}

// withdraw forgets a request that its caller has given up.
func (c *conn) withdraw(o *outgoing) {
	c.mu.Lock()
	_, open := c.open[o.envelope.GetId()]
	if open {
		delete(c.open, o.envelope.GetId())
		c.withdrawn = append(c.withdrawn, o.envelope.GetId())
	}
	c.mu.Unlock()
	if open {
		c.rouse()
	}
}

func (c *conn) ping() {
	c.mu.Lock()
	c.pinging = true
	c.mu.Unlock()
	c.rouse()
}

func (c *conn) hint() {
	c.mu.Lock()
	c.hinting, c.used = true, true
	c.mu.Unlock()
	c.rouse()
}

// finish takes no more requests, and ends the connection once all are answered.
func (c *conn) finish(why error) {
	c.mu.Lock()
	if c.finishing == nil {
		c.finishing = why
	}
	c.mu.Unlock()
	c.rouse()
}

func (c *conn) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// signs says whether something came since the last call, and whether the connection is in
// use.
func (c *conn) signs() (heard, busy bool) {
	came := c.raw.came.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	heard, busy = came != c.came, c.used || len(c.open) > 0
	c.came, c.used = came, false
	return heard, busy
}

// end ends the connection at once. What was sent through it is unknown.
func (c *conn) end(why error) {
	c.mu.Lock()
	if c.why != nil {
		c.mu.Unlock()
		return
	}
	c.why = why
	open := c.open
	c.open, c.queue = nil, nil
	c.mu.Unlock()
	close(c.over)
	c.cancel()
	_ = c.raw.Close()
	for _, o := range open {
		o.end(messages.ErrNoConnection, messages.ErrConnectionLost, why)
	}
}

// release waits for the end of what the connection consists of. It comes after end.
func (c *conn) release() {
	c.loops.Wait()
	_ = c.cc.Close()
}

// write sends what waits, in as few pieces as it makes. It may be held up for as long as
// the connection lasts.
func (c *conn) write() {
	defer c.loops.Done()
	for {
		select {
		case <-c.wake:
		case <-c.over:
			return
		}
		runtime.Gosched() // callers that are ready to run add to the piece: 16 of them get half as much through again
		for piece := c.next(); piece != nil; piece = c.next() {
			if c.stream.SendMsg(piece) != nil {
				return // the reader knows why
			}
		}
		if c.finished() {
			_ = c.stream.CloseSend() // the reader hears that it has arrived
			return
		}
	}
}

func (c *conn) finished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finishing != nil && len(c.open) == 0
}

// next is what is to be written next; nil if nothing is. The requests in it are sent.
func (c *conn) next() *messages.Frames {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil || len(c.queue) == 0 && len(c.withdrawn) == 0 && !c.pinging && !c.hinting {
		return nil
	}
	f := &messages.Frames{Ping: c.pinging, Hint: c.hinting, Withdrawn: c.withdrawn}
	c.pinging, c.hinting, c.withdrawn = false, false, nil
	c.take(f)
	if len(f.GetEnvelopes()) > 0 {
		f.Cluster, f.Callee = c.links.config.Cluster, c.peer.Incarnation
	}
	return f
}

// take moves requests from the queue into a piece. The caller holds the lock.
func (c *conn) take(f *messages.Frames) {
	if len(c.queue) == 0 {
		return
	}
	now, size, taken := clock.Now(), 0, 0
	f.Envelopes = make([]*messages.Envelope, 0, min(len(c.queue), 256))
	for _, o := range c.queue {
		if size >= pieceBytes {
			break
		}
		taken++
		c.bytes -= len(o.envelope.GetPayload())
		if !o.send() {
			continue
		}
		o.envelope.LeftMs = leftMs(o.deadline, now)
		f.Envelopes = append(f.Envelopes, &o.envelope)
		size += len(o.envelope.GetPayload()) + len(o.envelope.GetTarget()) + 64
	}
	rest := copy(c.queue, c.queue[taken:])
	clear(c.queue[rest:])
	c.queue = c.queue[:rest]
}

// leftMs is the time to the deadline in milliseconds, at least one; 0 without a deadline.
func leftMs(deadline, now time.Time) uint64 {
	if deadline.IsZero() {
		return 0
	}
	return uint64(max(deadline.Sub(now).Milliseconds(), 1))
}

// read settles requests with the replies that come.
func (c *conn) read() {
	defer c.loops.Done()
	for {
		f := new(messages.Frames)
		if err := c.stream.RecvMsg(f); err != nil {
			c.end(lossOf(err))
			return
		}
		c.settle(f.GetReplies())
		if f.GetRefusal() != nil {
			c.finish(errBye)
		}
	}
}

func (c *conn) settle(replies []*messages.Reply) {
	if len(replies) == 0 {
		return
	}
	settled := make([]*outgoing, len(replies))
	c.mu.Lock()
	for i, r := range replies {
		if o := c.open[r.GetId()]; o != nil && o.state.Load() != queued {
			settled[i] = o
			delete(c.open, r.GetId())
		}
	}
	finishing := c.finishing != nil
	c.mu.Unlock()
	if finishing {
		c.rouse()
	}
	for i, o := range settled {
		if o != nil {
			o.answered(replies[i])
		}
	}
}

// lossOf is why a stream ended, for people.
func lossOf(err error) error {
	if errors.Is(err, io.EOF) {
		return errBye
	}
	if s, ok := status.FromError(err); ok {
		return fmt.Errorf("its connection ended: %s", s.Message())
	}
	return err
}
