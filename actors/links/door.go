package links

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

const (
	maxPiece        = 2 * MaxMessage // what gRPC lets through at once
	endpointBatch   = 32             // messages of Proto.Actor's in one piece
	endpointQueue   = 1024           // allocated for each peer; it grows
	keepalivePeriod = 10 * time.Second
	handshakeTime   = 5 * time.Second
	window          = 1 << 20
)

// door is how others come in: what is set on the gRPC server of Proto.Actor's remote, and
// on its connections to others. It is made before there is a server, and before there are
// links.
type door struct {
	id       string
	links    atomic.Pointer[Links] // nil while nobody answers
	own      bool                  // the actor system is the node's own
	accepted connections
	dialed   connections // of Proto.Actor's endpoints
	handlers inside      // streams that are served
	ctx      context.Context
	cancel   context.CancelFunc
}

func newDoor() *door {
	d := &door{id: rand.Text()}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// doors are those of remotes that applications start, by their ids.
var doors sync.Map

// noAddress is Proto.Actor's address of a system without a remote.
const noAddress = "nonhost"

// kindPrefix marks a remote that has a door: it knows a kind of actors by this name.
const kindPrefix = "slap.links/"

// RemoteOptions are the options with which an application starts the Proto.Actor remote of
// an actor system that a node is to use: with them others reach the node through it, with
// TLS if c is not nil. They are for one remote. Options of the same kinds, server and dial
// options above all, must not be given beside them.
func RemoteOptions(c *tls.Config) []remote.ConfigOption {
	d := newDoor()
	doors.Store(d.id, d)
	return append(d.options(c), remote.WithKinds(remote.NewKind(kindPrefix+d.id, actor.PropsFromFunc(
		func(actor.Context) {},
		actor.WithSpawnFunc(func(*actor.ActorSystem, string, *actor.Props, actor.SpawnerContext) (*actor.PID, error) {
			return nil, remote.ErrActivatorUnavailable
		})))))
}

// CheckSystem says in one sentence why a node cannot use an application's actor system to
// reach others, and be reached.
func CheckSystem(system *actor.ActorSystem) error {
	_, err := doorOf(system)
	return err
}

// doorOf is the door of the remote that runs in the system.
func doorOf(system *actor.ActorSystem) (d *door, err error) {
	defer func() {
		if recover() != nil { // Proto.Actor's way to say that there is none
			err = errors.New("System runs no Proto.Actor remote: start one with RemoteOptions")
		}
	}()
	for _, kind := range remote.GetRemote(system).GetKnownKinds() {
		id, ours := strings.CutPrefix(kind, kindPrefix)
		if !ours {
			continue
		}
		if found, ok := doors.Load(id); ok {
			d, _ = found.(*door)
		}
	}
	switch {
	case d == nil:
		return nil, errors.New("System's Proto.Actor remote lacks RemoteOptions: start it with them")
	case system.Address() == noAddress:
		return nil, errors.New("System's Proto.Actor remote has not started: start it before the node")
	}
	return d, nil
}

// options are what Proto.Actor's remote is configured with.
func (d *door) options(c *tls.Config) []remote.ConfigOption {
	return []remote.ConfigOption{
		remote.WithServerOptions(d.serverOptions(c)...),
		remote.WithDialOptions(append(dialOptions(calling(c)),
			grpc.WithContextDialer(d.dialed.dial), grpc.WithChainStreamInterceptor(d.endpoint))...),
		remote.WithEndpointWriterBatchSize(endpointBatch),
		remote.WithEndpointWriterQueueSize(endpointQueue),
		remote.WithEndpointManagerQueueSize(endpointQueue),
		func(c *remote.Config) { c.MaxRetryCount = 1 },
	}
}

func (d *door) serverOptions(c *tls.Config) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.Creds(admitting{called(c), &d.accepted}),
		grpc.MaxRecvMsgSize(maxPiece),
		grpc.MaxSendMsgSize(maxPiece),
		grpc.InitialWindowSize(window),
		grpc.InitialConnWindowSize(2 * window),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.MaxConcurrentStreams(16),
		grpc.MaxHeaderListSize(16 << 10),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idle, Time: keepalivePeriod, Timeout: keepalivePeriod}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepalivePeriod / 2, PermitWithoutStream: true}),
		grpc.ChainStreamInterceptor(d.shield),
		grpc.ChainUnaryInterceptor(shieldUnary),
		grpc.UnknownServiceHandler(d.serve),
	}
}

