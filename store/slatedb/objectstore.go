package slatedb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/slap-go/slap/store"
)

// An ObjectStore is where databases live: the engine's own connection to a
// [store.Store]. It owns everything that runs for its databases: the goroutines
// that bring results back, the credentials for the engine, and the work that
// callers gave up waiting for. It is safe for concurrent use.
type ObjectStore struct {
	id          uint64
	prefix      string // in front of every path
	freeID      bool
	source      store.Store // keeps the memory of an in-memory store
	completions *completions
	cleanup     func()

	life      lifetime
	abandoned atomic.Int64
	opened    census
	idle      chan struct{} // closed when it is closed and nothing uses it
	ended     chan struct{} // closed when its goroutines have ended too
}

// NewObjectStore connects the engine to a store. It loads the engine's library
// if that has not happened yet, and sends no request. The store is closed by
// [ObjectStore.Close]. Two object stores may reach the same place with different
// credentials.
func NewObjectStore(ctx context.Context, s store.Store) (*ObjectStore, error) {
	location, err := s.Location(ctx)
	if err != nil {
		return nil, fmt.Errorf("slatedb: %w", err)
	}
	if err := load(); err != nil {
		return nil, err
	}
	switch location.Kind {
	case store.KindMemory:
		return newMemoryStore(s, location.Space)
	case store.KindDir:
		return newDirStore(location.Dir)
	case store.KindS3:
		return newS3Store(ctx, location)
	default:
		return nil, invalid("the store names no place")
	}
}

// newObjectStore builds the engine's store from its URL and configuration.
func newObjectStore(address, prefix string, config map[string]string) (*ObjectStore, error) {
	id, err := buildStore(address, config)
	if err != nil {
		return nil, err
	}
	s := &ObjectStore{id: id, freeID: true, prefix: prefix}
	return s, s.open()
}

func (s *ObjectStore) open() error {
	c, err := startCompletions()
	if err != nil {
		s.free()
		return fmt.Errorf("slatedb: %w", err)
	}
	s.completions = c
	s.idle, s.ended = make(chan struct{}), make(chan struct{})
	return nil
}

func (s *ObjectStore) free() {
	if s.freeID {
		freeObject(objectStore, s.id)
	}
	if s.cleanup != nil {
		s.cleanup()
	}
}

// buildStore makes the engine's object store.
func buildStore(address string, config map[string]string) (uint64, error) {
	builder, err := call(storeBuilderNew, 0, 0, 0, []byte(address), nil)
	if err != nil {
		return 0, err
	}
	defer freeObject(objectStoreBuilder, builder)
	for key, value := range config {
		if _, err := call(storeBuilderConfig, builder, 0, 0, []byte(key), []byte(value)); err != nil {
			return 0, err
		}
	}
	return call(storeBuilderBuild, builder, 0, 0, nil, nil)
}

// idleConnection is how long a connection is kept that nobody uses. Connections may be lost
// without a word; the engine finds that out one by one, each by a request's timeout.
const idleConnection = "2s"

// newS3Store builds the store of a bucket. The engine would drop a prefix in the
// URL, so that it goes in front of the databases' paths.
func newS3Store(ctx context.Context, l store.Location) (*ObjectStore, error) {
	config := map[string]string{
		"aws_region":                       l.Region,
		"aws_virtual_hosted_style_request": strconv.FormatBool(l.VirtualHosted),
		"timeout":                          strconv.FormatInt(l.RequestTimeout.Milliseconds(), 10) + "ms",
		"pool_idle_timeout":                idleConnection,
	}
	if l.Endpoint != "" {
		config["aws_endpoint"] = l.Endpoint
		config["aws_allow_http"] = strconv.FormatBool(strings.HasPrefix(l.Endpoint, "http://"))
	}
	proxy, err := proxyOptions(endpointOf(l), http.ProxyFromEnvironment)
	if err != nil {
		return nil, fmt.Errorf("slatedb: %w", err)
	}
	maps.Copy(config, proxy)
	credentials, endpoint, err := credentialOptions(ctx, l.Credentials, logger())
	if err != nil {
		return nil, fmt.Errorf("slatedb: %w", err)
	}
	maps.Copy(config, credentials)
	s, err := newObjectStore("s3://"+l.Bucket, l.Prefix, config)
	switch {
	case endpoint == nil:
		return s, err
	case err != nil:
		return nil, errors.Join(err, endpoint.Close())
	}
	s.cleanup = func() { _ = endpoint.Close() }
	return s, nil
}

// path is where a database lives in the engine's store.
func (s *ObjectStore) path(p string) string {
	return strings.Trim(s.prefix+"/"+strings.Trim(p, "/"), "/")
}

// release ends a use of the store.
func (s *ObjectStore) release() {
	if s.life.release() {
		close(s.idle)
	}
}

// later calls f on a completer.
func (s *ObjectStore) later(f func()) {
	o := newOp()
	o.objects, o.done = s, true
	o.then = func(o *op) {
		o.recycle()
		f()
	}
	s.completions.push(o)
}

// Abandoned is how many operations the engine still works on although their
// callers gave up waiting; an open counts until what it opened is closed again.
func (s *ObjectStore) Abandoned() int { return int(s.abandoned.Load()) }

// Close ends the object store: nothing can be opened any more, and once
// everything opened is closed and every operation has ended, abandoned ones too,
// its goroutines end. It waits for that until the context ends; what is left
// then goes on, and another Close waits for it again. The error names what is
// still open; a context that never ends waits for that for ever.
func (s *ObjectStore) Close(ctx context.Context) error {
	if first, last := s.life.close(); first {
		if last {
			close(s.idle)
		}
		go s.end()
	}
	select {
	case <-s.ended:
		return nil
	default:
	}
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w for the end of the object store, %s: %w",
			ErrAbandoned, leftover(&s.opened, s.Abandoned()), context.Cause(ctx))
	}
}

// end takes the store down once nothing uses it.
func (s *ObjectStore) end() {
	<-s.idle
	s.completions.stop()
	s.free()
	close(s.ended)
}

// call calls one of the engine's functions that give no future.
func call(m method, self, handle, number uint64, a, b []byte) (uint64, error) {
	o := newOp()
	defer o.recycle()
	o.invoke(m, self, handle, number, a, b)
	return o.value(), o.err()
}

// callBytes is call for the functions that give a record.
func callBytes(m method, self uint64) ([]byte, error) {
	o := newOp()
	defer o.recycle()
	o.invoke(m, self, 0, 0, nil, nil)
	if err := o.err(); err != nil {
		return nil, err
	}
	return append([]byte(nil), o.output()...), nil
}
