package node

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"strings"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/internal/counter"
	"github.com/slap-go/slap/cmd/demo/internal/kv"
)

// maxShards is far above what one process carries well; a larger number is a typing error.
const maxShards = 4096

// Keys of slap's configuration that have no flag of their own name.
const (
	flushKey = "settings.flush_interval"
	nodesKey = "strategy_options.nodes"
)

// defaults are the application's layer of the configuration.
func defaults() slap.Config {
	return slap.Config{
		Cluster: "demo",
		Shards:  8,
		ShardChildren: func(shard *slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{counter.Spec(shard), kv.Spec(shard)}
		},
		Handlers: map[string]slap.Handler{counter.Handler: slap.Handle(counter.Read)},
	}
}

// configure puts what was given over the application's defaults. The others are keys
// of the file that are no flags.
func (o *Options) configure(set *flag.FlagSet, others map[string]string) error {
	given := maps.Clone(others)
	set.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "name", "cluster", "store", "shards", "strategy":
			given[f.Name] = f.Value.String()
		case "flush-interval":
			given[flushKey] = f.Value.String()
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
	switch {
	case len(o.Peers) == 0 && !assigned && !named:
		return errors.New("--peers is empty: --strategy static gives the shards to the nodes that it names")
	case len(o.Peers) == 0 || assigned || named:
		return nil
	case !o.Peers.has(given["name"]):
		return fmt.Errorf("--peers does not name this node, %s: give every node the same list of all", given["name"])
	}
	given[nodesKey] = fmt.Sprintf("[%s]", strings.Join(o.Peers.names(), ", "))
	return nil
}

// blame says of an error of slap's configuration which flag it is about, or that it is
// about the file.
func (o *Options) blame(err error) error {
	text := strings.TrimPrefix(err.Error(), "slap: flags: ")
	switch key, _, _ := strings.Cut(text, " "); strings.TrimSuffix(key, ":") {
	case "name", "cluster", "store", "shards", "strategy":
		return errors.New("--" + text)
	}
	return fmt.Errorf("--config %s: %s", o.file, text)
}
