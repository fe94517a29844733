package node

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slap-go/slap/cmd/demo/internal/flags"
)

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// peer is a node that others reach at an address.
type peer struct{ name, address string }

// peers is the value of --peers: each node once, in the order given.
type peers []peer

// String is the list as it is given.
func (p *peers) String() string {
	entries := make([]string, len(*p))
	for i, entry := range *p {
		entries[i] = entry.name + "=" + entry.address
	}
	return strings.Join(entries, ",")
}

func (p *peers) names() []string {
	names := make([]string, len(*p))
	for i, entry := range *p {
		names[i] = fmt.Sprintf("%q", entry.name)
	}
	return names
}

func (p *peers) has(name string) bool {
	return slices.ContainsFunc(*p, func(other peer) bool { return other.name == name })
}

// Set reads a=host:port,b=host:port. An empty text is an empty list.
func (p *peers) Set(text string) error {
	*p = nil
	if text == "" {
		return nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		if err := p.add(strings.TrimSpace(entry)); err != nil {
			return err
		}
	}
	return nil
}

func (p *peers) add(entry string) error {
	name, address, found := strings.Cut(entry, "=")
	switch {
	case !found || address == "":
		return fmt.Errorf("peer %q has no address: write name=host:port", name)
	case !nameForm.MatchString(name):
		return fmt.Errorf("peer %q has no valid name: write name=host:port", entry)
	case p.has(name):
		return fmt.Errorf("peer %q is named twice", name)
	}
	if err := flags.Reachable("peer "+name, address); err != nil {
		return err
	}
	*p = append(*p, peer{name, address})
	return nil
}
