package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// sockets are the node's two addresses, taken before anything else begins.
type sockets struct {
	http   net.Listener
	remote *silent
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
	return sockets{http: http, remote: hangUp(remote)}, nil
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
	s.remote.close()
}

// silent holds the address for other nodes and hangs up on whoever calls: nodes do not
// speak to each other yet.
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
