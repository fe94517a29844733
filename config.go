package slap

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/actors"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/local"
	"github.com/slap-go/slap/supervision"
)

// Shard is one opening of a shard's database, as its children see it. Its methods
// are those of [actors.Shard].
type Shard = actors.Shard

// ChildSpec says how a child is made, restarted and stopped.
type ChildSpec = supervision.ChildSpec

// Handler is a function of the application's that [Cluster.Call] runs where the
// shard is open, in a goroutine of its own. ctx ends with the caller's deadline and
// when the shard stops. An [*AppError] reaches the caller as it is; another error, or
// a panic, leaves the outcome unknown.
type Handler = func(ctx context.Context, shard *Shard, request proto.Message) (proto.Message, error)

// Status is what children can know of their shard's end.
type Status = actors.Status

// The states of a shard as its children see it.
const (
	Running  = actors.Running
	Stopping = actors.Stopping
	Fenced   = actors.Fenced
)

// Defaults of [Config].
const (
	DefaultMaxPending   = 10_000
	DefaultCallTimeout  = 30 * time.Second
	DefaultOpenTimeout  = 30 * time.Second
	DefaultCloseTimeout = 30 * time.Second
	DefaultDrainTimeout = 2 * time.Second
	DefaultRetries      = 3
	DefaultRetryDelay   = 100 * time.Millisecond
	DefaultLagInterval  = time.Second
)

// Limits of [Config].
const (
	MaxShards  = 1_000_000
	MaxTimeout = 365 * 24 * time.Hour
	MaxRetries = 100

	maxPending = 1 << 30
	maxCache   = 1 << 50
)

// ProbeMode says what [Cluster.Start] does about the store's fitness.
type ProbeMode uint8

// ProbeBlocking makes Start fail if the store does not honour conditional
// writes. ProbeBackground starts the node without shards and tries until the probe
// passes, after 1 s at first and at most 30 s; another cluster on the path then ends
// the node. ProbeOff asks nothing of the store but the cluster's identity.
const (
	ProbeBlocking ProbeMode = iota
	ProbeBackground
	ProbeOff
)

var probeModes = []string{"blocking", "background", "off"}

// String is the mode in lower case.
func (p ProbeMode) String() string {
	if p > ProbeOff {
		return fmt.Sprintf("probe mode %d", uint8(p))
	}
	return probeModes[p]
}

// UnmarshalText reads blocking, background or off.
func (p *ProbeMode) UnmarshalText(text []byte) error {
	i := slices.Index(probeModes, string(text))
	if i < 0 {
		return fmt.Errorf("%s is no probe mode: use %s", quoted(string(text)), strings.Join(probeModes, ", "))
	}
	*p = ProbeMode(i)
	return nil
}

// Cache is where a node's databases keep blocks they have read. The zero value
// gives each database the engine's own cache.
type Cache struct {
	// Bytes is the capacity of one cache shared by all shards of this node, at most 2^50.
	Bytes uint64

	// Disabled turns caching off. It excludes Bytes.
	Disabled bool
}

