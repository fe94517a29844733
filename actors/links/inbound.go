package links

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

const (
	inboundOpen    = 65_536           // requests of one peer that are not answered
	inboundSilence = 15 * time.Second // after which a caller is taken for gone
	inboundLook    = 500 * time.Millisecond
)

// inbound is the link of another node to this one: it brings requests and takes replies.
type inbound struct {
	links  *Links
	peer   strategy.Node
	stream grpc.ServerStream
	wake   chan struct{} // filled when there is something to write
	over   chan struct{} // closed when nothing comes any more
	stuck  *time.Timer   // of the writer

	mu      sync.Mutex // guards the fields below
	why     error      // nothing comes any more; set before over is closed
	open    map[uint64]*Incoming
	out     []*messages.Reply
	bytes   int // in out
	ponging bool
	heard   bool // since the last look
}

// serve is the gRPC method: the greeting, then the link.
func (d *door) serve(_ any, stream grpc.ServerStream) error {
	if called, _ := grpc.MethodFromServerStream(stream); called != method {
		return status.Error(codes.Unimplemented, "there is no such method")
	}
	l := d.links.Load()
	if l == nil {
		return status.Error(codes.Unavailable, "no node runs here")
	}
	peer, refusal, err := l.receive(stream)
	if err != nil {
		return err
	}
	if refusal != "" {
		return stream.SendMsg(&messages.Frames{Refusal: &messages.Refusal{Reason: refusal}})
	}
	if !l.works.enter() { // before the welcome: what comes after it is answered
		return status.Error(codes.Unavailable, errClosed.Error())
	}
	welcome := &messages.Welcome{Node: l.self.Name, Address: l.self.Address, Incarnation: l.self.Incarnation}
	if err := stream.SendMsg(&messages.Frames{Welcome: welcome}); err != nil {
		l.works.leave()
		return err
	}
	i := &inbound{
		links: l, peer: peer, stream: stream,
		wake: make(chan struct{}, 1), over: make(chan struct{}), open: map[uint64]*Incoming{},
	}
	return i.run()
}

// receive reads a greeting and says why it is refused, if it is.
func (l *Links) receive(stream grpc.ServerStream) (peer strategy.Node, refusal string, err error) {
	first := new(messages.Frames)
	if err := stream.RecvMsg(first); err != nil {
		return peer, "", err
	}
	h := first.GetHello()
	switch {
	case h == nil:
		return peer, "the first message is no greeting", nil
	case h.GetProtocol() != Protocol:
		return peer, fmt.Sprintf("node %s speaks protocol %d, the caller %d", l.self.Name, Protocol, h.GetProtocol()), nil
	case h.GetCluster() != l.config.Cluster:
		return peer, fmt.Sprintf("node %s belongs to another cluster: give all nodes the same Cluster, Store and Path", l.self.Name), nil
	case h.GetNode() == "" || h.GetIncarnation() == "":
		return peer, "the greeting lacks a name or an incarnation", nil
	}
	return strategy.Node{Name: h.GetNode(), Address: h.GetAddress(), Incarnation: h.GetIncarnation()}, "", nil
}

// run writes replies until the caller has gone, or the node stops. It is inside the works.
func (i *inbound) run() error {
	go func() { // ends with the stream, which ends with this function
		defer i.links.works.leave()
		i.read()
	}()
	err := i.write()
	i.end(errors.New("the connection of the caller has ended"))
	return err
}

func (i *inbound) write() error {
	look := clock.NewTicker(inboundLook)
	defer look.Stop()
	i.stuck = clock.AfterFunc(inboundSilence, i.cut)
	defer i.stuck.Stop()
	heard := clock.Now()
	leaving := i.links.leaving
	for {
		select {
		case <-i.wake:
			if err := i.flush(); err != nil {
				return err
			}
		case <-look.C:
			now := clock.Now()
			i.stuck.Reset(inboundSilence)
			if i.look(now) {
				heard = now
			}
			if now.Sub(heard) > inboundSilence {
				return status.Error(codes.DeadlineExceeded, errSilent.Error())
			}
		case <-i.over:
			return i.last()
		case <-leaving:
			leaving = nil
			if err := i.goodbye(); err != nil {
				return err
			}
		case <-i.links.ctx.Done():
			return i.last()
		}
	}
}

