package s3test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/injection"
	"github.com/slap-go/slap/store"
)

// Proxy forwards requests to a server and fails those that its rules name. The
// first rule that matches decides; without one a request passes unchanged. Its
// methods are safe for concurrent use and take effect at once.
type Proxy struct {
	// Endpoint is the proxy's URL, the same over [Proxy.Refuse] and [Proxy.Accept].
	Endpoint string

	forward   *httputil.ReverseProxy
	transport *http.Transport
	ctx       context.Context // ends with Close
	cancel    context.CancelFunc
	handlers  sync.WaitGroup
	rules     injection.Rules[Request, *Injection]

	mu       sync.Mutex
	closed   bool
	counters []*Counter
	conns    map[*conn]struct{}
	front    *http.Server // nil while connections are refused
}

// NewProxy runs a proxy in front of the server until the test ends.
func NewProxy(tb testing.TB, s *Server) *Proxy {
	tb.Helper()
	p, err := LaunchProxy(s.Endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.Close)
	return p
}

// LaunchProxy runs a proxy in front of any HTTP endpoint until [Proxy.Close].
func LaunchProxy(endpoint string) (*Proxy, error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	listener, err := listen()
	if err != nil {
		return nil, err
	}
	p := &Proxy{Endpoint: "http://" + listener.Addr().String(), conns: map[*conn]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.transport = &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // what the client signed
		},
		Transport: p.transport,
		ErrorLog:  log.New(io.Discard, "", 0),
		// A server that is down looks like a lost connection, not like a 502.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.serve(listener)
	return p, nil
}

// Store is the store at prefix of a bucket, reached through the proxy.
func (p *Proxy) Store(bucket, prefix string) store.Store {
	return storeAt(p.Endpoint, bucket, prefix)
}

// URL is the same store for [store.Parse] and command lines; it needs [Server.Env].
func (p *Proxy) URL(bucket, prefix string) string { return p.Store(bucket, prefix).String() }

// Inject adds a rule behind those that are there.
func (p *Proxy) Inject(r Rule) *Injection {
	released := make(chan struct{})
	i := &Injection{proxy: p, fault: r.Fault, released: released, release: sync.OnceFunc(func() { close(released) })}
	i.rule = p.rules.Inject(injection.Rule[Request, *Injection]{Match: r.Match, Skip: r.Skip, Times: r.Times, Fault: i})
	return i
}

// Clear removes all rules and lets go of the requests that they hold.
func (p *Proxy) Clear() {
	for _, i := range p.rules.Clear() {
		i.release()
	}
}

// Count starts to count the requests that match, also those that meet a fault.
func (p *Proxy) Count(m Match) *Counter {
	c := &Counter{match: m}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counters = append(p.counters, c)
	return c
}

// Refuse closes all connections and refuses new ones until [Proxy.Accept].
func (p *Proxy) Refuse() {
	p.mu.Lock()
	front := p.front
	p.front = nil
	p.mu.Unlock()
	if front != nil {
		_ = front.Close()
	}
}

// Accept ends a [Proxy.Refuse].
func (p *Proxy) Accept() error {
	p.mu.Lock()
	open := p.front != nil
	p.mu.Unlock()
	if open {
		return nil
	}
	address, err := url.Parse(p.Endpoint)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address.Host)
	if err != nil {
		return err
	}
	p.serve(listener)
	return nil
}

// Blackhole makes the connections that are open now swallow everything, without
// a reset, as a lost route does. New connections work.
func (p *Proxy) Blackhole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.lost.Store(true)
	}
}

// Close ends the proxy and waits for everything that it runs.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.Refuse()
	p.handlers.Wait()
	p.transport.CloseIdleConnections()
}

func (p *Proxy) serve(listener net.Listener) {
	front := &http.Server{
		Handler:           http.HandlerFunc(p.handle),
		ErrorLog:          log.New(io.Discard, "", 0),
		ReadHeaderTimeout: time.Minute,
	}
	p.mu.Lock()
	p.front = front
	p.mu.Unlock()
	p.handlers.Go(func() {
		if err := front.Serve(&tracked{listener, p}); !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	})
}

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.handlers.Done()
	request := describe(r)
	i := p.match(request)
	if i == nil {
		p.forward.ServeHTTP(w, r)
		return
	}
	i.fault(&Exchange{Request: request, w: w, r: r, injection: i})
}

// enter registers a handler, for which Close waits.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.handlers.Add(1)
	}
	return !p.closed
}

// match counts the request and returns the rule that decides about it, if any.
func (p *Proxy) match(r Request) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.counters {
		if c.match == nil || c.match(r) {
			c.n.Add(1)
		}
	}
	return p.rules.Meet(r)
}
