package slap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
)

// field is what a field of [Config] has to keep to.
type field struct {
	name string

	// key is the field's name in a file, the environment and flags; empty if the
	// program alone can set it.
	key string

	// zero says that the key's 0 is a value of its own.
	zero bool

	// check returns a sentence that begins with the name it is given.
	check func(c *Config, name string) error
}

// fields are all of Config's, in the order in which they are checked.
var fields = []field{
	{name: "Cluster", key: "cluster", check: func(c *Config, name string) error { return checkName(name, c.Cluster) }},
	{name: "Name", key: "name", check: func(c *Config, name string) error { return checkName(name, c.Name) }},
	{name: "Listen", key: "listen", check: (*Config).checkListen},
	{name: "Advertise", key: "advertise", check: (*Config).checkAdvertise},
	{name: "Store", key: "store", check: (*Config).checkStore},
	{name: "Path", key: "path", zero: true, check: (*Config).checkPath},
	{name: "Shards", key: "shards", check: func(c *Config, name string) error { return between(name, c.Shards, 1, MaxShards) }},
	{name: "Cache", key: "cache", zero: true, check: (*Config).checkCache},
	{name: "MaxPending", key: "max_pending", check: func(c *Config, name string) error {
		return between(name, c.MaxPending, 0, maxPending)
	}},
	{name: "CallTimeout", key: "call_timeout", check: timeout(func(c *Config) time.Duration { return c.CallTimeout })},
	{name: "Retries", key: "retries", zero: true, check: func(c *Config, name string) error {
		return between(name, c.Retries, 0, MaxRetries)
	}},
	{name: "RetryDelay", key: "retry_delay", check: timeout(func(c *Config) time.Duration { return c.RetryDelay })},
	{name: "OpenTimeout", key: "open_timeout", check: timeout(func(c *Config) time.Duration { return c.OpenTimeout })},
	{name: "CloseTimeout", key: "close_timeout", check: timeout(func(c *Config) time.Duration { return c.CloseTimeout })},
	{name: "DrainTimeout", key: "drain_timeout", check: timeout(func(c *Config) time.Duration { return c.DrainTimeout })},
	{name: "Probe", key: "probe", zero: true, check: (*Config).checkProbe},
	{name: "LagInterval", key: "lag_interval", check: timeout(func(c *Config) time.Duration { return c.LagInterval })},
	{name: "Peers", key: "peers", zero: true, check: (*Config).checkPeers},
	{name: "TrustLeases", key: "trust_leases", zero: true},
	{name: "LeaseReads", key: "lease_reads", zero: true},
	{name: "TLS", key: "tls", check: (*Config).checkTLS},
	{name: "InsecureListen", key: "insecure_listen", zero: true},
	{name: "Handlers", check: (*Config).checkHandlers},
	{name: "System", check: (*Config).checkSystem},
	{name: "Logger", check: (*Config).checkLogger},
	{name: "MeterProvider", check: func(c *Config, name string) error { return checkNil(name, c.MeterProvider) }},
	{name: "TracerProvider", check: func(c *Config, name string) error { return checkNil(name, c.TracerProvider) }},
	{name: "MergeOperator", check: (*Config).checkMergeOperator},
	{name: "Strategy", key: "strategy", check: (*Config).checkStrategy},
	{name: "ShardChildren"}, // called at each opening: there is nothing to call it with before
	{name: "ChildOptions", key: "child_options"},
	{name: "ValidateChildOptions", check: (*Config).checkChildOptions},
	{name: "Settings", key: "settings", check: func(c *Config, name string) error { return checkSettings(name, c.Settings) }},
}

// nodeName is what clusters and nodes may be called.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func checkName(field, value string) error {
	if value != "" && !nodeName.MatchString(value) {
		return fmt.Errorf("%s %s must be at most 63 letters, digits, '.', '_' or '-', and begin with a letter or digit", field, quoted(value))
	}
	return nil
}

// quoted is a text as an error shows it. A URL is not repeated: it may be that of a
// store, with credentials, in the wrong place.
func quoted(text string) string {
	if strings.Contains(text, "://") {
		return "(a URL)"
	}
	return fmt.Sprintf("%q", text)
}

func between(field string, value, least, most int) error {
	if value < least || value > most {
		return fmt.Errorf("%s must be from %d to %d, it is %d", field, least, most, value)
	}
	return nil
}

// timeout checks a duration, of which 0 stands for the default.
func timeout(of func(*Config) time.Duration) func(*Config, string) error {
	return func(c *Config, field string) error {
		if d := of(c); d < 0 || d > MaxTimeout {
			return fmt.Errorf("%s must be above 0 and at most %v, it is %v", field, MaxTimeout, d)
		}
		return nil
	}
}

