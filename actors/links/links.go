package links

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/internal/oneshot"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// Protocol is the version of what nodes say to each other.
const Protocol = 1

// Peers says who may be called, and where. It is safe for concurrent use and does not
// block.
type Peers interface {
	// Address is where the node with the name is, if that is known beforehand.
	Address(name string) (address string, ok bool)

	// Allows says in an error why the node must not be called at the address.
	Allows(node, address string) error
}

// Server carries out the requests of other nodes. Its methods do not block, and are called
// from many goroutines.
type Server interface {
	// Serve takes a request, which it ends once.
	Serve(r *Incoming)

	// LookNow says that something has changed elsewhere.
	LookNow()
}

// Config says who a node is to others. All fields but those of TLS, Advertise and Peers are
// required.
type Config struct {
	Cluster     string // the id of the cluster
	Node        string // this node's name
	Incarnation string // new at each start

	// Tree is the name of the node's tree in the actor system. Others reach nothing in it
	// but children of shards.
	Tree string

	// System is the node's own, in which nothing was spawned yet; Listen is the host:port
	// it gets a Proto.Actor remote on. With an empty Listen it is the application's, with
	// a remote that was started with [RemoteOptions].
	System *actor.ActorSystem
	Listen string

	// Advertise is the host:port under which others reach the node. Default: that of the
	// remote.
	Advertise string

	TLS   *tls.Config // for both sides; nil is plaintext
	Peers Peers       // nil: nobody is called

	Logger  *slog.Logger
	Publish func(messages.Event)
	Origin  func() messages.Origin
}

// Links are the connections of a node to the others. They are safe for concurrent use.
type Links struct {
	config Config
	self   strategy.Node
	door   *door
	remote *remote.Remote // nil if it is the application's
	server atomic.Pointer[Server]

	ctx     context.Context // of all links; its end ends them at once
	cancel  context.CancelCauseFunc
	works   inside        // goroutines of links
	leaving chan struct{} // closed when those of others are to end
	dialed  connections

	peers atomic.Pointer[map[place]*link]
	mu    sync.Mutex // guards changes of peers
}

// place is where a node is said to be.
type place struct{ name, address string }

// Start begins to listen. Greetings are answered from now on, requests once there is a
// [Server].
func Start(c Config) (l *Links, err error) {
	if err := CheckTLS(c.TLS); err != nil {
		return nil, err
	}
	l = &Links{config: c, leaving: make(chan struct{})}
	l.peers.Store(&map[place]*link{})
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	if c.Listen == "" {
		l.door, err = doorOf(c.System)
	} else {
		l.door = newDoor()
		l.door.own = true
		l.remote, err = l.door.startRemote(&c)
	}
	if err != nil {
		return nil, err
	}
	l.self = strategy.Node{Name: c.Node, Address: c.System.Address(), Incarnation: c.Incarnation}
	if c.Advertise != "" {
		l.self.Address = c.Advertise
	}
	if err := reachableAt(l.self.Address); err != nil {
		return nil, errors.Join(err, l.Close(context.Background()))
	}
	if !l.door.links.CompareAndSwap(nil, l) {
		return nil, errors.New("System is used by another node already: give each node a system of its own")
	}
	return l, nil
}

// reachableAt says whether others can reach an address.
func reachableAt(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("Advertise %q is no host:port", address)
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		return fmt.Errorf("Advertise is required: others cannot reach this node at %s", address)
	}
	return nil
}

// splitAddress reads a host:port. Its errors are the end of a sentence.
func splitAddress(address string) (host string, port int, err error) {
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("%q needs the form host:port", address)
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q needs a port between 0 and 65535", address)
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() {
		host = "[" + host + "]"
	}
	return host, int(number), nil
}

// Self is this node as others know it.
func (l *Links) Self() strategy.Node { return l.self }

// Serve lets the server carry out the requests of others from now on.
func (l *Links) Serve(s Server) { l.server.Store(&s) }

// Request is what one node asks of another.
type Request struct {
	Way         messages.Way
	Shard       int
	Target      string        // the child or handler
	Message     proto.Message // nil for a PID
	TraceParent string        // W3C; empty if nobody traces
	TraceState  string
}

// Do sends the request to the node and waits for its answer, at most until ctx ends or,
// above 0, patience. It waits for a connection at most a second. What was sent is never
// sent again. Errors are an [*messages.AppError] or a [*messages.RequestError].
func (l *Links) Do(ctx context.Context, patience time.Duration, to strategy.Node, r Request) (proto.Message, error) {
	o, err := l.prepare(r)
	if err == nil {
		o.deadline = deadline(ctx, patience)
		err = l.send(ctx, patience, to, o)
	}
	if err != nil {
		err.Node = to.Name
		return nil, err
	}
	if patience > 0 {
		patience = max(clock.Until(o.deadline), 1) // the connection took some of it
	}
	o.wait(ctx, patience)
	if o.err != nil {
		o.conn.withdraw(o)
		return nil, o.err
	}
	return o.answer()
}

