package links

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// CheckTLS says in one sentence what a configuration of TLS lacks for connections between
// nodes, on which both sides show and check certificates; nil is fine, and no TLS.
func CheckTLS(c *tls.Config) error {
	switch {
	case c == nil:
		return nil
	case c.InsecureSkipVerify:
		return errors.New("TLS must not have InsecureSkipVerify: nodes check each other's certificates")
	case len(c.Certificates) == 0 && (c.GetCertificate == nil || c.GetClientCertificate == nil):
		return errors.New("TLS has no certificate: set Certificates, which a node shows to those that it calls, too")
	case c.RootCAs == nil:
		return errors.New("TLS has no RootCAs: set the authority that has signed the certificates of all nodes")
	}
	return nil
}

// called are the credentials of a node that is called.
func called(c *tls.Config) credentials.TransportCredentials {
	if c == nil {
		return insecure.NewCredentials()
	}
	c = c.Clone()
	c.ClientAuth = tls.RequireAndVerifyClientCert
	if c.ClientCAs == nil {
		c.ClientCAs = c.RootCAs
	}
	return credentials.NewTLS(c)
}

// calling are the credentials of a node that calls.
func calling(c *tls.Config) credentials.TransportCredentials {
	if c == nil {
		return insecure.NewCredentials()
	}
	return credentials.NewTLS(c)
}

// noting are credentials that keep why a handshake failed: gRPC's words for it are long.
type noting struct {
	credentials.TransportCredentials

	failure *atomic.Pointer[error]
}

// ClientHandshake keeps its error.
func (n noting) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := n.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		n.failure.Store(&err)
	}
	return conn, info, err
}

// Clone keeps the place.
func (n noting) Clone() credentials.TransportCredentials {
	return noting{n.TransportCredentials.Clone(), n.failure}
}

// unanswered says why a greeting has no answer.
func (l *Links) unanswered(handshake *error, err error) error {
	switch {
	case handshake != nil:
		return fmt.Errorf("no answer to the greeting: the TLS handshake failed: %w", *handshake)
	case l.config.TLS != nil:
		return fmt.Errorf("no answer to the greeting after the TLS handshake: is this node's certificate trusted there? (%w)", lossOf(err))
	}
	return fmt.Errorf("no answer to the greeting: is TLS required there? (%w)", lossOf(err))
}
