// Package node runs one node of the demo: its options, its cluster and its HTTP
// server, from the first check to the clean leave.
package node

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/flags"
	"github.com/slap-go/slap/store"
)

// Options is what `demo node` was told, checked as far as that goes without
// touching anything.
type Options struct {
	Name, Cluster string
	Listen        string // where other nodes would reach this one
	Advertise     string // the address they are told, if it is another
	HTTP          string

	StoreURL string
	Store    store.Store
	Shards   int

	Strategy      string
	FlushInterval time.Duration

	// Of the strategies on several nodes; checked always, used by them alone.
	LeaseTTL     time.Duration
	MaxClockSkew time.Duration
	Peers        peers
	TrustLeases  bool

	Config string // the file that was read
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// ParseOptions reads the command line of `demo node` and the file that it names,
// and checks every flag whatever the strategy. A request for help prints the
// flags to usage and gives [flag.ErrHelp].
func ParseOptions(arguments []string, usage io.Writer) (Options, error) {
	var o Options
	set := o.flags()
	if err := flags.Parse(set, arguments, usage); err != nil {
		return o, err
	}
	if o.Config != "" {
		if err := readFile(o.Config, set); err != nil {
			return o, err
		}
	}
	return o, o.check()
}

func (o *Options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("node", flag.ContinueOnError)
	f.StringVar(&o.Name, "name", "", "the node's unique `name` (required)")
	f.StringVar(&o.Listen, "listen", "", "`host:port` for other nodes (required)")
	f.StringVar(&o.HTTP, "http", "", "`host:port` of the HTTP service (required)")
	f.StringVar(&o.StoreURL, "store", "", "`URL` of the store: memory:///, file:///dir or s3://bucket/prefix?endpoint=…&region=… (required)")
	f.StringVar(&o.Advertise, "advertise", "", "`host:port` that other nodes are told, if it is not --listen")
	f.IntVar(&o.Shards, "shards", 8, "`number` of shards, fixed by the first start")
	f.StringVar(&o.Strategy, "strategy", "local",
		"`name` of what decides who owns which shard: local; static and object-lease are not served by this build yet")
	flags.Duration(f, &o.LeaseTTL, "lease-ttl", 15*time.Second, "`duration` that a lease lasts unrenewed")
	flags.Duration(f, &o.MaxClockSkew, "max-clock-skew", 0, "`duration` that wall clocks may differ by; 0s does not compare them")
	flags.Duration(f, &o.FlushInterval, "flush-interval", 100*time.Millisecond, "shortest `duration` between two flushes of a shard")
	f.Var(&o.Peers, "peers", "the other nodes: `a=host:port,b=host:port`")
	f.BoolVar(&o.TrustLeases, "trust-leases", false, "call owners that are known from leases alone")
	f.StringVar(&o.Cluster, "cluster", "demo", "the cluster's `name`")
	f.StringVar(&o.Config, "config", "", "`file` with the same settings by key (YAML or JSON; flag --lease-ttl is key lease_ttl)")
	return f
}

// check finds the first value that cannot be meant.
func (o *Options) check() error {
	for _, check := range []func() error{o.checkRequired, o.checkNames, o.checkAddresses, o.checkStore, o.checkNumbers, o.checkStrategy} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkRequired names all that is missing at once; a single one is told by the
// check of its own.
func (o *Options) checkRequired() error {
	var missing, example []string
	for _, r := range []struct{ flag, value, example string }{
		{"--name", o.Name, "a"},
		{"--listen", o.Listen, "127.0.0.1:7001"},
		{"--http", o.HTTP, "127.0.0.1:8001"},
		{"--store", o.StoreURL, "file:///var/lib/demo"},
	} {
		if r.value == "" {
			missing = append(missing, r.flag)
			example = append(example, r.flag+" "+r.example)
		}
	}
	last := len(missing) - 1
	if last < 1 {
		return nil
	}
	return fmt.Errorf("%s and %s are empty: give them values such as %s",
		strings.Join(missing[:last], ", "), missing[last], strings.Join(example, " "))
}

func (o *Options) checkNames() error {
	names := [][2]string{{"--name", o.Name}, {"--cluster", o.Cluster}}
	for _, n := range names {
		if n[1] == "" {
			return fmt.Errorf("%s is empty: give it a name", n[0])
		}
		if !nameForm.MatchString(n[1]) {
			return fmt.Errorf("%s %q is no name: use up to 63 letters, digits and . _ -, with a letter or digit first", n[0], n[1])
		}
	}
	return nil
}

func (o *Options) checkAddresses() error {
	if err := flags.Listen("--listen", o.Listen); err != nil {
		return err
	}
	if err := flags.Listen("--http", o.HTTP); err != nil {
		return err
	}
	if o.Listen == o.HTTP && !strings.HasSuffix(o.HTTP, ":0") {
		return errors.New("--listen and --http are the same address: give them two ports")
	}
	if o.Advertise == "" {
		return nil
	}
	return flags.Reachable("--advertise", o.Advertise)
}

func (o *Options) checkStore() error {
	if o.StoreURL == "" {
		return errors.New("--store is empty: give it a URL such as file:///var/lib/demo")
	}
	s, err := store.Parse(o.StoreURL)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	o.Store = s
	return nil
}

// maxShards is far above what one process carries well; a larger number is a typing error.
const maxShards = 4096

func (o *Options) checkNumbers() error {
	switch {
	case o.Shards < 1 || o.Shards > maxShards:
		return fmt.Errorf("--shards is %d: it has to be between 1 and %d", o.Shards, maxShards)
	case o.FlushInterval <= 0:
		return fmt.Errorf("--flush-interval is %s: it has to be above zero", o.FlushInterval)
	case o.LeaseTTL <= 0:
		return fmt.Errorf("--lease-ttl is %s: it has to be above zero", o.LeaseTTL)
	case o.MaxClockSkew < 0 || o.MaxClockSkew >= o.LeaseTTL:
		return fmt.Errorf("--max-clock-skew is %s: it has to be at least zero and below --lease-ttl (%s)", o.MaxClockSkew, o.LeaseTTL)
	}
	return nil
}

func (o *Options) checkStrategy() error {
	known := []string{"local", "static", "object-lease"}
	switch {
	case !slices.Contains(known, o.Strategy):
		return fmt.Errorf("--strategy %q is unknown: use %s", o.Strategy, strings.Join(known, ", "))
	case o.Strategy == "static" && len(o.Peers) == 0:
		return errors.New("--peers is empty: --strategy static gives the shards to the nodes that it names")
	case o.Strategy != "local":
		return fmt.Errorf("--strategy %s is not served by this build: use --strategy local", o.Strategy)
	}
	return nil
}
