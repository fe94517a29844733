package slap

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// tlsFiles are the keys below tls: files in the form PEM.
type tlsFiles struct {
	Cert string // this node's certificate, with those between it and the authority
	Key  string // the certificate's
	CA   string // of the authorities that sign the nodes' certificates
}

// load reads the files. Errors begin with the name and say which is wrong.
func (f tlsFiles) load(name string) (*tls.Config, error) {
	if f.Cert == "" || f.Key == "" || f.CA == "" {
		return nil, fmt.Errorf("%s needs cert, key and ca: set each to a file in the form PEM", name)
	}
	certificate, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("%s: cert and key: %w", name, err)
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, fmt.Errorf("%s: ca: %w", name, err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: ca: %s has no certificate in the form PEM", name, f.CA)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate}, RootCAs: authorities, ClientCAs: authorities,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	}, nil
}
