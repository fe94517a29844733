// Package relay is a place in front of a server whose connections a test cuts or holds.
package relay

import (
	"errors"
	"net"
	"sync"
	"testing"
)

// Relay hands on the connections to a server. Its methods are safe for concurrent use.
type Relay struct {
	listener net.Listener

	mu    sync.Mutex
	to    string
	held  chan struct{} // closed: what comes goes on; open: it is held
	conns []net.Conn
	wg    sync.WaitGroup
}

// Start starts a relay to the address on loopback, which ends with the test.
func Start(tb testing.TB, to string) *Relay {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	r := &Relay{listener: listener, held: make(chan struct{})}
	r.To(to)
	close(r.held)
	r.wg.Go(r.accept)
	tb.Cleanup(func() {
		_ = r.listener.Close()
		r.Flow()
		r.Cut()
		r.wg.Wait()
	})
	return r
}

// Address is where the relay takes connections.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// To hands new connections on to another address.
func (r *Relay) To(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = address
}

func (r *Relay) server() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.to
}

func (r *Relay) accept() {
	for {
		from, err := r.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", r.server())
		if err != nil {
			_ = from.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, from, to)
		r.mu.Unlock()
		r.wg.Go(func() { r.copy(to, from) })
		r.wg.Go(func() { r.copy(from, to) })
	}
}

func (r *Relay) copy(to, from net.Conn) {
	defer func() { _ = errors.Join(to.Close(), from.Close()) }()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		<-r.gate()
		if _, werr := to.Write(b[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (r *Relay) gate() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// Hold keeps everything, as a stopped process does.
func (r *Relay) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = make(chan struct{})
}

// Flow lets everything go on.
func (r *Relay) Flow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.held:
	default:
		close(r.held)
	}
}

// Cut ends all connections.
func (r *Relay) Cut() {
	r.mu.Lock()
	conns := r.conns
	r.conns = nil
	r.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
}
