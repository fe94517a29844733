package slap_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/local"
)

// stress says that the long forms of the tests are asked for.
var stress = os.Getenv("SLAP_STRESS") == "1"

func newOutage(t *testing.T) (*s3test.Proxy, store.Store) {
	t.Helper()
	proxy := s3test.NewProxy(t, s3test.Start(t, "bucket"))
	return proxy, proxy.Store("bucket", "some/prefix")
}

// lateness is what a loaded machine may add to a time.
const lateness = 5 * time.Second

// outage is a way in which an S3 server is away.
type outage struct {
	name  string
	begin func(*s3test.Proxy) (end func())
}

// meets is an outage in which each request meets the fault.
func meets(f s3test.Fault) func(*s3test.Proxy) func() {
	return func(p *s3test.Proxy) func() {
		p.Inject(s3test.Rule{Fault: f})
		return p.Clear
	}
}

// deafness are the outages in which nothing reaches the server.
func deafness() []outage {
	return []outage{
		{"refuses", func(p *s3test.Proxy) func() {
			p.Refuse()
			return func() {
				if err := p.Accept(); err != nil {
					panic(err)
				}
			}
		}},
		{"hangs", meets(s3test.HoldRequest)},
		{"is unavailable", meets(s3test.Status(http.StatusServiceUnavailable, "SlowDown"))},
	}
}

func outages() []outage {
	return append(deafness(),
		outage{"loses replies", meets(s3test.LoseReply)},
		outage{"hangs, and its connections are lost", func(p *s3test.Proxy) func() {
			p.Inject(s3test.Rule{Fault: s3test.HoldRequest})
			return func() {
				p.Blackhole()
				p.Clear()
			}
		}},
	)
}

// What an outage may cost. A request to the store that the outage swallowed ends with
// requestTimeout; then everything has two seconds.
const (
	requestTimeout = 2 * time.Second
	recovery       = requestTimeout + 2*time.Second
	callTime       = 500 * time.Millisecond // of the callers
)

// startBeside starts a node whose openings are counted. Its handler "note" writes without
// waiting for anything.
func startBeside(t *testing.T, p *s3test.Proxy, openings *atomic.Int64) *slap.Cluster {
	t.Helper()
	note := func(ctx context.Context, s *slap.Shard, key *wrapperspb.StringValue) (*wrapperspb.UInt64Value, error) {
		seq, err := s.DB().Put(ctx, []byte(key.GetValue()), nil, nil)
		return wrapperspb.UInt64(seq), err
	}
	return startCluster(t, slap.Config{
		Store: store.S3(store.S3Options{
			Bucket: "bucket", Prefix: t.Name(), Region: s3test.Region, Endpoint: p.Endpoint, RequestTimeout: requestTimeout,
			Credentials: credentials.NewStaticCredentialsProvider(s3test.AccessKey, s3test.SecretKey, ""),
		}),
		Shards: 5, Settings: map[string]any{"flush_interval": "5ms"},
		Handlers: map[string]slap.Handler{"add": slap.Handle(add), "note": slap.Handle(note)},
		ShardChildren: func(s *slap.Shard) []slap.ChildSpec {
			openings.Add(1)
			return counters(s)
		},
	})
}

// TestSPEC5 has shards under load, and one where a single write is made that nobody
// asks about.
func TestSPEC5_AStoreThatIsAwayForAWhileEndsNoShardAndLosesNothing(t *testing.T) {
	away := 8 * time.Second // longer than a call is late on a loaded machine
	if stress {
		away = 20 * time.Second
	}
	server := s3test.Start(t, "bucket")
	tests := map[string]func(*testing.T){}
	for _, o := range outages() {
		tests[o.name] = func(t *testing.T) { survive(t, s3test.NewProxy(t, server), o, away) }
	}
	atOnce(t, tests)
}

func survive(t *testing.T, proxy *s3test.Proxy, o outage, away time.Duration) {
	var openings atomic.Int64
	cluster := startBeside(t, proxy, &openings)
	defer stopCluster(t, cluster)
	b := openBooks(t, "k", 3, 0, 1, 2, 3)
	b.callTime = callTime
	b.begin(t, cluster, 16)
	eventually(t, "load", func() bool { return b.acknowledged() > 200 })
	end := o.begin(proxy)
	time.Sleep(away / 2)
	noted, err := slap.Call[*wrapperspb.UInt64Value](within(t, time.Minute), cluster, 4, "note", wrapperspb.String("k"))
	if err != nil { // it would wait for the end of the outage, which comes after it
		t.Errorf("a write that waits for nothing: %v", err)
	}
	time.Sleep(away / 2)
	end()
	back, before := time.Now(), make([]uint64, len(b.accounts))
	for i, a := range b.accounts {
		before[i] = a.acknowledged.Load()
	}
	eventuallyIn(t, recovery+lateness, "everything serves again", func() bool {
		for i, a := range b.accounts {
			if a.acknowledged.Load() == before[i] {
				return false
			}
		}
		at, err := cluster.Lookup(4)
		return err == nil && at.Local() && at.Shard.DurableSeq() >= noted.GetValue()
	})
	took := time.Since(back)
	b.end()
	b.audit(t, cluster)
	slowest := time.Duration(b.slowest.Load())
	t.Logf("serves after %v, a call ended at most %v after its deadline", took, slowest)
	if slowest > lateness {
		t.Errorf("a call ended %v after its deadline", slowest)
	}
	if n := openings.Load(); n != 5 || !cluster.Ready() {
		t.Errorf("%d openings of 5 shards, ready: %v", n, cluster.Ready())
	}
}

