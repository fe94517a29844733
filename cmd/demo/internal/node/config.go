package node

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/internal/counter"
	"github.com/slap-go/slap/cmd/demo/internal/kv"
	"github.com/slap-go/slap/peers"
)

// maxShards is far above what one process carries well; a larger number is a typing error.
const maxShards = 4096

const nodesKey = "strategy_options.nodes"

// keys are the keys of slap's configuration that flags set.
var keys = map[string]string{
	"name": "name", "cluster": "cluster", "store": "store", "shards": "shards", "strategy": "strategy",
	"listen": "listen", "advertise": "advertise", "peers": "peers", "trust-leases": "trust_leases",
	"flush-interval": "settings.flush_interval",
}

// leaseKeys are those that the strategy object-lease alone has.
var leaseKeys = map[string]string{
	"lease-ttl": "strategy_options.lease_ttl", "max-clock-skew": "strategy_options.max_clock_skew",
}

// defaults are the application's layer of the configuration. A demo may listen anywhere.
func defaults() slap.Config {
	return slap.Config{
		Cluster: "demo",
		Shards:  8,
		ShardChildren: func(shard *slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{counter.Spec(shard), kv.Spec(shard)}
		},
		Handlers:       map[string]slap.Handler{counter.Handler: slap.Handle(counter.Read)},
		InsecureListen: true,
	}
}

// configure puts what was given over the application's defaults. The others are keys
// of the file that are no flags.
func (o *Options) configure(set *flag.FlagSet, others map[string]string) error {
	given := maps.Clone(others)
	leases := set.Lookup("strategy").Value.String() == "object-lease"
	set.Visit(func(f *flag.Flag) {
		if key, ok := keys[f.Name]; ok {
			given[key] = f.Value.String()
		}
		if key, ok := leaseKeys[f.Name]; ok && leases {
			given[key] = f.Value.String()
		}
	})
	if given["strategy"] == "static" {
		if err := o.assign(given); err != nil {
			return err
		}
	}
	var err error
	if o.Slap, err = (slap.Sources{Defaults: defaults(), Flags: given}).Load(); err != nil {
		return o.blame(err)
	}
	if o.Slap.Shards > maxShards {
		return fmt.Errorf("--shards is %d: it has to be between 1 and %d", o.Slap.Shards, maxShards)
	}
	return nil
}

// assign gives the shards to the peers in turn, unless the file assigns them otherwise.
func (o *Options) assign(given map[string]string) error {
	_, assigned := given["strategy_options.assignments"]
	_, named := given[nodesKey]
	if assigned || named {
		return nil
	}
	var names []string
	for _, p := range o.Peers.List() {
		if p.Name == "" {
			return fmt.Errorf("--peers has %s without a name: write name=host:port for --strategy static", p.Address)
		}
		names = append(names, fmt.Sprintf("%q", p.Name))
	}
	isSelf := func(p peers.Peer) bool { return p.Name == given["name"] }
	switch {
	case len(names) == 0:
		return errors.New("--peers is empty: --strategy static gives the shards to the nodes that it names")
	case !slices.ContainsFunc(o.Peers.List(), isSelf):
		return fmt.Errorf("--peers does not name this node, %s: give every node the same list of all", given["name"])
	}
	given[nodesKey] = fmt.Sprintf("[%s]", strings.Join(names, ", "))
	return nil
}

// blame says of an error of slap's configuration which flag it is about, or that it is
// about the file.
func (o *Options) blame(err error) error {
	text := strings.TrimPrefix(err.Error(), "slap: flags: ")
	about, _, _ := strings.Cut(text, " ")
	about = strings.TrimSuffix(about, ":")
	for name, key := range keys {
		if key == about {
			return errors.New("--" + name + strings.TrimPrefix(text, about))
		}
	}
	if o.file == "" {
		return errors.New(text)
	}
	return fmt.Errorf("--config %s: %s", o.file, text)
}

// fieldNames are the fields of slap's configuration in its errors, where it does not read
// keys.
var fieldNames = regexp.MustCompile(`\b(Listen|Advertise|Peers|TrustLeases|MaxClockSkew)\b`)

// inFlags is an error about fields with the flags that set them.
func inFlags(err error) error {
	text := strings.TrimPrefix(err.Error(), "slap: ")
	if at := fieldNames.FindStringIndex(text); at == nil || at[0] != 0 {
		return err
	}
	return errors.New(fieldNames.ReplaceAllStringFunc(text, func(field string) string {
		switch field {
		case "TrustLeases":
			return "--trust-leases"
		case "MaxClockSkew":
			return "--max-clock-skew"
		}
		return "--" + strings.ToLower(field)
	}))
}
