package s3test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/injection"
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
	rule     *injection.Injection[Request, *Injection]
	proxy    *Proxy
	fault    Fault
	released chan struct{}
	release  func() // closes released, once
}

// Hits is how many requests have met the fault.
func (i *Injection) Hits() int { return i.rule.Fired() }

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
	i.rule.Remove()
	i.release()
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