// TestSPEC5 loses all connections to the store, also those that nobody uses, without a
// word, as a lost route does. New ones work: who is not told waits for one request at most.
func TestSPEC5_ConnectionsThatAreLostCostOneRequestTimeout(t *testing.T) {
	proxy := s3test.NewProxy(t, s3test.Start(t, "bucket"))
	var openings atomic.Int64
	cluster := startBeside(t, proxy, &openings)
	defer stopCluster(t, cluster)
	b := openBooks(t, "k", 3, 0, 1, 2, 3, 4)
	b.begin(t, cluster, 16)
	eventually(t, "load", func() bool { return b.acknowledged() > 1_000 })
	b.end()
	began := time.Now()
	proxy.Blackhole()
	b.audit(t, cluster)
	if d := time.Since(began); d > recovery+lateness { // less than if each shard had to wait
		t.Errorf("everything serves after %v, want %v", d, recovery)
	}
}

func TestSPEC5_NobodyNoticesCredentialsThatExpire(t *testing.T) {
	life, lives := 2*time.Second, 2
	if stress {
		life, lives = 10*time.Second, 4
	}
	keeper := s3test.NewGatekeeper(t, s3test.Start(t, "bucket"))
	cluster := startCluster(t, slap.Config{
		Store: keeper.Store("bucket", "prefix", life), Shards: 2, ShardChildren: counters, Handlers: adding,
		Settings: map[string]any{"flush_interval": "20ms"},
	})
	defer stopCluster(t, cluster)
	b := openBooks(t, "k", 3, 0, 1)
	b.callTime = time.Minute // nothing is to be lost by haste
	b.begin(t, cluster, 8)
	time.Sleep(time.Duration(lives) * life)
	eventually(t, "credentials expire", func() bool { return keeper.Used() >= lives })
	b.end()
	b.audit(t, cluster)
	if acknowledged, unknown, refused := b.sum(); acknowledged == 0 || unknown+refused > 0 {
		t.Errorf("acknowledged %d, unknown %d, not executed %d with %d credentials", acknowledged, unknown, refused, keeper.Used())
	}
	t.Logf("%d credentials, %d requests with old ones", keeper.Used(), keeper.Rejected())
}

func eventuallyIn(t *testing.T, d time.Duration, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(d); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", d, what)
		}
	}
}

// nothingLeft waits until what the engine was left with has ended: the store is back.
func nothingLeft(t *testing.T) {
	t.Helper()
	eventually(t, "what goes on ends", func() bool {
		stacks := make([]byte, 1<<20)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "slatedb.(*ObjectStore).end")
	})
}

