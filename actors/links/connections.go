package links

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// maxConnections is how many connections others may have to this node. Each peer needs
// two.
const maxConnections = 4096

var (
	errCrowded = errors.New("too many connections")
	errShut    = errors.New("no connections any more")
)

// connections are those of one kind that are open, so that an end of all leaves none
// behind.
type connections struct {
	mu   sync.Mutex
	shut bool
	open map[*watched]struct{}
}

// watched is a connection that counts what comes through it.
type watched struct {
	net.Conn

	of   *connections
	came atomic.Uint64 // reads that brought something
}

// Read counts.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 {
		w.came.Add(1)
	}
	return n, err
}

// Close forgets the connection.
func (w *watched) Close() error {
	w.of.mu.Lock()
	delete(w.of.open, w)
	w.of.mu.Unlock()
	return w.Conn.Close()
}

// add watches a connection, or closes it if there are too many.
func (c *connections) add(raw net.Conn) (*watched, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	switch {
	case c.shut:
		err = errShut
	case len(c.open) >= maxConnections:
		err = errCrowded
	default:
		w := &watched{Conn: raw, of: c}
		if c.open == nil {
			c.open = map[*watched]struct{}{}
		}
		c.open[w] = struct{}{}
		return w, nil
	}
	_ = raw.Close()
	return nil, err
}

// close ends all connections, and those to come.
func (c *connections) close() {
	c.mu.Lock()
	c.shut = true
	open := c.open
	c.open = nil
	c.mu.Unlock()
	for w := range open {
		_ = w.Conn.Close()
	}
}

// dial is the dialer of a gRPC connection.
func (c *connections) dial(ctx context.Context, address string) (net.Conn, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return c.add(raw)
}

// admitting are credentials that watch the connections which others make.
type admitting struct {
	credentials.TransportCredentials

	to *connections
}

// ServerHandshake admits the connection.
func (a admitting) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	w, err := a.to.add(raw)
	if err != nil {
		return nil, nil, err
	}
	conn, info, err := a.TransportCredentials.ServerHandshake(w)
	if err != nil {
		_ = w.Close()
		return nil, nil, err
	}
	return conn, caller{info, w}, nil
}

// caller is what is known of who has made a connection.
type caller struct {
	credentials.AuthInfo

	conn *watched
}

// cut ends the connection that a stream came through.
func cut(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		if who, ok := p.AuthInfo.(caller); ok {
			_ = who.conn.Close()
		}
	}
}

// Clone keeps admitting.
func (a admitting) Clone() credentials.TransportCredentials {
	return admitting{a.TransportCredentials.Clone(), a.to}
}