// goodbye asks the caller to send nothing more, and to end the link once everything is
// answered: nothing that it sent meanwhile is lost on the way.
func (i *inbound) goodbye() error {
	return i.stream.SendMsg(&messages.Frames{Refusal: &messages.Refusal{Reason: errClosed.Error()}})
}

// last writes what is ready and says why the stream ends: nil is a goodbye.
func (i *inbound) last() error {
	if err := i.flush(); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if errors.Is(i.why, errTwice) {
		return status.Error(codes.InvalidArgument, i.why.Error())
	}
	return nil
}

// flush writes what is ready. A caller that takes nothing for long is cut off.
func (i *inbound) flush() error {
	defer i.stuck.Reset(inboundSilence)
	for f := i.next(); f != nil; f = i.next() {
		i.stuck.Reset(inboundSilence)
		if err := i.stream.SendMsg(f); err != nil {
			return err
		}
	}
	return nil
}

// cut ends the connection, which takes or brings nothing.
func (i *inbound) cut() { cut(i.stream.Context()) }

var errTwice = errors.New("a request has the number of another")

// next is what is to be written next; nil if nothing is.
func (i *inbound) next() *messages.Frames {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.out) == 0 && !i.ponging {
		return nil
	}
	f := &messages.Frames{Pong: i.ponging}
	i.ponging = false
	size, taken := 0, 0
	for taken < len(i.out) && size < pieceBytes {
		size += replySize(i.out[taken])
		taken++
	}
	f.Replies = append(f.Replies, i.out[:taken]...)
	i.bytes -= size
	rest := copy(i.out, i.out[taken:])
	clear(i.out[rest:])
	i.out = i.out[:rest]
	return f
}

func replySize(r *messages.Reply) int {
	return len(r.GetPayload()) + len(r.GetApp().GetMessage()) + len(r.GetApp().GetCode()) + len(r.GetRouting().GetCause()) + 64
}

// read takes requests until nothing comes any more.
func (i *inbound) read() {
	for {
		f := new(messages.Frames)
		if err := i.stream.RecvMsg(f); err != nil {
			i.end(lossOf(err))
			return
		}
		i.take(f)
	}
}

func (i *inbound) take(f *messages.Frames) {
	i.mu.Lock()
	i.heard, i.ponging = true, i.ponging || f.GetPing()
	i.mu.Unlock()
	if f.GetPing() {
		i.rouse()
	}
	server := i.links.server.Load()
	if f.GetHint() && server != nil {
		(*server).LookNow()
	}
	if len(f.GetEnvelopes()) > 0 {
		for _, r := range i.admit(f) {
			i.begin(r.Incoming, r.envelope, f, server)
		}
	}
	i.withdraw(f.GetWithdrawn())
}

// admitted is a request with what it came in.
type admitted struct {
	*Incoming

	envelope *messages.Envelope
}

// admit enters the requests of a piece. One that has a number of another ends the link.
func (i *inbound) admit(f *messages.Frames) []admitted {
	now := clock.Now()
	all := make([]admitted, 0, len(f.GetEnvelopes()))
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, e := range f.GetEnvelopes() {
		if i.why != nil {
			break
		}
		if i.open[e.GetId()] != nil {
			i.shut(errTwice)
			break
		}
		r := &Incoming{
			From: i.peer, Way: e.GetWay(), Shard: shardOf(e), Target: e.GetTarget(), Deadline: deadlineOf(e, now),
			TraceParent: e.GetTraceparent(), TraceState: e.GetTracestate(), id: e.GetId(), through: i,
		}
		i.open[r.id] = r
		all = append(all, admitted{r, e})
	}
	return all
}

