package s3test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/slap-go/slap/store"
)

// Gatekeeper issues credentials that expire and lets requests through to a server
// that are signed with those that have not. Its methods are safe for concurrent use.
type Gatekeeper struct {
	// Endpoint is the gatekeeper's URL.
	Endpoint string

	issued   atomic.Int64
	rejected atomic.Int64

	mu      sync.Mutex
	expires map[string]time.Time // by access key and session token
	used    map[string]bool
}

// NewGatekeeper runs a gatekeeper in front of the server until the test ends.
func NewGatekeeper(tb testing.TB, s *Server) *Gatekeeper {
	tb.Helper()
	to, err := url.Parse(s.Endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	g := &Gatekeeper{expires: map[string]time.Time{}, used: map[string]bool{}}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		if err := resign(r.Out); err != nil {
			tb.Error(err)
		}
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.admits(r) {
			g.rejected.Add(1)
			http.Error(w, "<Error><Code>ExpiredToken</Code></Error>", http.StatusBadRequest)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	tb.Cleanup(front.Close)
	g.Endpoint = front.URL
	return g
}

// resign signs the request as the server wants it.
func resign(r *http.Request) error {
	for _, h := range []string{"Authorization", "X-Amz-Security-Token", "X-Amz-Date"} {
		r.Header.Del(h)
	}
	keys := aws.Credentials{AccessKeyID: AccessKey, SecretAccessKey: SecretKey}
	return v4.NewSigner().SignHTTP(r.Context(), keys, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", Region, time.Now())
}

// Store is the store at prefix of a bucket, reached through the gatekeeper with
// credentials that live that long.
func (g *Gatekeeper) Store(bucket, prefix string, life time.Duration) store.Store {
	return store.S3(store.S3Options{
		Bucket: bucket, Prefix: prefix, Region: Region, Endpoint: g.Endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return g.issue(life), nil }),
	})
}

func (g *Gatekeeper) issue(life time.Duration) aws.Credentials {
	n := g.issued.Add(1)
	c := aws.Credentials{
		AccessKeyID: fmt.Sprintf("KEY%d", n), SecretAccessKey: SecretKey, SessionToken: fmt.Sprintf("token%d", n),
		CanExpire: true, Expires: time.Now().Add(life).Truncate(time.Millisecond),
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expires[c.AccessKeyID+" "+c.SessionToken] = c.Expires
	return c
}

func (g *Gatekeeper) admits(r *http.Request) bool {
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(rest, "/")
	id := key + " " + r.Header.Get("X-Amz-Security-Token")
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Now().After(g.expires[id]) {
		return false
	}
	g.used[id] = true
	return true
}

// Used is how many credentials signed a request that was let through.
func (g *Gatekeeper) Used() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.used)
}

// Rejected is how many requests came with credentials that had expired.
func (g *Gatekeeper) Rejected() int { return int(g.rejected.Load()) }
