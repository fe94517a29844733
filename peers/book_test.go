package peers

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slap-go/slap/internal/testlog"
)

// world is what a book can ask.
type world struct {
	mu    sync.Mutex
	peers []Peer
	err   error
	looks []time.Time
	hosts map[string]string // a host's addresses, with spaces between them
	log   testlog.Buffer
}

func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *world) find(context.Context) ([]Peer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks = append(w.looks, time.Now())
	if w.err != nil && strings.Contains(w.err.Error(), "panic") {
		panic(w.err)
	}
	return w.peers, w.err
}

func (w *world) lookup(_ context.Context, _, host string) (ips []netip.Addr, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range strings.Fields(w.hosts[host]) {
		ips = append(ips, netip.MustParseAddr(text))
	}
	if len(ips) == 0 {
		return nil, errors.New("no such host")
	}
	return ips, nil
}

func (w *world) open(t *testing.T, s Source, change ...func(*Options)) *Book {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Self: Peer{"a", "10.0.0.1:7001"}, Source: s, Lookup: w.lookup, Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
	}
	for _, f := range change {
		f(&o)
	}
	return Open(o)
}

// shut ends the book at once: nothing here hangs.
func shut(t *testing.T, b *Book) {
	t.Helper()
	if err := b.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func allowed(t *testing.T, b *Book, want bool, names ...string) {
	t.Helper()
	for _, who := range names {
		name, address, _ := strings.Cut(who, "=")
		if err := b.Allows(name, address); (err == nil) != want {
			t.Errorf("%s: %v, want %v", who, err, want)
		}
	}
}

func TestPEER1_ThePeersAreLookedUpEveryTwoSecondsWithoutTheNodeItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{peers: []Peer{{"a", "10.0.0.1:7001"}, {"b", "10.0.0.2:7001"}, {"", "10.0.0.3:7001"}}}
		b := w.open(t, Func(w.find))
		defer shut(t, b)
		synctest.Wait()
		allowed(t, b, true, "b=10.0.0.2:7001", "anybody=10.0.0.3:7001")
		allowed(t, b, false, "a=10.0.0.1:7001", "b=10.0.0.1:7001", "c=10.0.0.4:7001")
		if address, ok := b.Address("b"); address != "10.0.0.2:7001" || !ok {
			t.Errorf("b is at %q, %v", address, ok)
		}
		for _, nobody := range []string{"a", "", "c"} {
			if address, ok := b.Address(nobody); ok {
				t.Errorf("%q is at %q", nobody, address)
			}
		}
		w.set(func() { w.peers = []Peer{{"b", "10.0.0.4:7001"}} })
		time.Sleep(Interval - time.Millisecond)
		synctest.Wait()
		allowed(t, b, true, "b=10.0.0.2:7001")
		time.Sleep(time.Millisecond)
		synctest.Wait()
		allowed(t, b, true, "b=10.0.0.4:7001")
		allowed(t, b, false, "b=10.0.0.2:7001")
		time.Sleep(10 * Interval)
		synctest.Wait()
		for i := range len(w.looks) - 1 {
			if gap := w.looks[i+1].Sub(w.looks[i]); gap != 2_000*time.Millisecond {
				t.Errorf("look %d came after %v", i+1, gap)
			}
		}
		if len(w.looks) != 12 {
			t.Errorf("%d looks", len(w.looks))
		}
	})
}

func TestPEER1_WhileTheSourceFailsTheLastListHoldsAndTheLogSaysItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{peers: []Peer{{"b", "10.0.0.2:7001"}}}
		b := w.open(t, Func(w.find))
		defer shut(t, b)
		wait := func() { time.Sleep(5 * Interval); synctest.Wait() }
		synctest.Wait()
		w.set(func() { w.err, w.peers = errors.New("away"), nil })
		wait()
		allowed(t, b, true, "b=10.0.0.2:7001")
		w.set(func() { w.err = errors.New("panic") })
		wait()
		allowed(t, b, true, "b=10.0.0.2:7001")
		w.set(func() { w.err, w.peers = nil, []Peer{{"b", "nowhere"}} })
		wait()
		allowed(t, b, true, "b=10.0.0.2:7001")
		w.set(func() { w.peers = []Peer{} })
		wait()
		allowed(t, b, false, "b=10.0.0.2:7001")
		for line, want := range map[string]int{
			"cannot be looked up": 1, "can be looked up again": 1, "the peers are": 2, "error=away": 1,
		} {
			if n := strings.Count(w.log.String(), line); n != want {
				t.Errorf("%q is told %d times, want %d:\n%s", line, n, want, w.log.String())
			}
		}
	})
}

