package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/strategy"
)

// sockets are the node's two addresses, taken before anything else begins.
type sockets struct {
	http   net.Listener
	remote *silent // nil if the library listens
	at     string  // where other nodes reach the node
}

func bind(ctx context.Context, o Options) (sockets, error) {
	http, err := listen(ctx, "--http", o.HTTP)
	if err != nil {
		return sockets{}, err
	}
	remote, err := listen(ctx, "--listen", o.Listen)
	if err != nil {
		return sockets{}, errors.Join(err, http.Close())
	}
	if hasOthers(o.Slap) {
		if err := remote.Close(); err != nil { // it is free: the library takes it
			return sockets{}, errors.Join(err, http.Close())
		}
		return sockets{http: http, at: o.Listen}, nil
	}
	return sockets{http: http, remote: hangUp(remote), at: remote.Addr().String()}, nil
}

// hasOthers says whether there may be other nodes.
func hasOthers(c slap.Config) bool {
	s, ok := c.Strategy.(strategy.Several)
	if !ok {
		return false
	}
	others, _ := s.Others(c.Name)
	return others
}

func listen(ctx context.Context, name, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s %s is in use: choose another port, or stop what listens there", name, address)
	case err != nil:
		return nil, fmt.Errorf("%s %s cannot be listened on: %w", name, address, err)
	}
	return listener, nil
}

func (s sockets) close() {
	_ = s.http.Close()
	if s.remote != nil {
		s.remote.close()
	}
}

// silent holds the address for other nodes and hangs up on whoever calls, since the node
// is alone.
type silent struct {
	net.Listener

	loop sync.WaitGroup
}

func hangUp(l net.Listener) *silent {
	s := &silent{Listener: l}
	s.loop.Go(func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				_ = conn.Close()
			}
		}
	})
	return s
}

func (s *silent) close() {
	_ = s.Close()
	s.loop.Wait()
}
