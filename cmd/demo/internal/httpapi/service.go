// Package httpapi is the demo's HTTP service: counters and values under keys, the
// shard map, events, health, metrics and a status page.
package httpapi

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/internal/journal"
)

// Cluster is what the service needs of a [slap.Cluster].
type Cluster interface {
	// Ask sends a request to a child of a shard and returns its answer.
	Ask(ctx context.Context, shard int, child string, request proto.Message, opts ...slap.CallOption) (proto.Message, error)
	// Call runs a handler where the shard is open and returns its answer.
	Call(ctx context.Context, shard int, handler string, request proto.Message, opts ...slap.CallOption) (proto.Message, error)
	// ShardForString is the shard of a key.
	ShardForString(key string) int
	// Assignments is every shard as this node sees it, without touching the store.
	Assignments() []slap.Assignment
	// Unreachable are the nodes that this one needs and cannot reach.
	Unreachable() []string
	// Ready says whether every shard is open here or owned elsewhere.
	Ready() bool
	// Done is closed when the node has ended.
	Done() <-chan struct{}
}

// Config is what a [Service] is made of. All fields are required.
type Config struct {
	ClusterName, NodeName string
	Shards                int
	Store                 string // for people; without credentials
	Cluster               Cluster
	Journal               *journal.Journal
	Metrics               http.Handler // answers GET /metrics
	Requests              func() Requests
}

// Requests counts how the requests to shards ended since the node's start.
type Requests struct{ Answered, NotExecuted, Unknown uint64 }

// Service answers HTTP requests for one node. It is safe for concurrent use.
type Service struct {
	config  Config
	routes  http.Handler
	leaving atomic.Bool
	began   time.Time
}

// New makes the service. It starts nothing.
func New(c Config) *Service {
	s := &Service{config: c, began: time.Now()}
	s.routes = s.mux()
	return s
}

func (s *Service) mux() http.Handler {
	mux := http.NewServeMux()
	counters := methods{http.MethodPost: s.addToCounter, http.MethodGet: s.readCounter}
	values := methods{http.MethodPut: s.putValue, http.MethodGet: s.getValue, http.MethodDelete: s.deleteValue}
	mux.Handle("/counters/{key...}", counters)
	mux.Handle("/counters", counters) // without a key: invalid, not redirected
	mux.Handle("/kv/{key...}", values)
	mux.Handle("/kv", values)
	mux.Handle("/shards", methods{http.MethodGet: s.shards})
	mux.Handle("/events", methods{http.MethodGet: s.events})
	mux.Handle("/healthz", methods{http.MethodGet: s.healthy})
	mux.Handle("/readyz", methods{http.MethodGet: s.ready})
	mux.Handle("/metrics", methods{http.MethodGet: s.config.Metrics.ServeHTTP})
	mux.Handle("/{$}", methods{http.MethodGet: s.page})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, problem{codeNotFound, notExecuted, "there is nothing at " + r.URL.Path})
	})
	return mux
}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.leaving.Load() {
		w.Header().Set("Connection", "close")
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.routes.ServeHTTP(w, r)
}

// Leave makes the node not ready and ends each connection with its next answer,
// so that no client writes into a connection that is about to be closed.
func (s *Service) Leave() { s.leaving.Store(true) }
