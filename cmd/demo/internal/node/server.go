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

	// farewell is how long a leaving node waits after its last answer for idle
	// connections to ask once more and be told that they are closed.
	farewell = 250 * time.Millisecond

	// lastWords bounds the answers that are being written, and bodies that are
	// being read, when the node has left.
	lastWords = 5 * time.Second

	settlePoll = 5 * time.Millisecond
)

// server serves HTTP on one listener and knows its connections.
type server struct {
	http     *http.Server
	listener net.Listener
	loop     sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]http.ConnState // the open ones
	answered time.Time                   // when a connection last ended a request
}

func serve(l net.Listener, handler http.Handler) *server {
	s := &server{listener: l, conns: map[net.Conn]http.ConnState{}}
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

func (s *server) track(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns[conn] == http.StateActive {
		s.answered = time.Now()
	}
	s.conns[conn] = state
	if state == http.StateClosed || state == http.StateHijacked {
		delete(s.conns, conn)
	}
}

// settled says whether nobody is left who could expect an answer. It takes the
// place of [http.Server.Shutdown], which drops requests that come in meanwhile.
func (s *server) settled(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, state := range s.conns {
		if state == http.StateActive {
			return false
		}
	}
	return len(s.conns) == 0 || now.Sub(s.answered) >= farewell
}

// refuse takes no new connections. The open ones go on.
func (s *server) refuse() {
	_ = s.listener.Close()
	s.loop.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered = time.Now()
}

// close ends the server after the last answers.
func (s *server) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	s.settle(ctx)
	_ = s.http.Close() // closes sockets; there is nothing to do about a failure
}

func (s *server) settle(ctx context.Context) {
	poll := time.NewTicker(settlePoll)
	defer poll.Stop()
	for !s.settled(time.Now()) {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
	}
}
