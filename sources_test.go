package slap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/local"
	"github.com/slap-go/slap/strategy/static"
)

// An application has its defaults, an operator a file and variables, and whoever
// starts a node the last word.
func ExampleSources_Load() {
	config, err := slap.Sources{
		Defaults: slap.Config{Store: store.Dir("data"), Shards: 64, CallTimeout: 10 * time.Second},
		File:     "testdata/counter.yaml", // shards: 128, settings: {flush_interval: 20ms}
		Env:      "COUNTER",               // COUNTER_CALL_TIMEOUT=5s
		Options:  slap.Config{Name: "a"},
	}.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(config.Name, config.Shards, config.CallTimeout, config.Settings["flush_interval"])
	// Output: a 128 10s 20ms
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func loaded(t *testing.T, s slap.Sources) slap.Config {
	t.Helper()
	c, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each source sets one field less than the one before.
func TestCFG13_ALaterSourceOverridesOnlyWhatItSets(t *testing.T) {
	t.Setenv("APP_SHARDS", "3")
	t.Setenv("APP_OPEN_TIMEOUT", "3s")
	t.Setenv("APP_CLOSE_TIMEOUT", "3s")
	c := loaded(t, slap.Sources{
		Defaults: slap.Config{
			Store: store.Memory(), MaxPending: 1, CallTimeout: time.Second, Shards: 1, OpenTimeout: time.Second, CloseTimeout: time.Second,
		},
		File:    configFile(t, "call_timeout: 2s\nshards: 2\nopen_timeout: 2s\nclose_timeout: 2s\n"),
		Env:     "APP",
		Options: slap.Config{OpenTimeout: 4 * time.Second, CloseTimeout: 4 * time.Second},
		Flags:   map[string]string{"close_timeout": "5s"},
	})
	want := slap.Config{
		MaxPending: 1, CallTimeout: 2 * time.Second, Shards: 3, OpenTimeout: 4 * time.Second, CloseTimeout: 5 * time.Second,
	}
	want.Settings, want.Store = map[string]any{}, c.Store
	if c.Store.IsZero() || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
}

func TestCFG13_SettingsAndChildOptionsMergeByKey(t *testing.T) {
	t.Setenv("APP_SETTINGS__COMPACTOR_OPTIONS__WORKER__MAX_FETCH_TASKS", "3")
	t.Setenv("APP_SETTINGS__FLUSH_INTERVAL", "3ms")
	t.Setenv("APP_CHILD_OPTIONS__LIMITS__HIGH", "3")
	type options = map[string]any
	defaults := slap.Config{
		Settings: options{
			"flush_interval": time.Millisecond, "l0_max_ssts": 16,
			"compactor_options": options{"poll_interval": time.Second, "worker": map[string]int{"max_fetch_tasks": 1, "max_subcompactions": 1}},
		},
		ChildOptions: options{"title": "default", "limits": options{"low": 1, "high": 1}},
	}
	c := loaded(t, slap.Sources{
		Defaults: defaults,
		File:     configFile(t, "settings: {l0_max_ssts: 17, flush_interval: 2ms, compactor_options: {poll_interval: 2s}}\nchild_options: {title: file}"),
		Env:      "APP",
		Options:  slap.Config{Settings: options{"flush_interval": "4ms"}, ChildOptions: options{"limits": options{"top": 4}}},
		Flags:    map[string]string{"settings.compactor_options.worker.max_subcompactions": "5"},
	})
	want := options{
		"flush_interval": "4ms", "l0_max_ssts": 17,
		"compactor_options": options{"poll_interval": "2s", "worker": options{"max_fetch_tasks": 3, "max_subcompactions": 5}},
	}
	if fmt.Sprint(c.Settings) != fmt.Sprint(want) {
		t.Errorf("settings %v, want %v", c.Settings, want)
	}
	if want := (options{"title": "file", "limits": options{"low": 1, "high": 3, "top": 4}}); !reflect.DeepEqual(c.ChildOptions, want) {
		t.Errorf("child options %v, want %v", c.ChildOptions, want)
	}
	if limits := defaults.ChildOptions.(options)["limits"].(options); len(limits) != 2 || limits["high"] != 1 {
		t.Errorf("the defaults have become %v", defaults)
	}
}

func TestCFG13_ChildOptionsThatAreNoMapReplaceWhatIsBelow(t *testing.T) {
	c := loaded(t, slap.Sources{
		Defaults: slap.Config{ChildOptions: map[string]any{"a": 1}}, Options: slap.Config{ChildOptions: "all"},
	})
	if c.ChildOptions != "all" {
		t.Errorf("%v", c.ChildOptions)
	}
	c = loaded(t, slap.Sources{Defaults: slap.Config{ChildOptions: "all"}, File: configFile(t, "child_options: {a: 1}")})
	if !reflect.DeepEqual(c.ChildOptions, map[string]any{"a": 1}) {
		t.Errorf("%v", c.ChildOptions)
	}
}

func TestSPEC2_EveryKeyIsTaken(t *testing.T) {
	text := `
cluster: c
name: "7"
listen: 10.0.0.7:7001
advertise: b.example:7001
peers: [a=10.0.0.7:7001, "dns:nodes.example:7001"]
trust_leases: true
insecure_listen: true
lease_reads: true
store: s3://bucket/prefix?endpoint=http://127.0.0.1:7070&region=us-east-1
path: a/b
shards: 4
settings: {flush_interval: 10ms}
cache: {bytes: 1048576}
strategy: local
strategy_options: {shards: [0, 2], backoff_base: 2s, backoff_max: 3s, max_concurrency: 2}
max_pending: 5
call_timeout: 6s
retries: 7
retry_delay: 8ms
probe: off
open_timeout: 9s
close_timeout: 10s
drain_timeout: 11s
lag_interval: 12s
child_options: {a: [1, 2]}
`
	c := loaded(t, slap.Sources{File: configFile(t, text)})
	want := slap.Config{
		Cluster: "c", Name: "7", Listen: "10.0.0.7:7001", Advertise: "b.example:7001", TrustLeases: true, InsecureListen: true, LeaseReads: true,
		Peers: peers.Static("a=10.0.0.7:7001", "nodes.example:7001"), Path: "a/b", Shards: 4, Settings: map[string]any{"flush_interval": "10ms"}, Cache: slap.Cache{Bytes: 1 << 20},
		MaxPending: 5, CallTimeout: 6 * time.Second, Retries: 7, RetryDelay: 8 * time.Millisecond, Probe: slap.ProbeOff,
		OpenTimeout: 9 * time.Second, CloseTimeout: 10 * time.Second, DrainTimeout: 11 * time.Second, LagInterval: 12 * time.Second,
		ChildOptions: map[string]any{"a": []any{1, 2}},
	}
	if got := c.Store.String(); got != "s3://bucket/prefix?endpoint=http://127.0.0.1:7070&region=us-east-1" {
		t.Errorf("the store is %s", got)
	}
	strategy, _ := local.New(local.Options{Shards: []int{0, 2}, BackoffBase: 2 * time.Second, BackoffMax: 3 * time.Second, MaxConcurrency: 2})
	if !reflect.DeepEqual(c.Strategy, strategy) {
		t.Errorf("the strategy is %+v", c.Strategy)
	}
	want.Store, want.Strategy = c.Store, c.Strategy
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
}

func TestSPEC2_AStrategyIsMadeFromAllThatSaysSomethingOfIt(t *testing.T) {
	t.Setenv("APP_STRATEGY_OPTIONS__MAX_CONCURRENCY", "3")
	file := configFile(t, "strategy: static\nstrategy_options:\n  assignments: {a: 0-2, b: [3]}\n  backoff_base: 2s\n")
	options := static.Options{
		Assignments: map[string]strategy.Shards{"a": {0, 1, 2}, "b": {3}}, BackoffBase: 2 * time.Second, MaxConcurrency: 3,
	}
	made := func(o static.Options) strategy.Strategy {
		s, err := static.New(o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if c := loaded(t, slap.Sources{File: file, Env: "APP"}); !reflect.DeepEqual(c.Strategy, made(options)) {
		t.Errorf("%+v", c.Strategy)
	}
	given, _ := local.New(local.Options{})
	if c := loaded(t, slap.Sources{File: file, Env: "APP", Options: slap.Config{Strategy: given}}); c.Strategy != strategy.Strategy(given) {
		t.Errorf("%+v", c.Strategy)
	}
	options.MaxConcurrency = 5
	flags := map[string]string{"strategy_options.max_concurrency": "5"}
	if c := loaded(t, slap.Sources{File: file, Env: "APP", Flags: flags}); !reflect.DeepEqual(c.Strategy, made(options)) {
		t.Errorf("%+v", c.Strategy)
	}
}

func TestSPEC2_ObjectLeaseIsMadeByKey(t *testing.T) {
	c := loaded(t, slap.Sources{
		File:  configFile(t, "strategy: object-lease\nstrategy_options: {lease_ttl: 3s, margin: 600ms, max_clock_skew: 0s}"),
		Flags: map[string]string{"strategy_options.lease_ttl": "6s"},
	})
	s, ok := c.Strategy.(*lease.Strategy)
	want := lease.Options{TTL: 6 * time.Second, Interval: 2 * time.Second, Margin: 600 * time.Millisecond, MaxConcurrency: 16}
	if !ok || s.Options() != want {
		t.Errorf("%+v", c.Strategy)
	}
	for options, says := range map[string]string{
		"lease_ttl: 0s":               "strategy_options.lease_ttl must not be 0s",
		"lease_ttl: 1ms":              "TTL must be from 10ms to 24h0m0s, it is 1ms",
		"max_clock_skew: 15s":         "MaxClockSkew (15s) must be below TTL (15s)",
		"max_clock_skew: -1s":         "MaxClockSkew must not be negative",
		"{interval: 10s, margin: 5s}": "Interval (10s) and Margin (5s) together must be below TTL (15s)",
		"path: /a":                    "Path",
		"ttl: 3s":                     `unknown key "strategy_options.ttl"`,
	} {
		_, err := slap.Sources{File: configFile(t, "strategy: object-lease\nstrategy_options: {"+strings.Trim(options, "{}")+"}")}.Load()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %q", options, err, says)
		}
	}
}

func TestSPEC2_AKeySetsAlsoWhatACodeZeroDoesNot(t *testing.T) {
	defaults := slap.Config{
		TrustLeases: true, Peers: peers.Static("a=h:1"),
		Path: "a", Probe: slap.ProbeOff, Retries: 5, Cache: slap.Cache{Disabled: true}, Shards: 1, Store: store.Memory(),
	}
	c := loaded(t, slap.Sources{Defaults: defaults, File: configFile(t, "path: ''\nprobe: blocking\nretries: 0\ncache: {bytes: 1}\ntrust_leases: false\npeers: ''")})
	if c.Path != "" || c.Probe != slap.ProbeBlocking || c.Retries != 0 || c.Cache != (slap.Cache{Bytes: 1}) || c.TrustLeases || !c.Peers.IsZero() {
		t.Errorf("%+v", c)
	}
	c = loaded(t, slap.Sources{Defaults: defaults, Options: slap.Config{}})
	if c.Path != "a" || c.Probe != slap.ProbeOff || c.Retries != 5 || !c.Cache.Disabled {
		t.Errorf("%+v", c)
	}
}

// Each file is refused in one sentence that names the file's second line and says
// the words beside it; each variable likewise by its name.
func TestCFG3_CFG10_SPEC2_EveryBadKeyIsOneSentenceWithItsPlace(t *testing.T) {
	for _, c := range []struct{ name, yaml, says string }{
		{"CFG-3: a key that is none", "colour: red", `unknown key "colour": the keys there are advertise, cache, `},
		{"CFG-3: a key that is nearly one", "shard: 4", `unknown key "shard": did you mean "shards"?`},
		{"CFG-3: a key in another case", "Shards: 4", `did you mean "shards"?`},
		{"CFG-3: a key with hyphens", "call-timeout: 4s", `did you mean "call_timeout"?`},
		{"CFG-3: a field that is code", "shard_children: 1", `unknown key "shard_children"`},
		{"CFG-3: a field that is nobody's", "no_retries: true", `unknown key "no_retries"`},
		{"CFG-5: another key of the cache", "cache: {capacity_bytes: 1}", `unknown key "cache.capacity_bytes": the keys there are bytes, disabled`},
		{"CFG-5: a cache without bytes", "cache: {bytes: 0}", "cache.bytes must not be 0"},
		{"CFG-5: a cache below 0", "cache: {bytes: -1}", "cache.bytes must be a whole number of at least 0, not -1"},
		{"CFG-5: two caches", "cache: {bytes: 1, disabled: true}", "cache must not have both Disabled and Bytes"},
		{"CFG-5: a cache that is a number", "cache: 5", "cache must be an object of further keys, not 5"},
		{"CFG-2: no shards", "shards: 0", "shards must not be 0"},
		{"CFG-2: shards that are false", "shards: false", "shards must be a whole number, not false"},
		{"CFG-2: a fraction of a shard", "shards: 4.5", "shards must be a whole number, not 4.5"},
		{"CFG-2: shards without a value", "shards:", "shards has no value"},
		{"CFG-2: negative shards", "shards: -1", "shards must be from 1 to 1000000, it is -1"},
		{"CFG-4: no close timeout", "close_timeout: 0s", "close_timeout must not be 0s"},
		{"CFG-4: nil as close timeout", "close_timeout: ~", "close_timeout has no value"},
		{"CFG-4: a close timeout without a unit", "close_timeout: 30000", `close_timeout must be a duration such as "5s", not 30000`},
		{"CFG-4: no lag interval", "lag_interval: 0s", "lag_interval must not be 0s"},
		{"CFG-4: a negative lag interval", "lag_interval: -1s", "lag_interval must be above 0 and at most 8760h0m0s, it is -1s"},
		{"no call timeout", "call_timeout: 0s", "call_timeout must not be 0s"},
		{"no open timeout", "open_timeout: 0s", "open_timeout must not be 0s"},
		{"no drain timeout", "drain_timeout: 0s", "drain_timeout must not be 0s"},
		{"no retry delay", "retry_delay: 0s", "retry_delay must not be 0s"},
		{"negative retries", "retries: -1", "retries must be from 0 to 100, it is -1"},
		{"nothing may wait", "max_pending: 0", "max_pending must not be 0"},
		{"CFG-7: an unknown probe", "probe: later", `probe: "later" is no probe mode: use blocking, background, off`},
		{"CFG-7: a probe that is false", "probe: false", "probe must be text"},
		{"CFG-7: a path that is a number", "path: 7", "path must be text: put it in quotes, not 7"},
		{"CFG-7: a path that leads up", "path: a/../b", "path \"a/../b\" cannot be used"},
		{"an empty name", "name: ''", "name must not be empty"},
		{"a name with an @", "name: a@b", `name "a@b" must be`},
		{"an empty cluster", `cluster: ""`, "cluster must not be empty"},
		{"an address without a port", "listen: 10.0.0.7", `listen "10.0.0.7" must be host:port`},
		{"an empty address", "listen: ''", "listen must not be empty"},
		{"an address that nobody can call", "advertise: ':7001'", `advertise ":7001" must have a host and a port that others can call`},
		{"P7.3: a peer without an address", "peers: a", `peers: peer "a" has no address: write name=host:port`},
		{"P7.3: a peer twice", "peers: [a=h:1, a=h:2]", `peers: peer "a" is named twice`},
		{"P7.3: peers that are an object", "peers: {a: 'h:1'}", "peers must be"},
		{"trust that is a word", "trust_leases: perhaps", `trust_leases must be true or false, not "perhaps"`},
		{"TLS without a key", "tls: {cert: a.pem, ca: ca.pem}", "tls needs cert, key and ca"},
		{"TLS with another key", "tls: {certificate: a.pem}", `unknown key "tls.certificate"`},
		{"TLS without its files", "tls: {cert: /none.pem, key: /none.key, ca: /ca.pem}", "tls: cert and key: open /none.pem"},
		{"CFG-8: an empty store", "store: ''", "store: the store URL must look like"},
		{"CFG-8: a store that is none", "store: nowhere", "store: the store URL must look like"},
		{"CFG-8: a store that is an object", "store: {url: s3://KEY:SECRET@b}", "store must be text, not further keys"},
		{"CFG-8: a store with credentials", "store: s3://KEY:SECRET@b/p", "store: the store URL contains credentials"},
		{"CFG-8: a store in another's place", "path: s3://KEY:SECRET@b/p", "path is a URL"},
		{"CFG-8: a store as a number", "shards: s3://KEY:SECRET@b/p", "shards must be a whole number, not a URL"},
		{"CFG-8: a store as a probe", "probe: s3://KEY:SECRET@b/p", "probe: (a URL)"},
		{"CFG-8: a store as a strategy", "strategy: s3://KEY:SECRET@b/p", "strategy (a URL) is unknown"},
		{"CFG-8: a store as a key", "s3://KEY:SECRET@b/p: 1", "a key is no word"},
		{"CFG-10: a typo in an option", "strategy: local\nstrategy_options: {max_concurency: 1}", `unknown key "strategy_options.max_concurency": did you mean "strategy_options.max_concurrency"?`},
		{"CFG-10: an option of another strategy", "strategy: local\nstrategy_options: {nodes: [a]}", `unknown key "strategy_options.nodes"`},
		{"CFG-10: an option of the wrong type", "strategy: local\nstrategy_options: {max_concurrency: x}", `strategy_options.max_concurrency must be a whole number, not "x"`},
		{"CFG-10: an option that is 0", "strategy: local\nstrategy_options: {backoff_base: 0s}", "strategy_options.backoff_base must not be 0s"},
		{"CFG-10: options in a wrong relation", "strategy: local\nstrategy_options: {backoff_base: 2s, backoff_max: 1s}", "BackoffBase"},
		{"CFG-10: options without a strategy", "strategy_options: {max_concurrency: 1}", "strategy_options needs strategy"},
		{"CFG-10: static without nodes", "strategy: static", "Nodes"},
		{"CFG-11: an unknown strategy", "strategy: raft", `strategy "raft" is unknown: use local, object-lease, static`},
		{"CFG-6: settings without a value", "settings:", "settings must be an object of further keys, and has no value"},
		{"CFG-6: settings that are none", "settings: fast", `settings must be an object of further keys, not "fast"`},
		{"CFG-6: an unknown setting", "settings: {l0_max_sst: 1}", `: settings: unknown setting "l0_max_sst", did you mean "l0_max_ssts"?`},
		{"CFG-6: an unknown setting deep down", "settings: {compactor_options: {worker: {max_fetch: 1}}}", "compactor_options.worker.max_fetch"},
		{"CFG-6: a setting that hangs", "settings: {l0_max_ssts: 0}", "l0_max_ssts"},
		{"no flushes", "settings: {flush_interval: 0s}", "flush_interval must be above 0"},
		{"CFG-12: child options that are none", "child_options: 5", "child_options must be an object of further keys, not 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := configFile(t, "# the second line\n"+c.yaml+"\n")
			_, err := slap.Sources{File: path}.Load()
			if err == nil {
				t.Fatal("taken")
			}
			place := ":2: "
			if strings.Contains(c.yaml, "\n") {
				place = ":3: "
			}
			for _, word := range []string{"slap: " + path + place, c.says} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%q", err)
			}
		})
	}
}

func TestSPEC2_EveryBadVariableAndFlagIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ value, says string }{
		"APP_SHARD":                             {"4", `unknown key "APP_SHARD": did you mean "APP_SHARDS"?`},
		"APP_Shards":                            {"4", "unknown key"},
		"APP_SHARDS":                            {"0", "APP_SHARDS must not be 0"},
		"APP_NAME":                              {"", "APP_NAME must not be empty"},
		"APP_CALL_TIMEOUT":                      {"0s", "APP_CALL_TIMEOUT must not be 0s"},
		"APP_RETRIES":                           {"many", `APP_RETRIES must be a whole number, not "many"`},
		"APP_STORE":                             {"s3://KEY:SECRET@b/p", "APP_STORE: the store URL contains credentials"},
		"APP_CACHE__BITES":                      {"1", `did you mean "APP_CACHE__BYTES"?`},
		"APP_CACHE":                             {"1", "APP_CACHE must be an object of further keys, not 1"},
		"APP_SETTINGS__L0_MAX_SST":              {"1", `did you mean "l0_max_ssts"?`},
		"APP_SETTINGS__COMPACTOR_OPTIONS__X":    {"1", "compactor_options.x"},
		"APP_STRATEGY_OPTIONS__MAX_CONCURRENCY": {"1", "APP_STRATEGY_OPTIONS needs APP_STRATEGY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, c.value)
			_, err := slap.Sources{Env: "APP", File: configFile(t, "shards: 4")}.Load()
			if err == nil || !strings.HasPrefix(err.Error(), "slap: environment: ") || !strings.Contains(err.Error(), c.says) ||
				strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
	for key, value := range map[string]string{"shards": "0", "call_timeout": "0s", "name": "", "max_pending": "-1"} {
		_, err := slap.Sources{Flags: map[string]string{key: value}}.Load()
		if err == nil || !strings.HasPrefix(err.Error(), "slap: flags: "+key+" must ") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestSPEC2_AnOverriddenMistakeInTheSettingsIsNobodysFault(t *testing.T) {
	file := configFile(t, "settings:\n  l0_max_ssts: 0\n  l0_sst_size_bytes: 1048576\n")
	loaded(t, slap.Sources{File: file, Options: slap.Config{Settings: map[string]any{"l0_max_ssts": 16}}})
	_, err := slap.Sources{File: file, Options: slap.Config{Settings: map[string]any{"l0_max_ssts": 16, "bogus": 1}}}.Load()
	if err == nil || !strings.HasPrefix(err.Error(), "slap: Settings: ") || !strings.Contains(err.Error(), "bogus") {
		t.Errorf("%v", err)
	}
	_, err = slap.Sources{Options: slap.Config{Settings: map[string]any{"x": make(chan int)}}}.Load()
	if err == nil || !strings.HasPrefix(err.Error(), `slap: Settings: setting "x" is a chan int`) {
		t.Errorf("%v", err)
	}
}

func TestSPEC2_AFileThatIsMissingIsNamed(t *testing.T) {
	_, err := slap.Sources{File: filepath.Join(t.TempDir(), "none.yaml")}.Load()
	if err == nil || !strings.HasPrefix(err.Error(), "slap: ") || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("%v", err)
	}
}
