package links

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

// authority signs the certificates of nodes.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key}
}

// config is for a node with a certificate of the authority.
func (a *authority) config(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "node"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, RootCAs: pool, MinVersion: tls.VersionTLS13}
}

func secured(c *tls.Config) func(*Config) { return func(to *Config) { to.TLS = c } }

func TestSPEC8_BothSidesShowTheirCertificates(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	a, b := startNode(t, "a", secured(ours.config(t))), startNode(t, "b", secured(ours.config(t)))
	eventually(t, func() error { return a.DialSelf(t.Context()) })
	a.connect(t, b.Self())
	if _, err := a.ask(t.Context(), b.Self(), "x"); err != nil {
		t.Error(err)
	}
	// Proto.Actor's own messages go the same way.
	heard := make(chan string, 1)
	pid := b.system.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		if m, ok := c.Message().(*wrapperspb.StringValue); ok {
			heard <- m.GetValue()
		}
	}))
	a.system.Root.Send(pid, wrapperspb.String("to a PID"))
	if got := <-heard; got != "to a PID" {
		t.Errorf("heard %q", got)
	}

	foreign := startNode(t, "foreign", secured(others.config(t)))
	plain := startNode(t, "plain")
	half := ours.config(t)
	half.RootCAs = others.config(t).RootCAs // it is trusted, and trusts others
	distrustful := startNode(t, "distrustful", secured(half))
	for _, c := range []struct {
		from, to *node
		want     string
	}{
		{foreign, b, "the TLS handshake failed: tls: failed to verify certificate"},
		{b, foreign, "the TLS handshake failed: tls: failed to verify certificate"},
		{plain, b, "is TLS required there?"},
		{b, plain, "the TLS handshake failed"},
		{b, distrustful, "is this node's certificate trusted there?"},
		{distrustful, b, "certificate"},
	} {
		what := c.from.Self().Name + " to " + c.to.Self().Name
		eventually(t, func() error { // more than that the time was too short
			_, err := c.from.ask(t.Context(), c.to.Self(), "x")
			if !errors.Is(err, messages.ErrNotExecuted) || !errors.Is(err, messages.ErrNoConnection) || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "\n") {
				return fmt.Errorf("%s: %w", what, err)
			}
			t.Logf("%s: %v", what, err)
			return nil
		})
		if _, err := c.from.Greet(t.Context(), c.to.Self().Address); err == nil || errors.Is(err, strategy.ErrNobody) {
			t.Errorf("%s: greeted: %v", what, err)
		}
		if c.to.served.Load() > 1 {
			t.Errorf("%s: served", what)
		}
	}
}

func TestSPEC8_TLSThatLacksSomethingIsRefused(t *testing.T) {
	ours := newAuthority(t)
	for want, change := range map[string]func(*tls.Config){
		"TLS has no certificate":               func(c *tls.Config) { c.Certificates = nil },
		"TLS has no RootCAs":                   func(c *tls.Config) { c.RootCAs = nil },
		"TLS must not have InsecureSkipVerify": func(c *tls.Config) { c.InsecureSkipVerify = true },
	} {
		c := ours.config(t)
		change(c)
		if _, err := tryNode("a", secured(c)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
