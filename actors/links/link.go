package links

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
)

// link is what a node has to one other: nothing, a connection that is being made, or one.
type link struct {
	links *Links
	at    place
	conn  atomic.Pointer[conn] // nil unless it is up

	mu      sync.Mutex // guards the fields below
	life    life
	tried   chan struct{} // closed when the try to connect that goes on has ended; nil if none does
	err     error         // why the last try or connection ended
	hinting bool          // a hint goes out with the next connection
	closed  bool
	news    []messages.Event // to be published once the lock is free
}

func newLink(l *Links, at place) *link { return &link{links: l, at: at} }

// await is the connection, which may have to be made first: that takes at most a second,
// and goes on without the caller.
func (k *link) await(ctx context.Context, patience time.Duration) (*conn, error) {
	if c := k.conn.Load(); c != nil {
		return c, nil
	}
	tried, err := k.need()
	if tried == nil {
		if c := k.conn.Load(); c != nil {
			return c, nil
		}
		return nil, err
	}
	wait := dialAtMost
	if patience > 0 {
		wait = min(wait, patience)
	}
	timer := clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-tried:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-timer.C:
		return nil, notYet(wait)
	}
	if c := k.conn.Load(); c != nil {
		return c, nil
	}
	k.mu.Lock()
	defer k.unlock()
	return nil, k.why()
}

func (k *link) unlock() {
	news := k.news
	k.news = nil
	k.mu.Unlock()
	for _, e := range news {
		k.links.config.Publish(e)
	}
}

// why says why there is no connection. The caller holds the lock.
func (k *link) why() error {
	if k.closed {
		return errClosed
	}
	if k.err == nil {
		return errors.New("the connection has ended")
	}
	return k.err
}

// need begins a try to connect, or joins the one that goes on. Nil: there is none, for the
// reason that is returned.
func (k *link) need() (<-chan struct{}, error) {
	k.mu.Lock()
	defer k.unlock()
	if k.closed {
		return nil, errClosed
	}
	k.do(k.life.need(clock.Now()), nil)
	if k.tried == nil {
		return nil, k.why()
	}
	return k.tried, nil
}

// do carries out what the link's life says. The caller holds the lock.
func (k *link) do(deeds []deed, c *conn) {
	for _, d := range deeds {
		switch d {
		case dial:
			k.dial()
		case ping:
			c.ping()
		case hangUp:
			c.end(errIdle)
		case giveUp:
			k.err = errSilent
			c.end(errSilent)
		case unreachable:
			k.news = append(k.news, messages.PeerUnreachable{
				Origin: k.links.config.Origin(), Node: k.at.name, Address: k.at.address, Err: k.err,
			})
		case reachable:
			k.news = append(k.news, messages.PeerReachable{
				Origin: k.links.config.Origin(), Node: k.at.name, Address: k.at.address,
			})
		}
	}
}

// dial connects in a goroutine of its own, which then carries the connection.
func (k *link) dial() {
	if !k.links.works.enter() {
		k.closed = true
		return
	}
	k.tried = make(chan struct{})
	go func() {
		defer k.links.works.leave()
		c, err := k.links.connect(k.links.ctx, k.at)
		k.connected(c, err)
		if err == nil {
			k.carry(c)
		}
	}()
}

func (k *link) connected(c *conn, err error) {
	k.mu.Lock()
	defer k.unlock()
	k.err = err
	if err != nil {
		k.do(k.life.failed(clock.Now()), nil)
	} else {
		k.do(k.life.connected(clock.Now()), c)
		if k.hinting {
			k.hinting = false
			c.hint()
		}
		k.conn.Store(c)
		if k.closed {
			c.finish(errClosed)
		}
	}
	close(k.tried)
	k.tried = nil
}

// carry looks after a connection until it has ended.
func (k *link) carry(c *conn) {
	pace := clock.NewTicker(pingEvery / 4)
	defer pace.Stop()
	for {
		select {
		case <-pace.C:
			k.tick(c)
		case <-k.links.ctx.Done():
			c.end(errClosed)
		case <-c.over:
			k.ended(c)
			c.release()
			return
		}
	}
}

func (k *link) tick(c *conn) {
	heard, busy := c.signs()
	k.mu.Lock()
	defer k.unlock()
	k.do(k.life.tick(clock.Now(), heard, busy), c)
	if k.life.phase != up {
		k.conn.Store(nil)
	}
}

func (k *link) ended(c *conn) {
	k.mu.Lock()
	defer k.unlock()
	k.conn.Store(nil)
	if k.life.phase == up {
		k.err = c.why
	}
	k.do(k.life.lost(clock.Now(), errors.Is(c.why, errBye) || k.closed), c)
}

// hint is sent at once, or with the connection that is made for it.
func (k *link) hint() {
	k.mu.Lock()
	c := k.conn.Load()
	k.hinting = c == nil
	k.mu.Unlock()
	if c != nil {
		c.hint()
		return
	}
	_, _ = k.need()
}

// close ends the link once what is to be sent through it is sent.
func (k *link) close() {
	k.mu.Lock()
	defer k.unlock()
	k.closed = true
	if c := k.conn.Load(); c != nil {
		c.finish(errClosed)
	}
}

func (k *link) forgotten(now time.Time) bool {
	k.mu.Lock()
	defer k.unlock()
	return k.life.forgotten(now)
}

func (k *link) unreachable(now time.Time) bool {
	k.mu.Lock()
	defer k.unlock()
	return k.life.missing && now.Sub(k.life.used) < idle
}
