package slap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/store"
)

// pemFiles writes a certificate that is its own authority, and its key.
func pemFiles(t *testing.T) tlsFiles {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := tlsFiles{Cert: filepath.Join(dir, "node.pem"), Key: filepath.Join(dir, "node.key"), CA: filepath.Join(dir, "ca.pem")}
	for path, block := range map[string]*pem.Block{
		files.Cert: {Type: "CERTIFICATE", Bytes: certificate},
		files.Key:  {Type: "PRIVATE KEY", Bytes: private},
		files.CA:   {Type: "CERTIFICATE", Bytes: certificate},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestSPEC2_FilesMakeATLSThatBothSidesCheck(t *testing.T) {
	files := pemFiles(t)
	flags := map[string]string{"tls.cert": files.Cert, "tls.key": files.Key, "tls.ca": files.CA, "listen": ":7001"}
	c, err := Sources{Defaults: Config{Store: store.Memory(), Shards: 1}, Flags: flags}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if c = effective(t, c); c.TLS.ClientAuth != tls.RequireAndVerifyClientCert || len(c.TLS.Certificates) != 1 {
		t.Errorf("%+v", c.TLS)
	}
	for _, pool := range []*x509.CertPool{c.TLS.RootCAs, c.TLS.ClientCAs} {
		if _, err := c.TLS.Certificates[0].Leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
			t.Error(err)
		}
	}
}

func TestSPEC2_AWrongTLSFileIsNamed(t *testing.T) {
	good := pemFiles(t)
	for says, files := range map[string]tlsFiles{
		"cert and key: ": {good.Key, good.Cert, good.CA},
		"ca: " + good.Key + " has no certificate": {good.Cert, good.Key, good.Key},
		"ca: open ":                {good.Cert, good.Key, good.CA + "x"},
		"needs cert, key and ca: ": {good.Cert, good.Key, ""},
	} {
		flags := map[string]string{"tls.cert": files.Cert, "tls.key": files.Key, "tls.ca": files.CA}
		if files.CA == "" {
			delete(flags, "tls.ca")
		}
		_, err := Sources{Flags: flags}.Load()
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "slap: flags: tls") {
			t.Errorf("%v; want %q", err, says)
		}
	}
}
