package slatedb

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
)

// A gatekeeper lets requests through to an S3 server that are signed with
// credentials of one of its issuers, which must not have expired.
type gatekeeper struct {
	*httptest.Server

	mu       sync.Mutex
	expires  map[string]time.Time // by access key and session token
	seen     map[string]bool      // those used
	rejected atomic.Int64
}

func newGatekeeper(t *testing.T, server *s3test.Server) *gatekeeper {
	t.Helper()
	to, err := url.Parse(server.Endpoint)
	require.NoError(t, err)
	g := &gatekeeper{expires: map[string]time.Time{}, seen: map[string]bool{}}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		for _, h := range []string{"Authorization", "X-Amz-Security-Token", "X-Amz-Date"} {
			r.Out.Header.Del(h)
		}
		keys := aws.Credentials{AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey}
		err := v4.NewSigner().SignHTTP(r.Out.Context(), keys, r.Out, r.Out.Header.Get("X-Amz-Content-Sha256"),
			"s3", s3test.Region, time.Now())
		if err != nil {
			t.Error(err)
		}
	}}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.admits(r) {
			g.rejected.Add(1)
			http.Error(w, "<Error><Code>ExpiredToken</Code></Error>", http.StatusBadRequest)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gatekeeper) admits(r *http.Request) bool {
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(rest, "/")
	id := key + " " + r.Header.Get("X-Amz-Security-Token")
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Now().After(g.expires[id]) {
		return false
	}
	g.seen[id] = true
	return true
}

// knows makes a provider's credentials known as they are issued.
func (g *gatekeeper) knows(p aws.CredentialsProvider) aws.CredentialsProviderFunc {
	return func(ctx context.Context) (aws.Credentials, error) {
		c, err := p.Retrieve(ctx)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.expires[c.AccessKeyID+" "+c.SessionToken] = c.Expires
		return c, err
	}
}

func (g *gatekeeper) used() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.seen)
}

func (g *gatekeeper) store(p aws.CredentialsProvider) store.Store {
	return store.S3(store.S3Options{Bucket: "bucket", Prefix: "prefix", Region: s3test.Region, Endpoint: g.URL, Credentials: p})
}

// TestCredentialsThatExpire writes while the credentials expire again and again,
// to two stores with different ones: nobody notices.
func TestCredentialsThatExpire(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, "bucket")
	lives, rounds := 2*time.Second, 3
	if stress() {
		rounds = 20
	}
	var writers sync.WaitGroup
	for i := range 2 {
		g := newGatekeeper(t, server)
		s := openStore(t, g.store(g.knows(&issuer{life: lives})))
		db := openDB(t, s, fmt.Sprint("db", i), manual())
		writers.Go(func() {
			for end := time.Now().Add(time.Duration(rounds) * lives); time.Now().Before(end); {
				_, err := db.Put(t.Context(), []byte("k"), []byte("v"), nil)
				if err == nil {
					err = db.Flush(t.Context(), WAL)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
			if g.used() < rounds {
				t.Errorf("%d credentials were used, not at least %d", g.used(), rounds)
			}
			t.Logf("%d credentials were used, %d requests came with expired ones", g.used(), g.rejected.Load())
		})
	}
	writers.Wait()
}

func init() { tasks["proxy"] = useStoreThroughProxy }

// TestProxyVariables opens a database while the environment names a proxy that is
// not there. Requests to loopback go to no proxy: neither those for credentials
// nor those to the store.
func TestProxyVariables(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, "bucket")
	self, err := os.Executable()
	require.NoError(t, err)
	for _, variable := range []string{"HTTP_PROXY", "ALL_PROXY", "http_proxy"} {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), taskVariable+"=proxy", variable+"=http://127.0.0.1:9", "SLATEDB_TEST_ENDPOINT="+server.Endpoint)
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.Equal(t, "opened\n", string(output), variable)
	}
}

// useStoreThroughProxy has credentials that expire but are those of the server.
func useStoreThroughProxy() int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{
			AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey,
			CanExpire: true, Expires: time.Now().Add(time.Hour),
		}, nil
	})
	s, err := NewObjectStore(ctx, store.S3(store.S3Options{
		Bucket: "bucket", Region: s3test.Region, Endpoint: os.Getenv("SLATEDB_TEST_ENDPOINT"), Credentials: keys,
	}))
	if err == nil {
		var db *DB
		if db, err = Open(ctx, s, "db", nil); err == nil {
			err = db.Close(ctx, nil)
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("opened")
	return 0
}
