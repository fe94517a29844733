package s3test

import (
	"net"
	"sync/atomic"
)

// tracked is a listener whose connections can be lost.
type tracked struct {
	net.Listener
	proxy *Proxy
}

// Accept returns the next connection and remembers it until it is closed.
func (l *tracked) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, proxy: l.proxy}
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.proxy.conns[c] = struct{}{}
	return c, nil
}

// conn swallows what it reads and writes once it is lost.
type conn struct {
	net.Conn
	proxy *Proxy
	lost  atomic.Bool
}

// Read delivers nothing that arrives after the loss.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.lost.Load() {
			return n, err
		}
	}
}

// Write pretends to send after the loss.
func (c *conn) Write(p []byte) (int, error) {
	if c.lost.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// Close closes and forgets the connection.
func (c *conn) Close() error {
	c.proxy.mu.Lock()
	delete(c.proxy.conns, c)
	c.proxy.mu.Unlock()
	return c.Conn.Close()
}
