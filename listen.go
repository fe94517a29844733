package slap

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// endpoint is an address of a node: where it listens, or where others reach it.
type endpoint struct {
	host string // empty for all of the machine's addresses
	port uint16 // 0 for one that is free
}

func parseEndpoint(text string) (endpoint, error) {
	host, digits, err := net.SplitHostPort(text)
	if err != nil || strings.ContainsAny(host, " /@") {
		return endpoint{}, errors.New("must be host:port, such as 10.0.0.7:7001")
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return endpoint{}, errors.New("must have a port from 0 to 65535")
	}
	return endpoint{host, uint16(port)}, nil
}

// concrete says whether others can call the address.
func (e endpoint) concrete() bool { return e.port != 0 && e.somewhere() }

// somewhere says whether the host is one, whatever the port.
func (e endpoint) somewhere() bool {
	ip, err := netip.ParseAddr(e.host)
	return e.host != "" && (err != nil || !ip.IsUnspecified())
}

// loopback says whether the address is for sure one that only this machine reaches.
func (e endpoint) loopback() bool {
	ip, err := netip.ParseAddr(e.host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(e.host, "localhost")
}

func (c *Config) checkListen(field string) error {
	if _, err := parseEndpoint(c.Listen); err != nil && c.Listen != "" {
		return fmt.Errorf("%s %s %w", field, quoted(c.Listen), err)
	}
	return nil
}

func (c *Config) checkAdvertise(field string) error {
	if c.Advertise == "" {
		return nil
	}
	e, err := parseEndpoint(c.Advertise)
	if err == nil && !e.concrete() {
		err = errors.New("must have a host and a port that others can call")
	}
	if err != nil {
		return fmt.Errorf("%s %s %w", field, quoted(c.Advertise), err)
	}
	return nil
}

// advertised is where others reach this node: an address that only Listen names is it, if
// it is one.
func (c *Config) advertised() string {
	if e, err := parseEndpoint(c.Listen); c.Advertise == "" && err == nil && e.concrete() {
		return c.Listen
	}
	return c.Advertise
}

// reachable says whether it is known where others reach this node, or will be once it listens
// on a port.
func (c *Config) reachable() bool {
	e, err := parseEndpoint(c.Listen)
	return c.Advertise != "" || err == nil && e.somewhere()
}

func (c *Config) checkPeers(field string) error {
	if err := c.Peers.Check(); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// checkTLS finds what is missing for both sides of a connection to know each other.
func (c *Config) checkTLS(field string) error {
	if c.TLS == nil {
		return nil
	}
	t := c.TLS
	var missing string
	switch {
	case len(t.Certificates) == 0 && (t.GetCertificate == nil || t.GetClientCertificate == nil):
		missing = "Certificates: set it to this node's"
	case t.RootCAs == nil:
		missing = "RootCAs: set it to those that sign the certificates of the nodes that are called"
	case t.ClientCAs == nil:
		missing = "ClientCAs: set it to those that sign the certificates of the nodes that call"
	case t.InsecureSkipVerify:
		return fmt.Errorf("%s must not have InsecureSkipVerify: nodes check each other's certificates", field)
	case t.ClientAuth != tls.NoClientCert && t.ClientAuth != tls.RequireAndVerifyClientCert:
		return fmt.Errorf("%s must have the ClientAuth RequireAndVerifyClientCert, or leave it out, which means the same here", field)
	default:
		return nil
	}
	return fmt.Errorf("%s lacks %s", field, missing)
}
