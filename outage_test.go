package slap_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// load is a number of callers that increment counters and keep the books.
type load struct {
	name                  string // of the counters
	acknowledged, unknown [20]atomic.Uint64
	late                  atomic.Int64 // calls that outlived their deadline
	stop                  chan struct{}
	callers               sync.WaitGroup
}

// callTime is the deadline of a call under load, and lateness what a loaded machine may add.
const (
	callTime = 500 * time.Millisecond
	lateness = 5 * time.Second
)

func startLoad(t *testing.T, cluster *slap.Cluster, name string, callers int) *load {
	l := &load{name: name, stop: make(chan struct{})}
	for n := range callers {
		l.callers.Go(func() {
			for i := n; ; i++ {
				select {
				case <-l.stop:
					return
				default:
					l.call(t, cluster, i%20)
				}
			}
		})
	}
	return l
}

func (l *load) call(t *testing.T, cluster *slap.Cluster, key int) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	began := time.Now()
	_, err := increment(ctx, cluster, l.name+keyOf(key))
	if time.Since(began) > callTime+lateness {
		l.late.Add(1)
	}
	unknown, not := errors.Is(err, slap.ErrOutcomeUnknown), errors.Is(err, slap.ErrNotExecuted)
	switch {
	case err == nil:
		l.acknowledged[key].Add(1)
	case unknown == not:
		t.Errorf("%v: unknown %v, not executed %v", err, unknown, not)
	case unknown:
		l.unknown[key].Add(1)
	default:
		time.Sleep(time.Millisecond)
	}
}

func (l *load) total() (n uint64) {
	for i := range l.acknowledged {
		n += l.acknowledged[i].Load()
	}
	return n
}

// end stops the callers and compares the books with the counters.
func (l *load) end(t *testing.T, cluster *slap.Cluster) {
	t.Helper()
	close(l.stop)
	l.callers.Wait()
	if n := l.late.Load(); n > 0 {
		t.Errorf("%d calls outlived their deadline", n)
	}
	for i := range l.acknowledged {
		value, err := increment(within(t, time.Minute), cluster, l.name+keyOf(i))
		low := l.acknowledged[i].Load() + 1
		if high := low + l.unknown[i].Load(); err != nil || value < low || value > high {
			t.Errorf("%s is %d, %v, want %d to %d", keyOf(i), value, err, low, high)
		}
	}
}

// counted is counters, and how many openings there were.
func counted(openings *atomic.Int64) func(*slap.Shard) []slap.ChildSpec {
	return func(s *slap.Shard) []slap.ChildSpec {
		openings.Add(1)
		return counters(s)
	}
}

func TestSPEC5_AStoreThatFailsForAWhileEndsNoShardAndLosesNothing(t *testing.T) {
	proxy, s := newOutage(t)
	var openings atomic.Int64
	cluster := startCluster(t, slap.Config{
		Store: s, Shards: 4, ShardChildren: counted(&openings), Settings: map[string]any{"flush_interval": "5ms"},
	})
	defer stopCluster(t, cluster)
	away := 1000 * time.Millisecond
	if stress {
		away = 20 * time.Second
	}
	for _, outage := range []struct {
		name       string
		begin, end func()
	}{
		{"refuses", proxy.Refuse, func() {
			if err := proxy.Accept(); err != nil {
				t.Error(err)
			}
		}},
		{"hangs", func() { proxy.Inject(s3test.Rule{Fault: s3test.HoldRequest}) }, proxy.Clear},
		{"is unavailable", func() { proxy.Inject(s3test.Rule{Fault: s3test.Status(http.StatusServiceUnavailable, "SlowDown")}) }, proxy.Clear},
		{"loses replies", func() { proxy.Inject(s3test.Rule{Fault: s3test.LoseReply}) }, proxy.Clear},
	} {
		t.Run(outage.name, func(t *testing.T) {
			l := startLoad(t, cluster, outage.name, 32)
			eventually(t, "load", func() bool { return l.total() > 200 })
			outage.begin()
			time.Sleep(away)
			outage.end()
			before := l.total()
			eventuallyIn(t, 2*time.Minute, "acknowledged again", func() bool { return l.total() > before+200 })
			l.end(t, cluster)
		})
	}
	if n := openings.Load(); n != 4 || !cluster.Ready() {
		t.Errorf("%d openings of 4 shards, ready: %v", n, cluster.Ready())
	}
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
	proxy, s := newOutage(t)
	for _, by := range []string{"its context", "CloseTimeout"} {
		t.Run(by, func(t *testing.T) {
			config := slap.Config{Store: s, Shards: 3, ShardChildren: counters, DrainTimeout: 50 * time.Millisecond}
			if by == "CloseTimeout" {
				config.CloseTimeout = 300 * time.Millisecond
			}
			cluster := startCluster(t, config)
			for i := range 20 {
				if _, err := increment(within(t, time.Minute), cluster, keyOf(i)); err != nil {
					t.Fatal(err)
				}
			}
			hold := proxy.Inject(s3test.Rule{Fault: s3test.HoldRequest})
			pending := make(chan error, 20)
			for i := range cap(pending) {
				go func() {
					_, err := increment(within(t, time.Minute), cluster, keyOf(i))
					pending <- err
				}()
			}
			hold.Await(t, 3)
			began, ctx := time.Now(), context.Background()
			if by != "CloseTimeout" {
				ctx = within(t, 500*time.Millisecond)
			}
			wantLeft(t, cluster.Stop(ctx), 0, 1, 2)
			took(t, "the stop", began, time.Second)
			if by == "CloseTimeout" {
				for range cap(pending) {
					if err := <-pending; !errors.Is(err, slap.ErrOutcomeUnknown) && !errors.Is(err, slap.ErrNotExecuted) {
						t.Errorf("a request: %v", err)
					}
				}
			}
			proxy.Clear()
			<-cluster.Done()
			nothingLeft(t)
		})
	}
}

func TestSPEC3_AStartWithTheStoreAwayEndsInTimeWithOneSentence(t *testing.T) {
	proxy, s := newOutage(t)
	hang := func(prefix string) {
		proxy.Inject(s3test.Rule{Match: s3test.On("", prefix), Fault: s3test.HoldRequest})
	}
	for _, c := range []struct {
		name  string
		begin func()
		left  []int
	}{
		{"it hangs from the beginning", func() { hang("") }, nil},
		{"it hangs after the probe", func() { hang("some/prefix/shard-") }, []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.begin()
			cluster := newCluster(t, slap.Config{Store: s, Shards: 2, CloseTimeout: 300 * time.Millisecond, DrainTimeout: 50 * time.Millisecond})
			began := time.Now()
			err := cluster.Start(within(t, 500*time.Millisecond))
			took(t, "the start", began, time.Second)
			if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "\n") {
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
	hold := proxy.Inject(s3test.Rule{Match: s3test.On("", "some/prefix/shard-"), Fault: s3test.HoldRequest})
	cluster := newCluster(t, slap.Config{Store: s, Shards: 2, CloseTimeout: 300 * time.Millisecond, DrainTimeout: 50 * time.Millisecond})
	started := make(chan error, 1)
	go func() { started <- cluster.Start(context.Background()) }()
	hold.Await(t, 2)
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
	if a := cluster.Assignments(); a[0].State != slap.StateUnassigned || a[0].Err == nil || a[1].State != slap.StateRunning {
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