// prepare makes the request's envelope.
func (l *Links) prepare(r Request) (*outgoing, *messages.RequestError) {
	if err := checkTarget(r.Target); err != nil {
		return nil, messages.NotExecuted(r.Shard, r.Target, messages.ErrInvalid, err)
	}
	o := &outgoing{shard: r.Shard, target: r.Target}
	e := &o.envelope
	e.Way, e.Shard, e.Target, e.Traceparent, e.Tracestate = r.Way, uint32(r.Shard), r.Target, r.TraceParent, r.TraceState
	if r.Way == messages.Way_WAY_PID {
		return o, nil
	}
	var kind, cause error
	if e.Type, e.Payload, kind, cause = pack(r.Message); kind != nil {
		return nil, messages.NotExecuted(r.Shard, r.Target, kind, cause)
	}
	return o, nil
}

// send hands the request to the link, which may have to be made.
func (l *Links) send(ctx context.Context, patience time.Duration, to strategy.Node, o *outgoing) *messages.RequestError {
	o.node = to.Name
	c, err := l.link(to).await(ctx, patience)
	switch {
	case ctx.Err() != nil:
		return messages.NotExecuted(o.shard, o.target, messages.ErrTimeout, context.Cause(ctx))
	case err != nil:
		return messages.NotExecuted(o.shard, o.target, messages.ErrNoConnection, err)
	}
	o.done, o.conn = oneshot.New(), c
	if kind, cause := c.send(o); kind != nil {
		o.done.Drop()
		return messages.NotExecuted(o.shard, o.target, kind, cause)
	}
	return nil
}

// deadline is when the caller gives up.
func deadline(ctx context.Context, patience time.Duration) time.Time {
	deadline, ok := ctx.Deadline()
	if patience <= 0 {
		return deadline
	}
	if own := clock.Now().Add(patience); !ok || own.Before(deadline) {
		return own
	}
	return deadline
}

// link is the link to the node, which begins its life if it is new. Whether the node may be
// called is asked when it is: one that may not counts, and is told of, as one that cannot be
// reached.
func (l *Links) link(to strategy.Node) *link {
	address := to.Address
	if address == "" && l.config.Peers != nil {
		address, _ = l.config.Peers.Address(to.Name)
	}
	at := place{to.Name, address}
	if k := (*l.peers.Load())[at]; k != nil {
		return k
	}
	return l.add(at)
}

func (l *Links) allows(at place) error {
	if l.config.Peers == nil {
		return errors.New("this node has no peers")
	}
	return l.config.Peers.Allows(at.name, at.address)
}

// add makes a link, and forgets those that nobody has needed for long.
func (l *Links) add(at place) *link {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := (*l.peers.Load())[at]; k != nil {
		return k
	}
	now := clock.Now()
	all := maps.Clone(*l.peers.Load())
	maps.DeleteFunc(all, func(_ place, k *link) bool { return k.forgotten(now) })
	k := newLink(l, at)
	all[at] = k
	l.peers.Store(&all)
	return k
}

// Hint lets the node look at once at what has changed. It may get lost.
func (l *Links) Hint(to strategy.Node) {
	l.link(to).hint()
}

// Unreachable are the names of the nodes that were needed lately and cannot be reached, in
// order.
func (l *Links) Unreachable() []string {
	var names []string
	now := clock.Now()
	for at, k := range *l.peers.Load() {
		if k.unreachable(now) {
			names = append(names, at.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// closeTime is how long Close waits for hints and answers that are on their way.
const closeTime = time.Second

// Close ends all links and stops listening. What was sent through a link and has no answer
// is unknown; answers that are ready still leave. A second call does nothing.
func (l *Links) Close(ctx context.Context) error {
	if !l.works.close() {
		return nil
	}
	close(l.leaving)
	for _, k := range *l.peers.Load() {
		k.close()
	}
	soon, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	_ = l.works.wait(soon)
	l.cancel(errClosed)
	l.dialed.close()
	l.closeDoor(soon)
	if err := l.works.wait(ctx); err != nil {
		return fmt.Errorf("links do not end: %w", err)
	}
	return nil
}

func (l *Links) closeDoor(ctx context.Context) {
	d := l.door
	if l.remote == nil {
		d.links.CompareAndSwap(l, nil)
		return
	}
	d.handlers.close()
	d.cancel()
	if d.handlers.wait(ctx) != nil {
		d.accepted.close()
		<-d.handlers.idle
	}
	hung := clock.AfterFunc(closeTime/2, d.accepted.close) // of peers that do not react
	l.stopRemote()
	hung.Stop()
	d.accepted.close()
	d.dialed.close()
}

// stopRemote stops Proto.Actor's remote once no stream comes in any more.
func (l *Links) stopRemote() {
	defer func() {
		if v := recover(); v != nil {
			l.config.Logger.Debug("the remote did not stop in good order", "panic", v)
			l.remote.Shutdown(false)
		}
	}()
	l.remote.Shutdown(true)
}
