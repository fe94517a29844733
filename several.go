package slap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/strategy"
)

// relations are the rules between fields, in the order in which they are checked. They
// hold once all sources have spoken.
var relations = []func(*Config) error{
	(*Config).checkOneRemote,
	(*Config).checkGuarded,
	(*Config).checkLeaseReads,
	(*Config).checkSeveral,
}

// checkOneRemote refuses an address beside that of the application's own remote.
func (c *Config) checkOneRemote() error {
	for _, f := range []struct{ name, value string }{{"Listen", c.Listen}, {"Advertise", c.Advertise}} {
		if c.System != nil && f.value != "" {
			return fmt.Errorf("%s must not be set together with System, whose remote listens: set it there, and leave it out here", f.name)
		}
	}
	return nil
}

// checkGuarded refuses to let strangers in without having said so.
func (c *Config) checkGuarded() error {
	if c.Listen == "" || c.TLS != nil || c.InsecureListen {
		return nil
	}
	if e, err := parseEndpoint(c.Listen); err != nil || e.loopback() {
		return err
	}
	return fmt.Errorf("Listen %q is reached from other machines without TLS: set TLS, or InsecureListen if the network keeps strangers out",
		c.Listen)
}

func (c *Config) checkLeaseReads() error {
	s, ok := c.Strategy.(strategy.ClockTruster)
	if !ok || !c.LeaseReads {
		return nil
	}
	return c.ask(func() error {
		if s.TrustsWallClocks() {
			return errors.New("LeaseReads must not be set with a strategy whose MaxClockSkew is above 0: set one of them")
		}
		return nil
	})
}

// ask asks the strategy, whose panic is its own error.
func (c *Config) ask(question func() error) error {
	err := calm(question)
	if errors.Is(err, errPanicked) {
		return fmt.Errorf("Strategy: %w", err)
	}
	return err
}

// checkSeveral says what is missing for a node that may have others beside it.
func (c *Config) checkSeveral() error {
	several, named, err := c.others()
	if err != nil || !several {
		return err
	}
	const needs = "%s is required with a strategy of several nodes: %s"
	switch {
	case c.Cluster == "":
		return fmt.Errorf(needs, "Cluster", "give all nodes the same")
	case c.Name == "":
		return fmt.Errorf(needs, "Name", "give each node its own")
	case c.System == nil && c.Listen == "":
		return fmt.Errorf(needs, "Listen", "set it to the host:port that this node takes the others' requests on")
	case c.System == nil && !c.reachable():
		return fmt.Errorf("Advertise is required since Listen %q does not say where others reach this node: set it to a host:port", c.Listen)
	case len(named) > 0:
		return c.checkNamed(named)
	case c.Peers.IsZero() && !c.TrustLeases:
		return fmt.Errorf(needs, "Peers", "name the nodes that may be called, or set TrustLeases")
	}
	return nil
}

// checkNamed looks for nodes that the strategy knows by name alone. A function may name
// them later.
func (c *Config) checkNamed(named []string) error {
	if c.Peers.Later() {
		return nil
	}
	var missing []string
	for _, name := range named {
		if !slices.ContainsFunc(c.Peers.List(), func(p peers.Peer) bool { return p.Name == name }) {
			missing = append(missing, name+"=host:port")
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("Peers lacks nodes that the strategy knows by name alone: add %s", strings.Join(missing, " and "))
	}
	return nil
}

// others is whether the node may have others beside it, and those that the strategy knows
// by name alone.
func (c *Config) others() (several bool, named []string, err error) {
	if s, ok := c.Strategy.(strategy.Several); ok {
		err = c.ask(func() error {
			several, named = s.Others(c.Name)
			return nil
		})
	}
	return several, named, err
}