func TestP7_3_AnOwnerIsAtTheAddressOfAPeerAndHasItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{hosts: map[string]string{
			"b.example": "10.0.0.2 fd00::2", "c.example": "10.0.0.3", "alias.example": "10.0.0.2", "far.example": "10.9.9.9",
		}}
		b := w.open(t, Static("a=10.0.0.1:7001", "b=b.example:7001", "c.example:7001", "d=10.0.0.4:7001"))
		defer shut(t, b)
		allowed(t, b, true, "b=b.example:7001", "b=B.example.:7001", "x=c.example:7001", "d=10.0.0.4:7001") // at once
		synctest.Wait()
		allowed(t, b, true, "b=10.0.0.2:7001", "b=[fd00::2]:7001", "x=10.0.0.3:7001", "d=[::ffff:10.0.0.4]:7001")
		for who, says := range map[string]string{
			"c=10.0.0.2:7001":  "10.0.0.2:7001 is the address of peer b, but node c is said to be there: correct the name in Peers",
			"b=10.0.0.2:7002":  "node b at 10.0.0.2:7002 is no peer of this node: add b=10.0.0.2:7002 to Peers, or set TrustLeases",
			"b=10.0.0.4:7001":  "10.0.0.4:7001 is the address of peer d",
			"e=far.example:1":  "node e at far.example:1 is no peer of this node: add e=far.example:1 to Peers, or set TrustLeases",
			"e=nowhere":        `node e is said to be at "nowhere", which needs an address of the form host:port: correct its Advertise`,
			"e=":               "the address of node e is not known: add e=host:port to Peers",
			"a=10.0.0.1:7001":  "node a at 10.0.0.1:7001 is no peer",
			"xx=10.0.0.1:7001": "node xx at 10.0.0.1:7001 is no peer",
		} {
			name, address, _ := strings.Cut(who, "=")
			if err := b.Allows(name, address); err == nil || !strings.HasPrefix(err.Error(), says) {
				t.Errorf("%s: %v; want %q", who, err, says)
			}
		}
	})
}

// An owner may advertise a name for what the peers' names lead to; what is asked is looked
// up at once, and as long as somebody asks.
func TestP7_3_AHostNameThatLeadsToAPeerIsThatPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{hosts: map[string]string{"nodes.example": "10.0.0.1 10.0.0.2", "b.example": "10.0.0.2", "c.example": "10.0.0.3"}}
		b := w.open(t, DNS("nodes.example:7001"))
		defer shut(t, b)
		synctest.Wait()
		allowed(t, b, true, "b=10.0.0.2:7001")
		allowed(t, b, false, "b=b.example:7001", "c=c.example:7001")
		synctest.Wait()
		allowed(t, b, true, "b=b.example:7001")
		allowed(t, b, false, "c=c.example:7001", "b=b.example:7002")
		w.set(func() { w.hosts["nodes.example"] += " 10.0.0.3" })
		time.Sleep(Interval)
		synctest.Wait()
		allowed(t, b, true, "c=c.example:7001")
		w.set(func() { delete(w.hosts, "nodes.example"); w.hosts["b.example"] = "10.0.0.9" })
		time.Sleep(Interval)
		synctest.Wait()
		allowed(t, b, true, "b=10.0.0.2:7001", "c=c.example:7001")
		allowed(t, b, false, "b=b.example:7001")
		time.Sleep(2 * askedTime)
		if left := b.stillAsked(); len(left) > 0 {
			t.Errorf("%v are asked still", left)
		}
	})
}

func TestP7_3_TrustedLeasesNeedNoPeersButNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		trusting := func(o *Options) { o.TrustLeases = true }
		b := w.open(t, Static("b=10.0.0.2:7001"), trusting)
		defer shut(t, b)
		allowed(t, b, true, "b=10.0.0.2:7001", "b=10.0.0.3:7001", "c=anywhere:1")
		allowed(t, b, false, "c=10.0.0.2:7001", "c=", "c=nowhere")
		alone := w.open(t, Source{}, trusting)
		defer shut(t, alone)
		allowed(t, alone, true, "b=10.0.0.2:7001")
	})
}

func TestWhatIsAskedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		b := w.open(t, Static("b=10.0.0.2:7001"))
		defer shut(t, b)
		for i := range 3 * maxAsked {
			_ = b.Allows("x", "host"+strings.Repeat("x", i)+":1")
		}
		if n := len(b.stillAsked()); n != maxAsked {
			t.Errorf("%d are asked", n)
		}
	})
}

func TestCloseSaysThatAFunctionDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, release := make(chan struct{}), make(chan struct{})
		w := &world{}
		b := w.open(t, Func(func(ctx context.Context) ([]Peer, error) {
			close(entered)
			<-release
			return nil, ctx.Err()
		}))
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Close(ctx); err == nil || !strings.Contains(err.Error(), "does not end") {
			t.Error(err)
		}
		close(release)
		shut(t, b)
		if w.log.String() != "" {
			t.Error("the end is logged: " + w.log.String())
		}
	})
}

// Readers run beside looks that change the list.
func TestReadersAndLooksRunSideBySide(t *testing.T) {
	w := &world{peers: []Peer{{"b", "b.example:7001"}}, hosts: map[string]string{"b.example": "10.0.0.2"}}
	b := w.open(t, Func(w.find))
	defer shut(t, b)
	var all sync.WaitGroup
	for _, who := range []string{"b.example:7001", "alias.example:7001", "10.0.0.2:7001", "10.0.0.3:7001"} {
		all.Go(func() {
			for range 1000 {
				_ = b.Allows("b", who)
				_, _ = b.Address("b")
			}
		})
	}
	all.Wait()
}

func TestViewTellsThePeersInOrder(t *testing.T) {
	v := newView(Peer{}, Static("z=10.0.0.2:1", "b=10.0.0.1:1").list, nil, nil)
	if lines := strings.Split(v.String(), ","); !slices.Equal(lines, []string{"b=10.0.0.1:1", "z=10.0.0.2:1"}) {
		t.Errorf("%q", lines)
	}
}