// dialOptions are for connections to other nodes.
func dialOptions(c credentials.TransportCredentials) []grpc.DialOption {
	pause := backoff.DefaultConfig
	pause.BaseDelay, pause.MaxDelay = dialPause, dialAtMost
	return []grpc.DialOption{
		grpc.WithTransportCredentials(c),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxPiece), grpc.MaxCallSendMsgSize(maxPiece)),
		grpc.WithInitialWindowSize(window),
		grpc.WithInitialConnWindowSize(2 * window),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: pause, MinConnectTimeout: dialAtMost}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepalivePeriod, Timeout: silence, PermitWithoutStream: true}),
		grpc.WithDisableServiceConfig(),
		grpc.WithIdleTimeout(0),
	}
}

// shield keeps what a peer sends from harming the node: a panic ends the stream alone, and
// of Proto.Actor's messages only those come through that it can take.
func (d *door) shield(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	if !d.handlers.enter() {
		return status.Error(codes.Unavailable, errClosed.Error())
	}
	defer d.handlers.leave()
	defer func() {
		if v := recover(); v != nil {
			if l := d.links.Load(); l != nil {
				l.config.Logger.Warn("what another node sent could not be understood", "method", info.FullMethod, "panic", v)
				l.config.Logger.Debug("where it could not", "stack", string(debug.Stack()))
			}
			err = status.Error(codes.InvalidArgument, "what came could not be understood")
		}
	}()
	return handle(srv, d.sieved(stream))
}

func shieldUnary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (answer any, err error) {
	defer func() {
		if recover() != nil {
			answer, err = nil, status.Error(codes.Unimplemented, "there is no such method")
		}
	}()
	return handle(ctx, request)
}

// endpoint is in front of the streams of Proto.Actor's endpoints. At the end of the node
// each looks as if it was connected and then closed in good order: an error would make
// Proto.Actor sleep for two seconds.
func (d *door) endpoint(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	ctx, end := context.WithCancel(ctx)
	forget := context.AfterFunc(d.ctx, end)
	cancel := func() { forget(); end() }
	stream, err := streamer(ctx, desc, cc, method, opts...)
	if err != nil && d.ctx.Err() == nil {
		cancel()
		return nil, err
	}
	return &ending{ClientStream: stream, door: d, cancel: cancel}, nil
}

// ending is a stream of an endpoint whose errors after the end of the node are none.
type ending struct {
	grpc.ClientStream // nil for one that was made after the end

	door    *door
	cancel  func()
	greeted bool
}

// SendMsg sends while there is somebody to send to.
func (e *ending) SendMsg(m any) error {
	if e.ClientStream == nil {
		return nil
	}
	if err := e.ClientStream.SendMsg(m); e.door.ctx.Err() == nil {
		return err
	}
	return nil
}

// RecvMsg gives, after the end, the answer to the greeting and then the end.
func (e *ending) RecvMsg(m any) error {
	var err error
	if e.ClientStream != nil {
		err = e.ClientStream.RecvMsg(m)
	}
	if err != nil {
		e.cancel()
	}
	if e.door.ctx.Err() == nil || e.ClientStream != nil && err == nil {
		e.greeted = true
		return err
	}
	if message, ok := m.(*remote.RemoteMessage); ok && !e.greeted {
		e.greeted = true
		message.MessageType = &remote.RemoteMessage_ConnectResponse{ConnectResponse: &remote.ConnectResponse{}}
		return nil
	}
	return io.EOF
}

// CloseSend closes what there is.
func (e *ending) CloseSend() error {
	if e.ClientStream == nil {
		return nil
	}
	return e.ClientStream.CloseSend()
}

// Context is that of the stream.
func (e *ending) Context() context.Context {
	if e.ClientStream == nil {
		return e.door.ctx
	}
	return e.ClientStream.Context()
}

// startRemote starts the remote of the node's own system.
func (d *door) startRemote(c *Config) (r *remote.Remote, err error) {
	host, port, err := splitAddress(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("Listen %w", err)
	}
	defer func() {
		if v := recover(); v != nil {
			r, err = nil, fmt.Errorf("Listen %s: %v: choose an address of this machine that nobody listens on", c.Listen, v)
		}
	}()
	options := d.options(c.TLS)
	if c.Advertise != "" {
		options = append(options, remote.WithAdvertisedHost(c.Advertise))
	}
	r = remote.NewRemote(c.System, remote.Configure(host, port, options...))
	starting.Lock()
	defer starting.Unlock()
	r.Start()
	return r, nil
}

// starting keeps the starts of remotes apart: each sets gRPC's logger, which is that of the process.
var starting sync.Mutex
