package node

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/static"
)

// good is the shortest command line that is accepted.
func good(more ...string) []string {
	return append([]string{"--name", "a", "--listen", "127.0.0.1:7001", "--http", "127.0.0.1:8001", "--store", "memory:///"}, more...)
}

func TestOptionsDefaults(t *testing.T) {
	o, err := ParseOptions(good(), io.Discard)
	require.NoError(t, err)
	require.Equal(t, 8, o.Slap.Shards)
	require.Equal(t, "demo", o.Slap.Cluster)
	require.Equal(t, "a", o.Slap.Name)
	require.Nil(t, o.Slap.Strategy, "local is slap's own default")
	require.Empty(t, o.Slap.Settings, "100ms is slap's own default")
	require.Equal(t, 100*time.Millisecond, o.FlushInterval)
	require.Equal(t, 15*time.Second, o.LeaseTTL)
	require.Zero(t, o.MaxClockSkew)
	require.Equal(t, "memory:///", o.Slap.Store.String())
}

func TestOptionsIgnoreValidFlagsOfOtherStrategies(t *testing.T) {
	o, err := ParseOptions(good("--lease-ttl", "3s", "--max-clock-skew", "1s", "--trust-leases",
		"--peers", "a=127.0.0.1:7001,b=h:7002", "--advertise", "host:7001"), io.Discard)
	require.NoError(t, err)
	_, err = slap.New(o.Slap)
	require.NoError(t, err)
}

func TestOptionsReachSlap(t *testing.T) {
	o, err := ParseOptions(good("--shards", "3", "--cluster", "shop", "--flush-interval", "5ms",
		"--strategy", "static", "--peers", "b=h:1,a=h:2", "--advertise", "h:2", "--trust-leases"), io.Discard)
	require.NoError(t, err)
	require.Equal(t, 3, o.Slap.Shards)
	require.Equal(t, "shop", o.Slap.Cluster)
	require.Equal(t, "5ms", o.Slap.Settings["flush_interval"])
	require.IsType(t, &static.Static{}, o.Slap.Strategy)
	require.Equal(t, "127.0.0.1:7001", o.Slap.Listen)
	require.Equal(t, "h:2", o.Slap.Advertise)
	require.Equal(t, "b=h:1,a=h:2", o.Slap.Peers.String())
	require.True(t, o.Slap.TrustLeases)
	_, err = slap.New(o.Slap)
	require.NoError(t, err)
}

func TestOptionsOfObjectLease(t *testing.T) {
	for _, c := range []struct {
		line string
		want lease.Options
	}{
		{"", lease.Options{TTL: 15 * time.Second, Interval: 5 * time.Second, Margin: 2500 * time.Millisecond, MaxConcurrency: 16}},
		{"--lease-ttl 3s --max-clock-skew 1s", lease.Options{
			TTL: 3 * time.Second, Interval: time.Second, Margin: 500 * time.Millisecond, MaxConcurrency: 16, MaxClockSkew: time.Second,
		}},
	} {
		o, err := ParseOptions(good(append(strings.Fields(c.line), "--strategy", "object-lease", "--peers", "b=h:1")...), io.Discard)
		require.NoError(t, err)
		require.IsType(t, &lease.Strategy{}, o.Slap.Strategy)
		require.Equal(t, c.want, o.Slap.Strategy.(*lease.Strategy).Options())
		_, err = slap.New(o.Slap)
		require.NoError(t, err)
	}
	o, err := ParseOptions(good("--strategy", "object-lease"), io.Discard)
	require.NoError(t, err)
	_, err = slap.New(o.Slap)
	require.EqualError(t, inFlags(err), "--peers is required with a strategy of several nodes: name the nodes that may be called, or set --trust-leases")
}

