package peers

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// view is who may be called, as it was known at one moment. Nobody changes it.
type view struct {
	addresses map[string]string   // of the peers with names
	names     map[string][]string // who may be at an address: empty for anybody
}

// hosts are the addresses of host names.
type hosts map[string][]netip.Addr

// newView is the peers without the node itself. Nodes that are no peers may be found by
// other addresses, those asked, that lead to the same place.
func newView(self Peer, list []Peer, asked []string, found hosts) *view {
	v := &view{addresses: map[string]string{}, names: map[string][]string{}}
	for _, p := range list {
		if p.Name == self.Name && self.Name != "" {
			continue
		}
		if p.Name != "" {
			v.addresses[p.Name] = p.Address
		}
		for _, at := range found.places(p.Address) {
			v.add(at, p.Name)
		}
	}
	for _, at := range found.places(self.Address) {
		delete(v.names, at)
	}
	for _, address := range asked {
		places := found.places(address)
		for _, at := range places[1:] {
			for _, name := range v.names[at] {
				v.add(places[0], name)
			}
		}
	}
	return v
}

func (v *view) add(at, name string) {
	if !slices.Contains(v.names[at], name) {
		v.names[at] = append(v.names[at], name)
	}
}

// places are the ways to write where an address leads, the canonical one first.
func (h hosts) places(address string) []string {
	at, err := canonical(address)
	if err != nil {
		return nil
	}
	places := []string{at}
	host, port, _ := split(at)
	for _, ip := range h[host] {
		if at := join(ip, port); !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	return places
}

// hostOf is the host name in an address, empty if it has none.
func hostOf(address string) string {
	at, err := canonical(address)
	if err != nil {
		return ""
	}
	host, _, _ := net.SplitHostPort(at)
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	return host
}

// allows says whether the node with the name may be at the address, which is canonical,
// and whether somebody may.
func (v *view) allows(name, at string) (this, somebody bool) {
	names, somebody := v.names[at]
	return slices.Contains(names, name) || slices.Contains(names, ""), somebody
}

// String tells the peers and their places.
func (v *view) String() string {
	var lines []string
	for at, names := range v.names {
		for _, name := range names {
			lines = append(lines, Peer{name, at}.String())
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, ",")
}

// stranger is why a node may not be called at an address.
func (v *view) stranger(name, address, at string) error {
	if owners := v.names[at]; len(owners) > 0 {
		return fmt.Errorf("%s is the address of peer %s, but node %s is said to be there: correct the name in Peers",
			address, strings.Join(owners, " and "), name)
	}
	return fmt.Errorf("node %s at %s is no peer of this node: add %s=%s to Peers, or set TrustLeases", name, address, name, address)
}
