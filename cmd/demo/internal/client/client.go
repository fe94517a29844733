// Package client speaks to the demo's HTTP service and tells apart what was
// acknowledged, what was not executed, and what is unknown.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/journal"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// requestTimeout is above the longest time a node takes to answer.
const requestTimeout = 45 * time.Second

// How a request ended other than well.
var (
	// ErrNotExecuted: it did not run and never will.
	ErrNotExecuted = errors.New("not executed")
	// ErrUnknown: it may have run, or may run yet.
	ErrUnknown = errors.New("outcome unknown")
	// ErrPrecondition: the write's precondition did not hold.
	ErrPrecondition = errors.New("precondition failed")
	// ErrNotFound: the key has no value.
	ErrNotFound = errors.New("not found")
)

// Client speaks to one node. It is safe for concurrent use.
type Client struct {
	base string
	http *http.Client
}

// New makes a client of the node at host:port that keeps up to connections open.
// [Client.Close] closes them.
func New(address string, connections int) *Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: connections, IdleConnTimeout: time.Minute}
	return &Client{base: "http://" + address, http: &http.Client{Transport: transport, Timeout: requestTimeout}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Count is a counter after an addition or as read.
type Count struct {
	Key   string `json:"key"`
	Value int64  `json:"value"`
	Shard int    `json:"shard"`
	Seq   uint64 `json:"seq"`
	Node  string `json:"node"`
}

// Add adds to a counter.
func (c *Client) Add(ctx context.Context, key string, by int64) (Count, error) {
	var count Count
	err := c.json(ctx, http.MethodPost, fmt.Sprintf("/counters/%s?by=%d", url.PathEscape(key), by), &count)
	return count, err
}

// Counter reads a counter.
func (c *Client) Counter(ctx context.Context, key string) (Count, error) {
	var count Count
	err := c.json(ctx, http.MethodGet, "/counters/"+url.PathEscape(key), &count)
	return count, err
}

// Put writes a value and returns its ETag. An empty ifMatch asks that the key has
// no value yet.
func (c *Client) Put(ctx context.Context, key string, value []byte, ifMatch string) (etag string, err error) {
	guard := http.Header{"If-Match": {ifMatch}}
	if ifMatch == "" {
		guard = http.Header{"If-None-Match": {"*"}}
	}
	_, header, err := c.do(ctx, http.MethodPut, "/kv/"+url.PathEscape(key), guard, value)
	return header.Get("ETag"), err
}

// Get reads a value and its ETag.
func (c *Client) Get(ctx context.Context, key string) (value []byte, etag string, err error) {
	value, header, err := c.do(ctx, http.MethodGet, "/kv/"+url.PathEscape(key), nil, nil)
	return value, header.Get("ETag"), err
}

// Delete removes a value.
func (c *Client) Delete(ctx context.Context, key string) error {
	_, _, err := c.do(ctx, http.MethodDelete, "/kv/"+url.PathEscape(key), nil, nil)
	return err
}

// Shards is the shard map as the node sees it.
func (c *Client) Shards(ctx context.Context) (shardmap.Map, error) {
	var m shardmap.Map
	err := c.json(ctx, http.MethodGet, "/shards", &m)
	return m, err
}

// Events are the newest events of the node, the oldest of them first.
func (c *Client) Events(ctx context.Context) ([]journal.Entry, error) {
	var entries []journal.Entry
	err := c.json(ctx, http.MethodGet, "/events", &entries)
	return entries, err
}

// Ready is nil once the node says that it is ready.
func (c *Client) Ready(ctx context.Context) error {
	_, _, err := c.do(ctx, http.MethodGet, "/readyz", nil, nil)
	return err
}

func (c *Client) json(ctx context.Context, method, path string, answer any) error {
	data, _, err := c.do(ctx, method, path, nil, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return fmt.Errorf("%w: the answer is not what the demo sends: %w", ErrUnknown, err)
	}
	return nil
}

func (c *Client) do(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNotExecuted, err)
	}
	maps.Copy(request.Header, header)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, lost(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err := outcome(response, data); err != nil {
		return nil, response.Header, err
	}
	return data, response.Header, nil
}

// lost is the error of a request without an answer. One that found no connection
// was never sent.
func lost(err error) error {
	if Unreachable(err) {
		return fmt.Errorf("%w: %w", ErrNotExecuted, err)
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// Unreachable says whether an error means that nobody answers at the address.
func Unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
