package peers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slap-go/slap/internal/clock"
)

// Interval is the time between two looks at who the peers are.
const Interval = 2 * time.Second

const (
	// lookTimeout bounds a look: what has not answered by then has failed.
	lookTimeout = 5 * time.Second

	// askedTime is how long an address is looked up after somebody was said to be there.
	askedTime = time.Minute

	// maxAsked bounds how many such addresses there are.
	maxAsked = 1000
)

// Options say what a [Book] is about.
type Options struct {
	Self        Peer         // the node itself, which is no peer of its own
	Source      Source       // has been checked
	TrustLeases bool         // an owner's address needs to be no peer's
	Logger      *slog.Logger // is told of each change once; required

	// Lookup gives the addresses of a host name; network is "ip". Default: that of [net.DefaultResolver].
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Book knows the peers of a running node. While a source cannot be reached, what it said
// last holds. It is safe for concurrent use, and nothing but Close waits.
type Book struct {
	options Options
	view    atomic.Pointer[view]
	look    chan struct{} // filled when there is a new address to look up
	cancel  context.CancelFunc
	done    chan struct{}

	mu    sync.Mutex
	asked map[string]time.Time // addresses that nodes are said to have, and when that was
}

// Open begins to look for the peers, again each [Interval], until [Book.Close]. A static
// list is known at once.
func Open(o Options) *Book {
	if o.Lookup == nil {
		o.Lookup = net.DefaultResolver.LookupNetIP
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &Book{options: o, look: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{}), asked: map[string]time.Time{}}
	b.view.Store(newView(o.Self, o.Source.list, nil, nil))
	go b.run(ctx)
	return b
}

// Close ends the book. Its error says that a function of the application's did not end
// with its context before ctx did.
func (b *Book) Close(ctx context.Context) error {
	b.cancel()
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return errors.New("the function of Peers does not end with its context")
	}
}

// Address is where the peer with the name is, if its source says that.
func (b *Book) Address(name string) (string, bool) {
	address, ok := b.view.Load().addresses[name]
	return address, ok
}

// Allows says whether the node may be called at the address: a peer has to be there, unless
// leases are trusted, and one with a name has to have that name. An error is one sentence
// that says what to add. A host name that leads to a peer by another address is looked up
// when it is first asked about, so that the answer may be yes a moment later.
func (b *Book) Allows(name, address string) error {
	if address == "" {
		return fmt.Errorf("the address of node %s is not known: add %s=host:port to Peers", name, name)
	}
	at, err := canonical(address)
	if err != nil {
		return fmt.Errorf("node %s is said to be at %q, which %w: correct its Advertise", name, address, err)
	}
	v := b.view.Load()
	this, somebody := v.allows(name, at)
	if this || b.options.TrustLeases && !somebody {
		return nil
	}
	b.ask(at)
	return v.stranger(name, address, at)
}

// ask remembers an address that leads to no peer as it is written.
func (b *Book) ask(at string) {
	if hostOf(at) == "" {
		return
	}
	b.mu.Lock()
	_, known := b.asked[at]
	if known || len(b.asked) < maxAsked {
		b.asked[at] = clock.Now()
	}
	b.mu.Unlock()
	if known {
		return
	}
	select {
	case b.look <- struct{}{}:
	default:
	}
}

// stillAsked are the addresses that were asked about lately.
func (b *Book) stillAsked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.asked, func(_ string, at time.Time) bool { return clock.Since(at) > askedTime })
	return slices.Sorted(maps.Keys(b.asked))
}

func (b *Book) run(ctx context.Context) {
	defer close(b.done)
	s := newScout(b.options)
	pace := clock.NewTicker(Interval)
	defer pace.Stop()
	for {
		b.renew(ctx, s)
		select {
		case <-pace.C:
		case <-b.look:
		case <-ctx.Done():
			return
		}
	}
}

// renew looks once, and tells what has changed.
func (b *Book) renew(ctx context.Context, s *scout) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	asked := b.stillAsked()
	list := s.list(ctx)
	fresh := newView(b.options.Self, list, asked, s.hosts(ctx, list, asked))
	before := b.view.Swap(fresh)
	if now := fresh.String(); now != before.String() {
		b.options.Logger.Info("the peers are", "peers", now, "before", before.String())
	}
}
