package objectlease

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/lease"
)

// farAway is a server whose writes take 30 ms, and nothing else: it takes all of them. It
// counts its connections.
func farAway(t *testing.T) (store.Store, *atomic.Int64) {
	t.Helper()
	var versions, connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `<ListBucketResult><Name>bucket</Name></ListBucketResult>`)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(30 * time.Millisecond)
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, versions.Add(1)))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return store.S3(store.S3Options{
		Bucket: "bucket", Region: s3test.Region, Endpoint: server.URL,
		Credentials: credentials.NewStaticCredentialsProvider(s3test.AccessKey, s3test.SecretKey, ""),
	}), &connections
}

// renewMany writes a thousand leases and then renews them a few times. It returns how long
// that takes when nothing else keeps the machine busy: the shortest time.
func renewMany(t *testing.T, s store.Store) (shortest time.Duration) {
	t.Helper()
	r := at(t, s, "")
	defer r.Close()
	list := make([]lease.Lease, 1_000)
	shortest = time.Hour
	for round := range 4 {
		for n := range list {
			list[n] = claim(n, list[n].Version, "a")
		}
		took := mustRenew(t, r, list)
		t.Logf("round %d: %v", round, took)
		if round > 0 {
			shortest = min(shortest, took)
		}
	}
	return shortest
}

// mustRenew renews all and notes the versions.
func mustRenew(t *testing.T, s lease.Store, list []lease.Lease) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	errs := make([]error, len(list))
	start := time.Now()
	s.Renew(ctx, list, func(i int, v lease.Version, err error) { list[i].Version, errs[i] = v, err })
	took := time.Since(start)
	for i, err := range errs {
		if err != nil {
			t.Fatalf("lease %d: %v", i, err)
		}
	}
	return took
}

// A thousand leases are renewed within a third of the default time to live, with writes
// that take 30 ms, over few connections that are used again.
func TestOL10_RenewsAThousandLeases(t *testing.T) {
	const third = 5 * time.Second
	far, connections := farAway(t)
	places := map[string]store.Store{"far away": far, "directory": store.Dir(t.TempDir()), "memory": store.Memory()}
	if os.Getenv("SLAP_STRESS") != "" {
		proxy := s3test.NewProxy(t, s3test.Start(t, "bucket"))
		proxy.Inject(s3test.Rule{Match: s3test.On(http.MethodPut, ""), Fault: s3test.Delay(30 * time.Millisecond)})
		places["S3"] = proxy.Store("bucket", "")
	}
	for name, s := range places {
		t.Run(name, func(t *testing.T) {
			if took := renewMany(t, s); took > third {
				t.Errorf("it took %v, want less than %v", took, third)
			}
		})
	}
	if n := connections.Load(); n > 256 {
		t.Errorf("%d connections were made for four rounds", n)
	}
}
