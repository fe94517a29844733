package s3test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Request is what a [Match] sees of a request.
type Request struct {
	Method      string
	Bucket, Key string // the key is empty for requests about the bucket, such as listings
	Prefix      string // of a listing
	Conditional bool   // has If-Match or If-None-Match
	Header      http.Header
}

// Match chooses requests. Nil chooses all.
type Match func(Request) bool

// On matches a method (or any, if empty) of all keys that start with the prefix;
// of a listing its prefix counts.
func On(method, prefix string) Match {
	return func(r Request) bool {
		return (method == "" || r.Method == method) && strings.HasPrefix(r.Key+r.Prefix, prefix)
	}
}

// Rule says which requests meet which fault.
type Rule struct {
	Match Match // default: every request
	Skip  int   // how many matching requests pass first
	Times int   // how many meet the fault after that. Default: all
	Fault Fault
}

// Injection is a rule at work.
type Injection struct {
	rule     Rule
	proxy    *Proxy
	seen     int // matching requests, guarded by the proxy's mutex
	hits     atomic.Int64
	once     sync.Once
	released chan struct{}
}

// takes counts a matching request and says whether it meets the fault.
func (i *Injection) takes(r Request) bool {
	if i.rule.Match != nil && !i.rule.Match(r) {
		return false
	}
	i.seen++
	nth := i.seen - i.rule.Skip
	if nth < 1 || i.rule.Times > 0 && nth > i.rule.Times {
		return false
	}
	i.hits.Add(1)
	return true
}

// Hits is how many requests have met the fault.
func (i *Injection) Hits() int { return int(i.hits.Load()) }

// Await waits until n requests have met the fault.
func (i *Injection) Await(tb testing.TB, n int) {
	tb.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for i.Hits() < n {
		if time.Now().After(deadline) {
			tb.Fatalf("s3test: %d requests met the fault, expected %d", i.Hits(), n)
		}
		time.Sleep(time.Millisecond)
	}
}

// Release removes the rule and lets go of the requests that it holds.
func (i *Injection) Release() {
	i.proxy.remove(i)
	i.once.Do(func() { close(i.released) })
}

// Counter counts requests.
type Counter struct {
	match Match
	n     atomic.Int64
}

// N is the number of requests so far.
func (c *Counter) N() int { return int(c.n.Load()) }

// describe takes a path-style request apart.
func describe(r *http.Request) Request {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return Request{
		Method: r.Method, Bucket: bucket, Key: key, Prefix: r.URL.Query().Get("prefix"),
		Conditional: r.Header.Get("If-Match")+r.Header.Get("If-None-Match") != "",
		Header:      r.Header,
	}
}
