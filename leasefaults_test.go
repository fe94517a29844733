package slap_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
)

// failover says that the forms of the tests are asked for that `make failover` runs.
var failover = os.Getenv("SLAP_FAILOVER") == "1"

// placement matches what leases and heartbeats cost.
func placement(r s3test.Request) bool {
	return strings.Contains(r.Key+r.Prefix, "/_cluster/placement/")
}

// besideProxy are nodes whose requests to the server go through a proxy.
func besideProxy(t *testing.T, server *s3test.Server, shards int, ttl time.Duration) (*several, *s3test.Proxy) {
	t.Helper()
	proxy := s3test.NewProxy(t, server)
	s := newSeveral(t, shards, ttl)
	s.quiet()
	s.config.Settings = map[string]any{"flush_interval": "10ms"}
	s.config.Store = store.S3(store.S3Options{
		Bucket: "bucket", Prefix: t.Name(), Region: s3test.Region, Endpoint: proxy.Endpoint, RequestTimeout: 5 * time.Second,
		Credentials: credentials.NewStaticCredentialsProvider(s3test.AccessKey, s3test.SecretKey, ""),
	})
	return s, proxy
}

// generations are those of the leases that the nodes hold.
func (s *several) generations() map[int]uint64 {
	all := map[int]uint64{}
	for _, node := range s.nodes {
		for _, a := range node.Assignments() {
			if a.Owner != "" {
				all[a.Shard] = max(all[a.Shard], a.Generation)
			}
		}
	}
	return all
}

// A quarter of a TTL of any fault loses no shard. Of a lease there is an eighth of the TTL
// left when it is renewed at last, in which a machine may stand still.
func TestP2_7_AShortFaultOfTheBucketLosesNoShard(t *testing.T) {
	mostlyWaits(t)
	faults := outages()
	for status, code := range map[int]string{429: "TooManyRequests", 500: "InternalError", 503: "SlowDown"} {
		faults = append(faults, outage{fmt.Sprint("answers ", status), meets(s3test.Status(status, code))})
	}
	for status, code := range map[int]string{409: "ConditionalRequestConflict", 412: "PreconditionFailed"} {
		faults = append(faults, outage{fmt.Sprint("answers ", status), func(p *s3test.Proxy) func() {
			p.Inject(s3test.Rule{Match: placement, Fault: s3test.Status(status, code)}) // to the engine it would mean a fence
			return p.Clear
		}})
	}
	if !failover { // the worst of them
		faults = slices.DeleteFunc(faults, func(o outage) bool {
			return !slices.Contains([]string{"hangs, and its connections are lost", "loses replies", "answers 412", "answers 503"}, o.name)
		})
	}
	server := s3test.Start(t, "bucket")
	tests := map[string]func(*testing.T){}
	for _, o := range faults {
		tests[o.name] = func(t *testing.T) { keepThrough(t, server, o) }
	}
	atOnce(t, tests)
}

func keepThrough(t *testing.T, server *s3test.Server, o outage) {
	s, proxy := besideProxy(t, server, 6, 15*time.Second)
	s.start("a")
	s.start("b")
	eventually(t, "shares within one", s.balanced)
	s.settled()
	before := s.generations()
	s.ended.Store(0)
	end := o.begin(proxy)
	time.Sleep(s.lease.TTL / 4) // as long as the fault is to last
	end()
	time.Sleep(s.lease.TTL / 3) // in which the next round comes
	if after := s.generations(); !maps.Equal(after, before) || s.ended.Load() > 0 {
		t.Fatalf("generations %v, before %v, %d shards ended", after, before, s.ended.Load())
	}
	if _, err := increment(within(t, 30*time.Second), s.nodes["a"], "key"); err != nil {
		t.Fatal(err)
	}
}

// While the store is away for longer than leases last, every node stops serving before
// anybody else could; then all come back by themselves.
func TestLL9_AStoreThatIsAwayForLongStopsEveryNodeInTime(t *testing.T) {
	mostlyWaits(t)
	kinds := deafness()
	if !failover {
		kinds = kinds[1:2] // the store hangs
	}
	for _, o := range kinds {
		t.Run(o.name, func(t *testing.T) {
			s, proxy := besideProxy(t, s3test.Start(t, "bucket"), 6, 3*time.Second)
			s.start("a")
			s.start("b")
			eventually(t, "shares within one", s.balanced)
			renewed := &renewals{at: map[string]time.Time{}}
			proxy.Count(renewed.note)
			s.settled()
			eventually(t, "each lease is renewed", func() bool { return renewed.shards() == 6 })
			last := renewed.oldest()
			began := time.Now()
			end := o.begin(proxy)
			for n := 6; time.Since(last) < 2*s.lease.TTL/3; n = s.served() {
				if n != 6 {
					t.Fatalf("%d of 6 shards are served %v after the last renewal", n, time.Since(last))
				}
				time.Sleep(10 * time.Millisecond)
			}
			for time.Since(began) < s.lease.TTL {
				time.Sleep(10 * time.Millisecond)
			}
			if n := s.served(); n > 0 {
				t.Errorf("%d shards are served when another node could have them", n)
			}
			for time.Since(began) < 3*s.lease.TTL {
				time.Sleep(100 * time.Millisecond)
			}
			requests := proxy.Count(placement)
			healed := time.Now()
			end()
			eventually(t, "shares within one", s.balanced)
			t.Logf("all served again after %v, with %d requests to the leases", time.Since(healed).Round(time.Millisecond), requests.N())
			if requests.N() > 400 {
				t.Errorf("%d requests to the leases of 6 shards: a stampede", requests.N())
			}
			if _, err := increment(within(t, 30*time.Second), s.nodes["a"], "key"); err != nil {
				t.Error(err)
			}
		})
	}
}

// renewals is when each lease was renewed last.
type renewals struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (r *renewals) note(request s3test.Request) bool {
	is := request.Method == http.MethodPut && strings.Contains(request.Key, "/_cluster/placement/shards/")
	if is {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.at[request.Key] = time.Now()
	}
	return is
}

func (r *renewals) shards() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.at)
}

func (r *renewals) oldest() (first time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.MinFunc(slices.Collect(maps.Values(r.at)), time.Time.Compare)
}

// served is how many shards are served by any node.
func (s *several) served() (n int) {
	for _, k := range s.shares() {
		n += k
	}
	return n
}

// The cost of a quiet cluster, counted at the bucket.
func TestOL16_AQuietClusterCostsFewRequests(t *testing.T) {
	mostlyWaits(t)
	ttl, intervals := 15*time.Second, 3
	if failover {
		intervals = 6
	}
	s, proxy := besideProxy(t, s3test.Start(t, "bucket"), 64, ttl)
	for _, name := range []string{"a", "b", "c"} {
		s.start(name)
	}
	eventuallyIn(t, 2*time.Minute, "shares within one", s.balanced)
	s.settled()
	count := proxy.Count(placement)
	began := time.Now()
	time.Sleep(time.Duration(intervals) * ttl / 3) // the time to count in
	rounds := time.Since(began) + ttl/3            // there may be one more than the time has intervals
	each := float64(count.N()) / 3 / rounds.Seconds()
	t.Logf("%.2f requests per second and node; at most 6", each)
	if each > 6 {
		t.Errorf("%.2f requests per second and node, want at most 6", each)
	}
}