// Config says what a cluster is. Zero fields take their defaults; negative
// durations and counts are errors, as are durations above [MaxTimeout]. [New] checks everything.
type Config struct {
	// Cluster is recorded in the store at the first start that gives one. From then
	// on a cluster with another name does not start on the same path. It is made as Name is.
	// Required with a strategy of several nodes, and so is Name. Default: the name recorded.
	Cluster string

	// Name of this node, which no other has: letters, digits, '.', '_' and '-', at most 63.
	// Default: "local".
	Name string

	// Listen is the host:port on which this node takes the requests of others, and
	// Advertise the one under which they reach it. Listen is required with a strategy of
	// several nodes and is not used without; Advertise is, unless Listen has a host that
	// others can call. Port 0 of Listen takes any that is free. The name of the machine is
	// never taken for it. With a System of the application's neither is set: its remote
	// listens.
	Listen, Advertise string

	// Store is where everything lives. Required.
	Store store.Store

	// Path is put in front of every key in the store: parts between single slashes.
	Path string

	// Shards is how many databases there are, fixed for the life of the data:
	// it is recorded at the first start. Required, from 1 to [MaxShards].
	Shards int

	// Settings of SlateDB by their JSON names, merged by key, deeply, into the
	// engine's defaults. flush_interval (default 100ms, above 0) is the shortest
	// time between two flushes of one shard; wal_enabled must not be false;
	// l0_max_ssts and l0_max_ssts_per_key are 32 by default.
	Settings map[string]any

	// Cache of the databases.
	Cache Cache

	// MergeOperator combines values with merge operands. All nodes need the same
	// one. [New] tries it and refuses one that panics whatever it is given.
	MergeOperator slatedb.MergeOperator

	// Strategy decides which shards are open here. Default: all (package strategy/local).
	Strategy strategy.Strategy

	// Peers are the other nodes that may be called: [peers.Static], [peers.DNS] or
	// [peers.Func], looked up every 2 s. This node may be among them. With a strategy of
	// several nodes they are required, unless TrustLeases is set, and those that the
	// strategy knows by name alone (package strategy/static) always, with their names.
	Peers peers.Source

	// TrustLeases lets this node call the owner of a shard wherever its lease says that it
	// is: whoever can write to the store can then direct requests. Default: only Peers are called.
	TrustLeases bool

	// ShardChildren names the application's actors of a shard. It is called at
	// each opening, after the database is open. Default: none.
	ShardChildren func(*Shard) []ChildSpec

	// ChildOptions is handed to the children as it is, by [Shard.Options]. Nobody
	// may change it from then on.
	ChildOptions any

	// ValidateChildOptions checks ChildOptions, in [New]: its error, or its panic, is
	// New's. Default: they are not checked.
	ValidateChildOptions func(options any) error

	// Handlers are the functions that [Cluster.Call] runs, by their names: on the node where
	// the shard is open, so that all nodes need the same ones. Default: none.
	Handlers map[string]Handler

	// MaxPending is how many requests may wait in front of one child; more are
	// refused with [ErrOverloaded]. Default: 10,000, at most 2^30.
	MaxPending int

	// CallTimeout bounds a request whose context has no deadline. Default: 30 s.
	CallTimeout time.Duration

	// Retries is how often a request that was not executed because of a move is
	// tried again, the first time after RetryDelay plus up to a half of it, then
	// after twice that, and so on. Defaults: 3, at most [MaxRetries], and 100 ms.
	Retries    int
	RetryDelay time.Duration

	// A shard's open or close that takes longer is abandoned: it goes on, and is
	// ended as soon as it can be. Defaults: 30 s each.
	OpenTimeout, CloseTimeout time.Duration

	// DrainTimeout is how long a planned stop of a shard waits for requests that
	// have begun. Default: 2 s.
	DrainTimeout time.Duration

	// Probe of the store's conditional writes at start. Default: blocking.
	Probe ProbeMode

	// LagInterval is the time between two samples of a shard's durability lag. Default: 1 s.
	LagInterval time.Duration

	// LeaseReads lets [Shard.Confirm] and [Shard.RespondWhenConfirmed] do without a write
	// where the shard is open under a lease: that it has not run out proves what was read,
	// as long as clocks run alike and each node's name is used once. It is refused with a
	// strategy that compares wall clocks, and does nothing with one without leases. Default: false.
	LeaseReads bool

	// TLS is for connections between nodes, which check each other's certificates: it
	// needs Certificates, RootCAs and ClientCAs. By key, files name them. Default: none.
	TLS *tls.Config

	// InsecureListen lets Listen be an address that other machines reach without TLS: who
	// reaches it can then read and send requests. Default: false.
	InsecureListen bool

	// System is an actor system of the application's own; it is not shut down with
	// the cluster. Default: one that lives as long as the node.
	System *actor.ActorSystem

	// Logger gets everything worth telling. Default: [slog.Default].
	Logger *slog.Logger

	// MeterProvider gets the metrics of the engine and of the node, TracerProvider a
	// span for each request. Default: OpenTelemetry's global ones; the engine's
	// metrics need that to be set before [Cluster.Start].
	MeterProvider  metric.MeterProvider
	TracerProvider trace.TracerProvider

	// noRetries says that Retries is meant to be 0, which a source by key can say.
	noRetries bool

	// clusterID is the cluster's random id, once the store was asked.
	clusterID string
}

// withDefaults checks the configuration, fills in what is not set, and shares no
// settings and no handlers with the caller.
func withDefaults(c Config) (Config, error) {
	if err := c.check(); err != nil {
		return c, err
	}
	c.Settings, _ = plainSettings(c.Settings) // checked above
	c.Handlers = maps.Clone(c.Handlers)
	c.Advertise = c.advertised()
	c.Name = or(c.Name, "local")
	c.MaxPending = or(c.MaxPending, DefaultMaxPending)
	c.CallTimeout = or(c.CallTimeout, DefaultCallTimeout)
	c.OpenTimeout = or(c.OpenTimeout, DefaultOpenTimeout)
	c.CloseTimeout = or(c.CloseTimeout, DefaultCloseTimeout)
	c.DrainTimeout = or(c.DrainTimeout, DefaultDrainTimeout)
	if !c.noRetries {
		c.Retries = or(c.Retries, DefaultRetries)
	}
	c.RetryDelay = or(c.RetryDelay, DefaultRetryDelay)
	c.LagInterval = or(c.LagInterval, DefaultLagInterval)
	c.Logger = or(c.Logger, slog.Default())
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	if c.TracerProvider == nil {
		c.TracerProvider = otel.GetTracerProvider()
	}
	if c.Strategy == nil {
		s, err := local.New(local.Options{})
		if err != nil {
			return c, err
		}
		c.Strategy = s
	}
	return c, nil
}

func or[T comparable](v, byDefault T) T {
	var zero T
	if v == zero {
		return byDefault
	}
	return v
}

// check finds the first field that is wrong.
func (c *Config) check() error {
	for _, f := range fields {
		if f.check == nil {
			continue
		}
		if err := f.check(c, f.name); err != nil {
			return fmt.Errorf("slap: %w", err)
		}
	}
	for _, holds := range relations {
		if err := holds(c); err != nil {
			return fmt.Errorf("slap: %w", err)
		}
	}
	return nil
}
