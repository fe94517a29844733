package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

// Limits of the connections to one server. A thousand shards renew at once: the
// ones that find no connection wait for it.
const (
	maxConnections  = 256
	idleConnections = 256
	idleTimeout     = 30 * time.Second
	dialTimeout     = 3 * time.Second
	tlsTimeout      = 5 * time.Second
)

// newS3Client makes a client that sends every request exactly once: what is tried
// again, and what a failed try means, is decided in one place, the tries.
func newS3Client(at Location, cfg aws.Config, transport *http.Transport) *s3.Client {
	return s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.HTTPClient = &http.Client{Transport: sentWatch{transport}, CheckRedirect: dontFollow}
		o.Credentials = credentialsWatch{at.Credentials}
		o.Region = at.Region
		if at.Endpoint != "" {
			o.BaseEndpoint = aws.String(at.Endpoint)
			o.UsePathStyle = !at.VirtualHosted
		}
		o.Retryer = aws.NopRetryer{}
		o.Logger, o.ClientLogMode = logging.Nop{}, 0
		// Servers other than AWS know no checksums in trailers.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
}

// newTransport keeps what the AWS configuration says about certificates. It
// speaks HTTP/1 only, where giving up on a request closes its connection, so that
// a dead one is never used twice.
func newTransport(cfg aws.Config) *http.Transport {
	transport := awshttp.NewBuildableClient().GetTransport()
	if client, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		transport = client.GetTransport()
	}
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: idleTimeout}).DialContext
	transport.TLSHandshakeTimeout = tlsTimeout
	transport.MaxConnsPerHost = maxConnections
	transport.MaxIdleConns = idleConnections
	transport.MaxIdleConnsPerHost = idleConnections
	transport.IdleConnTimeout = idleTimeout
	transport.ForceAttemptHTTP2 = false
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP1(true)
	return transport
}

// dontFollow hands a redirect to the caller: it means a wrong region.
func dontFollow(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// sentKey is the context's key of a try's *atomic.Bool, which becomes true before
// the first byte of the request can have left.
type sentKey struct{}

// sentWatch notes when a request gets a connection. The watch is of this client
// alone: requests for credentials, sent in the same context, do not count.
type sentWatch struct{ next http.RoundTripper }

// RoundTrip sends the request.
func (w sentWatch) RoundTrip(r *http.Request) (*http.Response, error) {
	if sent, ok := r.Context().Value(sentKey{}).(*atomic.Bool); ok {
		trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }}
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), trace))
	}
	return w.next.RoundTrip(r)
}

// errCredentials marks errors of the provider among those of requests.
var errCredentials = errors.New("no usable AWS credentials")

type credentialsWatch struct{ next aws.CredentialsProvider }

// Retrieve asks the provider.
func (w credentialsWatch) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := w.next.Retrieve(ctx)
	if err != nil {
		return c, fmt.Errorf("%w: %w", errCredentials, err)
	}
	return c, nil
}

// boundedCredentials ends a fetch that hangs: the SDK's cache lets all callers
// wait for the same one, and gives it no deadline.
type boundedCredentials struct {
	next    aws.CredentialsProvider
	timeout time.Duration
}

// Retrieve asks the provider.
func (b boundedCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	return b.next.Retrieve(ctx)
}
