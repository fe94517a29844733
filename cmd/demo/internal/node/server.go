package node

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Timeouts of the HTTP server. An answer may take as long as a call and a little
// more; a body of the largest size comes in well within its time.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute

	// farewell is how long a leaving node waits for idle connections to ask once
	// more and be told that they are closed.
	farewell = 250 * time.Millisecond

	// lastWords bounds the answers that are being written, and bodies that are
	// being read, when the node has left.
	lastWords = 5 * time.Second
)

// server serves HTTP on one listener and knows how many connections are open.
type server struct {
	http     *http.Server
	listener net.Listener
	loop     sync.WaitGroup

	mu    sync.Mutex
	conns int
	none  chan struct{} // closed once no connection is open and none will be
	shut  bool
}

func serve(l net.Listener, handler http.Handler) *server {
	s := &server{listener: l, none: make(chan struct{})}
	s.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ConnState:         s.track,
	}
	s.loop.Go(func() { _ = s.http.Serve(l) }) // ends with the listener
	return s
}

func (s *server) track(_ net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.conns++
	case http.StateClosed, http.StateHijacked:
		s.conns--
		s.settle()
	}
}

func (s *server) settle() {
	if s.shut && s.conns == 0 {
		s.shut = false
		close(s.none)
	}
}

// refuse takes no new connections. The open ones go on.
func (s *server) refuse() {
	_ = s.listener.Close()
	s.loop.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	s.settle()
}

// close ends the server, with open connections after the farewell.
func (s *server) close(ctx context.Context) {
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	select {
	case <-s.none:
	case <-timer.C:
	}
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	s.loop.Wait()
}