// begin hands a request to the server, or refuses it.
func (i *inbound) begin(r *Incoming, e *messages.Envelope, f *messages.Frames, server *Server) {
	switch {
	case f.GetCluster() != i.links.config.Cluster || f.GetCallee() != i.links.self.Incarnation:
		r.refuse(messages.ErrNotOwner, errWrongSelf)
		return
	case server == nil:
		r.refuse(messages.ErrNotOwner, errors.New("the node is starting"))
		return
	case i.crowded():
		r.refuse(messages.ErrOverloaded, fmt.Errorf("%d requests of node %s have no answer yet", inboundOpen, i.peer.Name))
		return
	}
	if e.GetType() != "" {
		m, kind, cause := unpack(e.GetType(), e.GetPayload())
		if kind != nil {
			r.refuse(kind, cause)
			return
		}
		r.Message = m
	}
	if (r.Message == nil) != (r.Way == messages.Way_WAY_PID) {
		r.refuse(messages.ErrInvalid, errNoMessage)
		return
	}
	(*server).Serve(r)
}

// shardOf is the shard of a request; one that no cluster has stays one.
func shardOf(e *messages.Envelope) int { return int(min(e.GetShard(), math.MaxInt32)) }

// maxLeft bounds the time that a caller says it waits.
const maxLeft = 366 * 24 * time.Hour

func deadlineOf(e *messages.Envelope, now time.Time) time.Time {
	if e.GetLeftMs() == 0 {
		return time.Time{}
	}
	return now.Add(min(time.Duration(min(e.GetLeftMs(), math.MaxInt32*1000))*time.Millisecond, maxLeft))
}

func (i *inbound) crowded() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.open) > inboundOpen
}

// reply puts a reply in line, unless the caller has gone.
func (i *inbound) reply(r *messages.Reply) {
	i.mu.Lock()
	delete(i.open, r.GetId())
	if i.why == nil {
		i.out = append(i.out, r)
		i.bytes += replySize(r)
		if i.bytes > queueBytes {
			i.shut(errSlow)
		}
	}
	slow := errors.Is(i.why, errSlow)
	i.mu.Unlock()
	if slow {
		i.cut() // the writer may be held up
	}
	i.rouse()
}

func (i *inbound) rouse() {
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// withdraw gives up requests that the caller has.
func (i *inbound) withdraw(ids []uint64) {
	for _, id := range ids {
		i.mu.Lock()
		r := i.open[id]
		i.mu.Unlock()
		if r != nil {
			r.giveUp(messages.ErrTimeout, errWithdrawn)
		}
	}
}

// look gives up the requests whose time has passed, and says whether something came since
// the last look.
func (i *inbound) look(now time.Time) (heard bool) {
	var late []*Incoming
	i.mu.Lock()
	heard, i.heard = i.heard, false
	for _, r := range i.open {
		if !r.Deadline.IsZero() && now.After(r.Deadline) {
			late = append(late, r)
		}
	}
	i.mu.Unlock()
	for _, r := range late {
		r.giveUp(messages.ErrTimeout, errLate)
	}
	return heard
}

var errLate = errors.New("the caller's deadline has passed")

// shut lets nothing in any more. The caller holds the lock.
func (i *inbound) shut(why error) {
	if i.why == nil {
		i.why = why
		close(i.over)
	}
}

// gone says whether the caller has gone, and in which way its requests end then.
func (i *inbound) gone() (kind, cause error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.why == nil {
		return nil, nil
	}
	return messages.ErrConnectionLost, i.why
}

// end gives up all that nobody waits for any more.
func (i *inbound) end(why error) {
	i.mu.Lock()
	i.shut(why)
	open := make([]*Incoming, 0, len(i.open))
	for _, r := range i.open {
		open = append(open, r)
	}
	i.mu.Unlock()
	for _, r := range open {
		r.giveUp(messages.ErrConnectionLost, why)
	}
}