// Every line is refused with one sentence that contains the words beside it.
func TestOptionsRefuse(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{"", "--name, --listen, --http and --store are empty"},
		{"--name a", "--listen, --http and --store are empty"},
		{"--name a --listen 127.0.0.1:1", "--http and --store are empty: give them values such as --http 127.0.0.1:8001 --store file:///var/lib/demo"},
		{"--name a --listen 127.0.0.1:1 --http 127.0.0.1:2", "--store is empty"},
		{"+ --name=", "--name is empty"},
		{"+ --name a@b", `--name "a@b" must be`},
		{"+ --name " + strings.Repeat("x", 64), "at most 63"},
		{"+ --cluster=", "--cluster must not be empty"},
		{"+ --cluster a/b", "--cluster"},
		{"+ --listen 127.0.0.1", "--listen"},
		{"+ --listen 127.0.0.1:x", "--listen"},
		{"+ --http 127.0.0.1:65536", "--http"},
		{"+ --http :-1", "--http"},
		{"+ --advertise :7001", "host is missing"},
		{"+ --advertise h:0", "between 1 and 65535"},
		{"+ --store nowhere", "--store"},
		{"+ --store ftp://x/", "--store"},
		{"+ --store file://relative", "--store"},
		{"+ --store s3:///", "--store"},
		{"+ --store s3://b/p?foo=1", "foo"},
		{"+ --store=", "--store is empty"},
		{"+ --shards 0", "--shards must not be 0"},
		{"+ --shards -1", "--shards must be from 1"},
		{"+ --shards 1000000", "--shards is 1000000"},
		{"+ --shards 99999999999999999999", "--shards must be a whole number"},
		{"+ --shards many", `--shards must be a whole number, not "many"`},
		{"+ --shards 1.5", "--shards must be a whole number"},
		{"+ --shards=", "--shards must be a whole number"},
		{"+ --strategy paxos", "--strategy"},
		{"+ --strategy static", "--peers is empty"},
		{"+ --strategy static --peers b=h:1", "--peers does not name this node, a"},
		{"+ --strategy static --peers a=h:1 --shards 0", "--shards must not be 0"},
		{"+ --strategy static --peers a=h:1,h:2", "--peers has h:2 without a name"},
		{"+ --strategy=", "--strategy"},
		{"+ --lease-ttl 9ms", "--lease-ttl is 9ms: it has to be from 10ms to 24h"},
		{"+ --lease-ttl 25h", "--lease-ttl is 25h"},
		{"+ --lease-ttl 0s", "--lease-ttl is 0s"},
		{"+ --lease-ttl -1s", "--lease-ttl"},
		{"+ --lease-ttl 15", "lease-ttl: it is no duration such as 100ms"},
		{"+ --flush-interval 5", "flush-interval: it is no duration such as 100ms"},
		{"+ --http 127.0.0.1:7001", "--listen and --http are the same address: give them two ports"},
		{"+ --max-clock-skew -1s", "--max-clock-skew"},
		{"+ --max-clock-skew 15s", "below --lease-ttl (15s)"},
		{"+ --lease-ttl 1s --max-clock-skew 2s", "below --lease-ttl (1s)"},
		{"+ --flush-interval 0s", "--flush-interval is 0s"},
		{"+ --flush-interval -1ms", "--flush-interval"},
		{"+ --peers a", `peer "a" has no address`},
		{"+ --peers a=", `peer "a" has no address`},
		{"+ --peers =h:1", "no valid name"},
		{"+ --peers a=h", "host:port"},
		{"+ --peers a=h:0", "between 1 and 65535"},
		{"+ --peers a=h:1,a=h:2", `"a" is named twice`},
		{"+ --peers a=h:1,", "no address"},
		{"+ --trust-leases=perhaps", "trust-leases"},
		{"+ --unknown 1", "-unknown"},
		{"+ --shards", "shards"},
		{"+ stray", `stray argument "stray"`},
		{"+ --config /does/not/exist", "/does/not/exist"},
	} {
		t.Run(c.line, func(t *testing.T) {
			arguments := strings.Fields(c.line)
			if len(arguments) > 0 && arguments[0] == "+" {
				arguments = good(arguments[1:]...)
			}
			_, err := ParseOptions(arguments, io.Discard)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestOptionsHelpListsEveryFlag(t *testing.T) {
	var usage strings.Builder
	_, err := ParseOptions([]string{"--help"}, &usage)
	require.ErrorIs(t, err, flag.ErrHelp)
	for _, name := range []string{
		"name", "listen", "http", "store", "advertise", "shards", "strategy", "lease-ttl",
		"max-clock-skew", "flush-interval", "peers", "trust-leases", "cluster", "config",
	} {
		require.Contains(t, usage.String(), "  -"+name)
	}
	for _, line := range []string{"-lease-ttl duration", "-max-clock-skew duration", "-flush-interval duration", "-strategy name", "static or object-lease", "without TLS", "(default 8)", "(default demo)"} {
		require.Contains(t, usage.String(), line)
	}
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestConfigFileSetsWhatTheCommandLineDoesNot(t *testing.T) {
	path := configFile(t, `
name: from-file
shards: 4
lease_ttl: 3s
trust_leases: true
peers: [a=h:1, b=h:2]
`)
	o, err := ParseOptions(good("--config", path, "--shards", "2"), io.Discard)
	require.NoError(t, err)
	require.Equal(t, "a", o.Slap.Name, "a flag overrides the file")
	require.Equal(t, 2, o.Slap.Shards)
	require.Equal(t, 3*time.Second, o.LeaseTTL)
	require.True(t, o.Slap.TrustLeases)
	require.Len(t, o.Slap.Peers.List(), 2)
}

func TestConfigFileMayBeJSONAndHoldEverything(t *testing.T) {
	path := configFile(t, `{"name": "j", "listen": "127.0.0.1:1", "http": "127.0.0.1:2", "store": "memory:///", "flush_interval": "5ms"}`)
	o, err := ParseOptions([]string{"--config", path}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "j", o.Slap.Name)
	require.Equal(t, "5ms", o.Slap.Settings["flush_interval"])
}

func TestConfigFileMayHoldTheKeysOfSlap(t *testing.T) {
	path := configFile(t, `
call_timeout: 5s
retries: 0
max_pending: 7
path: "0123"
settings:
  flush_interval: 20ms
  l0_max_ssts: 9
  compactor_options: {poll_interval: 2s}
strategy: static
strategy_options:
  backoff_base: 100ms
  assignments: {a: "0-3, 7", b: [4, 5, 6]}
peers: [b=h:2]
`)
	o, err := ParseOptions(good("--config", path), io.Discard)
	require.NoError(t, err)
	require.Equal(t, 5*time.Second, o.Slap.CallTimeout)
	require.Equal(t, 7, o.Slap.MaxPending)
	require.Equal(t, "0123", o.Slap.Path)
	require.Equal(t, "20ms", o.Slap.Settings["flush_interval"])
	require.Equal(t, map[string]any{"poll_interval": "2s"}, o.Slap.Settings["compactor_options"])
	_, err = slap.New(o.Slap)
	require.NoError(t, err)

	o, err = ParseOptions(good("--config", path, "--flush-interval", "1ms", "--strategy", "static"), io.Discard)
	require.NoError(t, err)
	require.Equal(t, "1ms", o.Slap.Settings["flush_interval"], "a flag overrides the file, by key")
	require.Contains(t, o.Slap.Settings, "l0_max_ssts")
}

func TestConfigFileThatIsEmptySetsNothing(t *testing.T) {
	_, err := ParseOptions(good("--config", configFile(t, "")), io.Discard)
	require.NoError(t, err)
}

func TestConfigFileRefuses(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"shard: 4", `unknown key "shard": did you mean "shards"?`},
		{"lease-ttl: 3s", "unknown key"},
		{"colour: red", `unknown key "colour"`},
		{"config: other", `unknown key "config"`},
		{"settings: {l0_max_sst: 3}", `did you mean "l0_max_ssts"?`},
		{"settings: {flush_interval: 0s}", "flush_interval must be above 0"},
		{"settings: 5", "settings must be an object"},
		{"strategy_options: {backoff: 1s}", "strategy_options"},
		{"strategy: paxos", `--strategy "paxos" is unknown`},
		{"call_timeout: 0s", "call_timeout must not be 0s"},
		{"call_timeout: 5", "call_timeout must be a duration"},
		{"max_pending:", "max_pending"},
		{"flush_interval: 5", `key "flush_interval": "5" does not fit: it is no duration such as 100ms`},
		{"shards: 0", "--shards must not be 0"},
		{"shards: many", `--shards must be a whole number, not "many"`},
		{"shards:", `key "shards"`},
		{"shards: ~", `key "shards"`},
		{"shards: {a: 1}", `key "shards"`},
		{"peers: [[a]]", `key "peers"`},
		{"peers: [a]", `peer "a" has no address`},
		{"name: ''\n", "--name is empty"},
		{"shards: 1\nshards: 2", "shards"},
		{"[1, 2]", "mapping"},
		{"a: b: c", "neither YAML nor JSON"},
		{"lease_ttl: 0s", "--lease-ttl is 0s"},
	} {
		t.Run(c.text, func(t *testing.T) {
			path := configFile(t, c.text)
			arguments := []string{
				"--listen", "127.0.0.1:1", "--http", "127.0.0.1:2", "--store", "memory:///", "--config", path,
			}
			if !strings.HasPrefix(c.text, "name:") {
				arguments = append(arguments, "--name", "a")
			}
			_, err := ParseOptions(arguments, io.Discard)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "flags:")
		})
	}
}
