package links

import (
	"crypto/tls"
	"errors"

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
