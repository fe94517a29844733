// Package peers says which other nodes a node may call, and where they are.
package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Peer is another node.
type Peer struct {
	Name    string // empty for whichever node is there
	Address string // host:port; a host name stands for all its addresses
}

// String is the peer as [Static] takes it.
func (p Peer) String() string {
	if p.Name == "" {
		return p.Address
	}
	return p.Name + "=" + p.Address
}

// Source is where a node learns of its peers. The zero value has none. What is wrong with
// it is told by [Source.Check].
type Source struct {
	list []Peer
	find func(context.Context) ([]Peer, error)

	wrong string // what is wrong with it
}

// broken is a source that is of no use.
func broken(why error) Source { return Source{wrong: why.Error()} }

// Static is a list of peers, each as name=host:port, or host:port for one whose name does
// not matter. The node itself may be among them.
func Static(peers ...string) Source {
	var s Source
	for _, text := range peers {
		p, err := parse(strings.TrimSpace(text))
		if err != nil {
			return broken(err)
		}
		s.list = append(s.list, p)
	}
	if err := check(s.list); err != nil {
		return broken(err)
	}
	return s
}

// DNS is all addresses of the host names, each given as host:port, as they change.
func DNS(names ...string) Source {
	for _, name := range names {
		if _, err := netip.ParseAddrPort(name); err == nil {
			return broken(fmt.Errorf("%s is no host name: write it without dns", name))
		}
	}
	return Static(names...)
}

// Func is what the function says, which is called again and again. It returns soon after
// ctx ends. While it fails, what it said last holds.
func Func(find func(ctx context.Context) ([]Peer, error)) Source {
	if find == nil {
		return broken(errors.New("the function is nil"))
	}
	return Source{find: find}
}

// dnsPrefix marks a host name in the text of a source.
const dnsPrefix = "dns:"

// Parse reads peers as [Static] takes them, with commas between them, or dns:host:port for
// [DNS]. Spaces beside commas do not count, and an empty text is no peers.
func Parse(text string) (Source, error) {
	if strings.TrimSpace(text) == "" {
		return Source{}, nil
	}
	parts := strings.Split(text, ",")
	for i, part := range parts {
		name, isDNS := strings.CutPrefix(strings.TrimSpace(part), dnsPrefix)
		if !isDNS {
			continue
		}
		if s := DNS(name); s.wrong != "" {
			return s, s.Check()
		}
		parts[i] = name
	}
	s := Static(parts...)
	return s, s.Check()
}

// UnmarshalText is [Parse].
func (s *Source) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	*s = parsed
	return err
}

// MarshalText is what Parse reads.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String is the list of peers as [Parse] reads it.
func (s Source) String() string {
	if s.find != nil {
		return "a function"
	}
	texts := make([]string, len(s.list))
	for i, p := range s.list {
		texts[i] = p.String()
	}
	return strings.Join(texts, ",")
}

// IsZero says that there are no peers and never will be.
func (s Source) IsZero() bool { return len(s.list) == 0 && s.find == nil && s.wrong == "" }

// List is the peers that are known beforehand.
func (s Source) List() []Peer { return slices.Clone(s.list) }

// Later says that a function tells later who the peers are.
func (s Source) Later() bool { return s.find != nil }

// Check says in one sentence what is wrong with the source.
func (s Source) Check() error {
	if s.wrong == "" {
		return nil
	}
	return errors.New(s.wrong)
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func parse(text string) (Peer, error) {
	name, address, named := strings.Cut(text, "=")
	if !named {
		name, address = "", text
	}
	p := Peer{name, address}
	switch {
	case address == "" || !named && !strings.Contains(text, ":"):
		return p, fmt.Errorf("peer %q has no address: write name=host:port", strings.TrimSuffix(text, "="))
	case named && name == "":
		return p, fmt.Errorf("peer %q has no valid name: write name=host:port", text)
	}
	return p, nil
}

// check finds what no list of peers may have.
func check(list []Peer) error {
	names, addresses := map[string]bool{}, map[string]bool{}
	for _, p := range list {
		at, err := canonical(p.Address)
		switch {
		case err != nil:
			return fmt.Errorf("peer %q %w", p, err)
		case p.Name != "" && !nameForm.MatchString(p.Name):
			return fmt.Errorf("peer %q has no valid name: write name=host:port", p)
		case p.Name != "" && names[p.Name]:
			return fmt.Errorf("peer %q is named twice: name each node once", p.Name)
		case addresses[at]:
			return fmt.Errorf("two peers have the address %s: give each node its own", p.Address)
		}
		names[p.Name], addresses[at] = true, true
	}
	return nil
}

// canonical is the one way to write an address. Its errors are the end of a sentence.
func canonical(address string) (string, error) {
	host, port, err := split(address)
	if err != nil {
		return "", err
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsUnspecified() {
			return "", errors.New("needs a host that others can call")
		}
		return join(ip, port), nil
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), strconv.Itoa(int(port))), nil
}

func split(address string) (host string, port uint16, err error) {
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, errors.New("needs an address of the form host:port")
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	switch {
	case err != nil || number == 0:
		return "", 0, errors.New("needs a port between 1 and 65535")
	case host == "" || strings.ContainsAny(host, " /@"):
		return "", 0, errors.New("needs a host in front of the port")
	}
	return host, uint16(number), nil
}

func join(ip netip.Addr, port uint16) string { return netip.AddrPortFrom(ip.Unmap(), port).String() }