func wantLeft(t *testing.T, err error, shards ...int) {
	t.Helper()
	var left *slap.StopError
	if !errors.As(err, &left) || !slices.Equal(left.Shards, shards) {
		t.Errorf("%v, want the shards %v", err, shards)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
}

func took(t *testing.T, what string, began time.Time, most time.Duration) {
	t.Helper()
	if d := time.Since(began); d > most+lateness {
		t.Errorf("%s took %v, want %v", what, d, most)
	}
}

func TestSUP5_AStopWithTheStoreAwayEndsInTimeAndNamesTheShards(t *testing.T) {
	server := s3test.Start(t, "bucket")
	tests := map[string]func(*testing.T){}
	for _, o := range deafness() {
		for _, by := range []string{"its context", "CloseTimeout"} {
			tests[o.name+", "+by] = func(t *testing.T) {
				proxy := s3test.NewProxy(t, server)
				stopAway(t, proxy, proxy.Store("bucket", t.Name()), o, by == "CloseTimeout")
			}
		}
	}
	atOnce(t, tests)
}

func stopAway(t *testing.T, proxy *s3test.Proxy, s store.Store, o outage, byTimeout bool) {
	config := slap.Config{Store: s, Shards: 3, ShardChildren: counters, DrainTimeout: 50 * time.Millisecond}
	if byTimeout {
		config.CloseTimeout = 300 * time.Millisecond
	}
	cluster := startCluster(t, config)
	for i := range 20 {
		if _, err := increment(within(t, time.Minute), cluster, keyOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	end := o.begin(proxy)
	pending := make(chan error, 20)
	for i := range cap(pending) {
		go func() {
			_, err := increment(within(t, time.Minute), cluster, keyOf(i))
			pending <- err
		}()
	}
	eventually(t, "each shard has something to lose", func() bool {
		return !slices.ContainsFunc([]int{0, 1, 2}, func(n int) bool {
			at, err := cluster.Lookup(n)
			return err != nil || !at.Local() || at.Shard.WrittenSeq() <= at.Shard.DurableSeq()
		})
	})
	began, ctx := time.Now(), context.Background()
	if !byTimeout {
		ctx = within(t, 500*time.Millisecond)
	}
	wantLeft(t, cluster.Stop(ctx), 0, 1, 2)
	took(t, "the stop", began, time.Second)
	if byTimeout {
		for range cap(pending) {
			if err := <-pending; !errors.Is(err, slap.ErrOutcomeUnknown) && !errors.Is(err, slap.ErrNotExecuted) {
				t.Errorf("a request: %v", err)
			}
		}
	}
	end()
	<-cluster.Done()
	nothingLeft(t)
}

func TestSPEC3_AStartWithTheStoreAwayEndsInTimeWithOneSentence(t *testing.T) {
	proxy, s := newOutage(t)
	for name, c := range map[string]struct {
		hangs []string // what has to hang before the start is ended
		left  []int
	}{
		"it hangs from the beginning": {[]string{""}, nil},
		"it hangs after the probe":    {[]string{"some/prefix/shard-000", "some/prefix/shard-001"}, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var holds []*s3test.Injection
			for _, prefix := range c.hangs {
				holds = append(holds, proxy.Inject(s3test.Rule{Match: s3test.On("", prefix), Fault: s3test.HoldRequest}))
			}
			cluster := newCluster(t, slap.Config{Store: s, Shards: 2, CloseTimeout: 300 * time.Millisecond, DrainTimeout: 50 * time.Millisecond})
			ctx, end := context.WithCancel(t.Context())
			started := make(chan error, 1)
			go func() { started <- cluster.Start(ctx) }()
			for _, hold := range holds {
				hold.Await(t, 1)
			}
			began := time.Now()
			end()
			err := receive(t, started)
			took(t, "the end of the start", began, time.Second)
			if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			<-cluster.Done()
			if c.left != nil {
				wantLeft(t, err, c.left...)
				wantLeft(t, cluster.Stop(t.Context()), c.left...)
			}
			proxy.Clear()
			nothingLeft(t)
		})
	}
	cluster := startCluster(t, slap.Config{Store: s, Shards: 2, ShardChildren: counters})
	defer stopCluster(t, cluster)
	if _, err := increment(within(t, time.Minute), cluster, "k"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestSPEC3_AStopWhileTheStoreHoldsUpTheStartNamesTheShards(t *testing.T) {
	proxy, s := newOutage(t)
	first := proxy.Inject(s3test.Rule{Match: s3test.On("", "some/prefix/shard-000"), Fault: s3test.HoldRequest})
	second := proxy.Inject(s3test.Rule{Match: s3test.On("", "some/prefix/shard-001"), Fault: s3test.HoldRequest})
	cluster := newCluster(t, slap.Config{Store: s, Shards: 2, CloseTimeout: 300 * time.Millisecond, DrainTimeout: 50 * time.Millisecond})
	started := make(chan error, 1)
	go func() { started <- cluster.Start(context.Background()) }()
	first.Await(t, 1)
	second.Await(t, 1)
	wantLeft(t, cluster.Stop(context.Background()), 0, 1)
	if err := <-started; !errors.Is(err, slap.ErrNotRunning) {
		t.Errorf("the start: %v", err)
	}
	proxy.Clear()
	nothingLeft(t)
}

func TestP4_3_AnOpenThatIsLateIsEndedAndNoOtherRunsBesideIt(t *testing.T) {
	proxy, s := newOutage(t)
	strategy, err := local.New(local.Options{BackoffBase: 10 * time.Millisecond, BackoffMax: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	first := proxy.Inject(s3test.Rule{Match: s3test.On("", "some/prefix/shard-000"), Fault: s3test.HoldRequest})
	asked := proxy.Count(s3test.On("", "some/prefix/shard-000"))
	cluster := newCluster(t, slap.Config{
		Store: s, Shards: 2, ShardChildren: counters, Strategy: strategy, OpenTimeout: 200 * time.Millisecond, CloseTimeout: time.Minute,
	})
	began := time.Now()
	if err := cluster.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	took(t, "the start", began, 200*time.Millisecond)
	eventually(t, "the other shard serves", func() bool { return cluster.Assignments()[1].State == slap.StateRunning })
	first.Await(t, 1)
	if a := cluster.Assignments(); a[0].State != slap.StateUnassigned || a[0].Err == nil {
		t.Errorf("%+v", a)
	}
	n := asked.N()
	time.Sleep(500 * time.Millisecond) // many times the backoff
	if more := asked.N() - n; more > 0 {
		t.Errorf("%d requests of another open beside the one in flight", more)
	}
	first.Release()
	if err := cluster.AwaitReady(within(t, time.Minute)); err != nil {
		t.Errorf("%v, %v", err, cluster.Assignments()[0].Err)
	}
	stopCluster(t, cluster)
}