func (c *Config) checkStore(field string) error {
	if c.Store.IsZero() {
		return fmt.Errorf("%s is required: set it to store.Dir, store.S3, store.Memory or store.Parse", field)
	}
	if _, err := c.Store.Location(context.Background()); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

func (c *Config) checkPath(field string) error {
	if err := store.CheckKey(store.JoinKey(c.Path, "_cluster")); err != nil {
		if strings.Contains(c.Path, "://") {
			return fmt.Errorf("%s is a URL: it must be the path inside the store", field)
		}
		return fmt.Errorf("%s %q cannot be used: %w", field, c.Path, err)
	}
	return nil
}

func (c *Config) checkCache(field string) error {
	switch {
	case c.Cache.Disabled && c.Cache.Bytes > 0:
		return fmt.Errorf("%s must not have both Disabled and Bytes: set one", field)
	case c.Cache.Bytes > maxCache:
		return fmt.Errorf("%s must have at most %d Bytes, not %d", field, uint64(maxCache), c.Cache.Bytes)
	}
	return nil
}

func (c *Config) checkProbe(field string) error {
	if c.Probe > ProbeOff {
		return fmt.Errorf("%s %d is unknown: use ProbeBlocking, ProbeBackground or ProbeOff", field, uint8(c.Probe))
	}
	return nil
}

func (c *Config) checkHandlers(field string) error {
	for _, name := range slices.Sorted(maps.Keys(c.Handlers)) {
		switch {
		case name == "":
			return fmt.Errorf("%s has an empty name: name the handler", field)
		case !utf8.ValidString(name):
			return fmt.Errorf("%s has the name %q, which is no UTF-8: rename the handler", field, name)
		case c.Handlers[name] == nil:
			return fmt.Errorf("%s: %q is nil: give it a function or leave it out", field, name)
		}
	}
	return nil
}

func (c *Config) checkSystem(field string) error {
	switch {
	case c.System == nil:
		return nil
	case c.System.Root == nil:
		return fmt.Errorf("%s is empty: make it with actor.NewActorSystem", field)
	case c.System.IsStopped():
		return fmt.Errorf("%s was shut down: give one that runs", field)
	}
	return nil
}

func (c *Config) checkLogger(field string) error {
	if c.Logger != nil && c.Logger.Handler() == nil {
		return fmt.Errorf("%s is empty: make it with slog.New", field)
	}
	return nil
}

// checkNil refuses a nil pointer, or another nil value, in an interface: it would
// panic at its first use.
func checkNil(field string, value any) error {
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Slice, reflect.Chan:
		if v.IsNil() {
			return fmt.Errorf("%s is a nil %T: leave it out or set it", field, value)
		}
	}
	return nil
}

func (c *Config) checkStrategy(field string) error {
	if err := checkNil(field, c.Strategy); err != nil {
		return err
	}
	validator, ok := c.Strategy.(strategy.Validator)
	if !ok {
		return nil
	}
	err := calm(func() error { return validator.Validate(strategy.Cluster{Shards: c.Shards, Node: c.Name}) })
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

func (c *Config) checkChildOptions(field string) error {
	if c.ValidateChildOptions == nil {
		return nil
	}
	err := calm(func() error { return c.ValidateChildOptions(c.ChildOptions) })
	if errors.Is(err, errPanicked) {
		return fmt.Errorf("%s %w", field, err)
	}
	if err != nil {
		return fmt.Errorf("ChildOptions: %w", err)
	}
	return nil
}

// operands are tried on a merge operator: nothing, a digit, and what an empty JSON
// object, a number of 4 and one of 8 bytes look like.
var operands = [][]byte{{}, []byte("0"), []byte("{}"), make([]byte, 4), make([]byte, 8)}

// checkMergeOperator finds one that cannot work at all, such as a method of a nil
// pointer. It may refuse operands, and may even panic over some: it gets only the
// application's.
func (c *Config) checkMergeOperator(field string) error {
	if c.MergeOperator == nil {
		return nil
	}
	var last error
	for _, operand := range operands {
		last = calm(func() error {
			_, err := c.MergeOperator([]byte("key"), nil, slices.Clone(operand))
			return err
		})
		if !errors.Is(last, errPanicked) {
			return nil
		}
	}
	return fmt.Errorf("%s %w: it must combine values or return an error", field, last)
}

var errPanicked = errors.New("panicked")

// calm calls a function of the application's; a panic in it is an error of one line.
func calm(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %s", errPanicked, strings.Join(strings.Fields(fmt.Sprint(p)), " "))
		}
	}()
	return f()
}
