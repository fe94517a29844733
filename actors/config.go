package actors

import (
	"fmt"
	"log/slog"
	"path"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/slap-go/slap/actors/links"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// Config is what a node runs with. The facade has checked it and filled in every
// field; here nothing has a default.
type Config struct {
	Cluster     string
	Name        string       // of this node
	Incarnation string       // new at each start
	Links       *links.Links // to other nodes; nil for a node that is alone
	Shards      int
	Path        string // in front of the shards' paths
	Store       store.Store

	Objects       *slatedb.ObjectStore
	Database      slatedb.Options
	FlushInterval time.Duration // shortest time between the beginnings of two flushes
	WatchInterval time.Duration // between looks at an idle database's state

	Strategy      strategy.Strategy
	ShardChildren func(*Shard) []supervision.ChildSpec // may be nil
	ChildOptions  any
	Handlers      map[string]Handler
	MaxPending    int  // requests that may wait in front of one child
	LeaseReads    bool // a lease that lasts confirms what was read
	CallTimeout   time.Duration
	Retry         Retry

	OpenTimeout, CloseTimeout, DrainTimeout time.Duration

	LagInterval time.Duration // between samples of a shard's durability lag

	Logger         *slog.Logger
	Events         *Events
	MeterProvider  metric.MeterProvider
	TracerProvider trace.TracerProvider
}

// path is where a shard's database lives. The number has as many digits as the
// highest shard's, three at least, so that it never changes for a given count.
func (c *Config) path(shard int) string {
	width := max(3, len(fmt.Sprint(c.Shards-1)))
	return path.Join(c.Path, fmt.Sprintf("shard-%0*d", width, shard))
}
