package node

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/internal/flags"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/strategy/lease"
)

// Options is what `demo node` was told, checked as far as that goes without
// touching anything.
type Options struct {
	Slap slap.Config // what of it is data; the node adds its functions

	Listen    string // where other nodes reach this one
	Advertise string // the address they are told, if it is another
	HTTP      string

	FlushInterval time.Duration

	// Of the strategies on several nodes; checked always, used by them alone.
	LeaseTTL     time.Duration
	MaxClockSkew time.Duration
	Peers        peers.Source

	file string // that was read
}

// ParseOptions reads the command line of `demo node` and the file that it names,
// and checks every flag whatever the strategy. A request for help prints the
// flags to usage and gives [flag.ErrHelp].
func ParseOptions(arguments []string, usage io.Writer) (Options, error) {
	var o Options
	set := o.flags()
	if err := flags.Parse(set, arguments, usage); err != nil {
		return o, err
	}
	others := map[string]string{}
	if o.file != "" {
		var err error
		if others, err = readFile(o.file, set); err != nil {
			return o, err
		}
	}
	if err := o.check(set); err != nil {
		return o, err
	}
	return o, o.configure(set, others)
}

// The flags that are keys of slap's configuration are texts here: slap reads them.
func (o *Options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("node", flag.ContinueOnError)
	f.String("name", "", "the node's unique `name` (required)")
	f.StringVar(&o.Listen, "listen", "", "`host:port` for other nodes, any address: without TLS, unless --config has the key tls (required)")
	f.StringVar(&o.HTTP, "http", "", "`host:port` of the HTTP service (required)")
	f.String("store", "", "`URL` of the store: memory:///, file:///dir or s3://bucket/prefix?endpoint=…&region=… (required)")
	f.StringVar(&o.Advertise, "advertise", "", "`host:port` that other nodes are told, if it is not --listen")
	f.String("shards", "", fmt.Sprintf("`number` of shards, fixed by the first start (default %d)", defaults().Shards))
	f.String("strategy", "", "`name` of what decides who owns which shard: "+
		"local (default), static or object-lease")
	flags.Duration(f, &o.LeaseTTL, "lease-ttl", 15*time.Second, "`duration` that a lease lasts unrenewed")
	flags.Duration(f, &o.MaxClockSkew, "max-clock-skew", 0, "`duration` that wall clocks may differ by; 0s does not compare them")
	flags.Duration(f, &o.FlushInterval, "flush-interval", 100*time.Millisecond, "shortest `duration` between two flushes of a shard")
	f.TextVar(&o.Peers, "peers", peers.Source{}, "the nodes that may be called, this one too: `a=host:port,b=host:port`; "+
		"static: shard n belongs to entry n modulo their count")
	f.Bool("trust-leases", false, "call owners that are known from leases alone")
	f.String("cluster", "", fmt.Sprintf("the cluster's `name` (default %s)", defaults().Cluster))
	f.StringVar(&o.file, "config", "", "YAML or JSON `file` with the keys of slap's configuration, "+
		"and the other flags by key (flag --lease-ttl is key lease_ttl)")
	return f
}

// check finds the first value that cannot be meant, among those that slap does not
// check.
func (o *Options) check(set *flag.FlagSet) error {
	for _, err := range []error{o.checkRequired(set), o.checkAddresses(), o.checkDurations()} {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkRequired names all that is missing at once.
func (o *Options) checkRequired(set *flag.FlagSet) error {
	var missing, example []string
	for _, r := range []struct{ flag, example string }{
		{"name", "a"},
		{"listen", "127.0.0.1:7001"},
		{"http", "127.0.0.1:8001"},
		{"store", "file:///var/lib/demo"},
	} {
		if set.Lookup(r.flag).Value.String() == "" {
			missing = append(missing, "--"+r.flag)
			example = append(example, "--"+r.flag+" "+r.example)
		}
	}
	switch last := len(missing) - 1; last {
	case -1:
		return nil
	case 0:
		return fmt.Errorf("%s is empty: give it a value such as %s", missing[0], example[0])
	default:
		return fmt.Errorf("%s and %s are empty: give them values such as %s",
			strings.Join(missing[:last], ", "), missing[last], strings.Join(example, " "))
	}
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

func (o *Options) checkDurations() error {
	switch {
	case o.FlushInterval <= 0:
		return fmt.Errorf("--flush-interval is %s: it has to be above zero", o.FlushInterval)
	case o.LeaseTTL < lease.ShortestTTL || o.LeaseTTL > lease.LongestTTL:
		return fmt.Errorf("--lease-ttl is %s: it has to be from %s to %s", o.LeaseTTL, lease.ShortestTTL, lease.LongestTTL)
	case o.MaxClockSkew < 0 || o.MaxClockSkew >= o.LeaseTTL:
		return fmt.Errorf("--max-clock-skew is %s: it has to be at least zero and below --lease-ttl (%s)", o.MaxClockSkew, o.LeaseTTL)
	}
	return nil
}
