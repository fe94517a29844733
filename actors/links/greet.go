package links

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"google.golang.org/grpc"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// method is the one that nodes call at each other; it is a stream of [messages.Frames].
const method = "/slap.Links/Link"

var streamDesc = &grpc.StreamDesc{StreamName: "Link", ServerStreams: true, ClientStreams: true}

// Greet asks who answers at the address. It fails with [strategy.ErrNobody] if nobody
// listens there, with [ErrRefused] if this node is not wanted, and otherwise after a second
// for the connection and one for the answer.
func (l *Links) Greet(ctx context.Context, address string) (strategy.Node, error) {
	if !l.works.enter() {
		return strategy.Node{}, errClosed
	}
	defer l.works.leave()
	c, err := l.call(ctx, address)
	if err != nil {
		return strategy.Node{}, err
	}
	defer c.release()
	defer c.end(errIdle)
	return c.peer, nil
}

// DialSelf proves that this node is reached at the address that it advertises, within ctx.
func (l *Links) DialSelf(ctx context.Context) error {
	for {
		who, err := l.Greet(ctx, l.self.Address)
		switch {
		case err == nil && who.Incarnation == l.self.Incarnation:
			return nil
		case err == nil:
			err = fmt.Errorf("node %s answers there", who.Name)
		}
		if clock.Sleep(ctx, dialPause) != nil {
			return fmt.Errorf("Advertise %s: this node cannot reach itself there: %w: set the address that others reach it at", l.self.Address, err)
		}
	}
}

// connect makes the connection to a node, which must be the one that is meant.
func (l *Links) connect(ctx context.Context, at place) (*conn, error) {
	if err := l.allows(at); err != nil {
		return nil, err
	}
	c, err := l.call(ctx, at.address)
	if err != nil {
		return nil, err
	}
	if c.peer.Name != at.name {
		c.end(errIdle)
		c.release()
		return nil, fmt.Errorf("%s is node %s, not %s", at.address, c.peer.Name, at.name)
	}
	c.start()
	return c, nil
}

// call connects to whoever listens at the address and greets it. It takes a second for
// each.
func (l *Links) call(ctx context.Context, address string) (*conn, error) {
	raw, err := l.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	c := &conn{links: l, raw: raw, over: make(chan struct{}), wake: make(chan struct{}, 1), open: map[uint64]*outgoing{}}
	once := make(chan net.Conn, 1)
	once <- raw
	c.cc, err = grpc.NewClient("passthrough:///"+address, append(dialOptions(noting{calling(l.config.TLS), &c.handshake}),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case only := <-once:
				return only, nil
			default:
				return nil, net.ErrClosed
			}
		}))...)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	if err := c.greet(ctx); err != nil {
		c.end(err)
		c.release()
		return nil, err
	}
	return c, nil
}

func (l *Links) dial(ctx context.Context, address string) (*watched, error) {
	ctx, cancel := context.WithTimeout(ctx, dialAtMost)
	defer cancel()
	raw, err := l.dialed.dial(ctx, address)
	if err == nil {
		w, _ := raw.(*watched)
		return w, nil
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("%w: %s refuses the connection", strategy.ErrNobody, address)
	}
	return nil, err
}

// greet exchanges the first messages. The stream lives on after ctx.
func (c *conn) greet(ctx context.Context) error {
	stream, end := context.WithCancelCause(context.WithoutCancel(ctx))
	c.cancel = func() { end(errClosed) }
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	late := clock.AfterFunc(dialAtMost, func() { end(fmt.Errorf("no answer to the greeting after %v", dialAtMost)) })
	defer late.Stop()
	answer, err := c.exchange(stream)
	switch {
	case stream.Err() != nil:
		return context.Cause(stream)
	case err != nil:
		return c.links.unanswered(c.handshake.Load(), err)
	case answer.GetRefusal() != nil:
		return fmt.Errorf("%w: %.500s", ErrRefused, answer.GetRefusal().GetReason())
	case answer.GetWelcome() == nil:
		return errors.New("what listens there is no node of this cluster")
	}
	w := answer.GetWelcome()
	c.peer = strategy.Node{Name: w.GetNode(), Address: w.GetAddress(), Incarnation: w.GetIncarnation()}
	return nil
}

func (c *conn) exchange(ctx context.Context) (answer *messages.Frames, err error) {
	c.stream, err = c.cc.NewStream(ctx, streamDesc, method)
	if err != nil {
		return nil, err
	}
	self := c.links.self
	hello := &messages.Hello{
		Cluster: c.links.config.Cluster, Node: self.Name, Address: self.Address, Incarnation: self.Incarnation, Protocol: Protocol,
	}
	answer = new(messages.Frames)
	if err = c.stream.SendMsg(&messages.Frames{Hello: hello}); err == nil || errors.Is(err, io.EOF) {
		err = c.stream.RecvMsg(answer)
	}
	return answer, err
}
