package slap_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/local"
)

func settings(key string, value any) func(*slap.Config) {
	return func(c *slap.Config) { c.Settings = map[string]any{key: value} }
}

func shardsOf(shards ...int) func(*slap.Config) {
	return func(c *slap.Config) {
		s, err := local.New(local.Options{Shards: shards})
		if err != nil {
			panic(err)
		}
		c.Strategy = s
	}
}

func TestCFG_EveryBadFieldIsOneSentenceFromNewThatNamesIt(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*slap.Config)
		says []string
	}{
		{"CFG-1: no store", func(c *slap.Config) { c.Store = store.Store{} }, []string{"Store", "required"}},
		{"CFG-1, CFG-2: no shards", func(c *slap.Config) { c.Shards = 0 }, []string{"Shards", "0"}},
		{"CFG-2: negative shards", func(c *slap.Config) { c.Shards = -3 }, []string{"Shards", "-3"}},
		{"CFG-2: shards without number", func(c *slap.Config) { c.Shards = math.MaxInt }, []string{"Shards", "1000000"}},
		{"CFG-8: a directory without a path", func(c *slap.Config) { c.Store = store.Dir("") }, []string{"Store", "path"}},
		{"CFG-8: a bucket without a name", func(c *slap.Config) { c.Store = store.S3(store.S3Options{}) }, []string{"Store", "ucket"}},

		{"a cluster with a slash", func(c *slap.Config) { c.Cluster = "a/b" }, []string{"Cluster", "a/b"}},
		{"a cluster that is no text", func(c *slap.Config) { c.Cluster = "a\xff" }, []string{"Cluster", `\xff`}},
		{"LL-18: a name with an @", func(c *slap.Config) { c.Name = "a@b" }, []string{"Name", "a@b"}},
		{"a long name", func(c *slap.Config) { c.Name = strings.Repeat("a", 64) }, []string{"Name", "63"}},
		{"a name that is a URL", func(c *slap.Config) { c.Name = "s3://KEY:SECRET@b" }, []string{"Name", "URL"}},
		{"CFG-7: an absolute path", func(c *slap.Config) { c.Path = "/a" }, []string{"Path", "/a"}},
		{"a path with a slash at its end", func(c *slap.Config) { c.Path = "a/" }, []string{"Path", "a/"}},
		{"a path that leads up", func(c *slap.Config) { c.Path = "a/../b" }, []string{"Path", ".."}},
		{"a path with a control character", func(c *slap.Config) { c.Path = "a\x00" }, []string{"Path", "control"}},
		{"a long path", func(c *slap.Config) { c.Path = strings.Repeat("a/", 300) + "a" }, []string{"Path", "longer"}},
		{"a path that is a URL", func(c *slap.Config) { c.Path = "s3://KEY:SECRET@b" }, []string{"Path", "URL"}},

		{"CFG-5: two caches", func(c *slap.Config) { c.Cache = slap.Cache{Bytes: 1, Disabled: true} }, []string{"Cache", "Disabled", "Bytes"}},
		{"CFG-5: an endless cache", func(c *slap.Config) { c.Cache.Bytes = math.MaxUint64 }, []string{"Cache", "Bytes", "at most"}},
		{"an address without a port", func(c *slap.Config) { c.Listen = "10.0.0.7" }, []string{"Listen", `"10.0.0.7"`, "host:port"}},
		{"an address with a strange port", func(c *slap.Config) { c.Listen = "10.0.0.7:http" }, []string{"Listen", "port from 0 to 65535"}},
		{"an address that is a URL", func(c *slap.Config) { c.Listen = "http://KEY:SECRET@b:1" }, []string{"Listen", "URL", "host:port"}},
		{"an address that nobody can call", func(c *slap.Config) { c.Advertise = "0.0.0.0:7001" }, []string{"Advertise", "that others can call"}},
		{"an address without a host", func(c *slap.Config) { c.Advertise = ":7001" }, []string{"Advertise", "that others can call"}},
		{"an address with any port", func(c *slap.Config) { c.Advertise = "b:0" }, []string{"Advertise", "that others can call"}},
		{"P7.3: a peer twice", func(c *slap.Config) { c.Peers = peers.Static("a=h:1", "a=h:2") }, []string{"Peers", `"a"`, "twice"}},
		{"P7.3: no function of peers", func(c *slap.Config) { c.Peers = peers.Func(nil) }, []string{"Peers", "nil"}},
		{"P7.4: Listen beside a system", beside(func(c *slap.Config) { c.Listen = "127.0.0.1:7001" }), []string{"Listen", "System"}},
		{"P7.4: Advertise beside a system", beside(func(c *slap.Config) { c.Advertise = "b:7001" }), []string{"Advertise", "System"}},
		{"all addresses without TLS", func(c *slap.Config) { c.Listen = ":7001" }, []string{"Listen", "TLS", "InsecureListen"}},
		{"an outer address without TLS", func(c *slap.Config) { c.Listen = "10.0.0.7:7001" }, []string{"Listen", "TLS", "InsecureListen"}},
		{"a name that may be anything without TLS", func(c *slap.Config) { c.Listen = "b.example:7001" }, []string{"Listen", "TLS", "InsecureListen"}},
		{"TLS without a certificate", secured(func(t *tls.Config) { t.Certificates = nil }), []string{"TLS lacks Certificates"}},
		{"TLS without authorities for servers", secured(func(t *tls.Config) { t.RootCAs = nil }), []string{"TLS lacks RootCAs"}},
		{"TLS without authorities for clients", secured(func(t *tls.Config) { t.ClientCAs = nil }), []string{"TLS lacks ClientCAs"}},
		{"TLS that checks no server", secured(func(t *tls.Config) { t.InsecureSkipVerify = true }), []string{"TLS", "InsecureSkipVerify"}},
		{"TLS that checks no client", secured(func(t *tls.Config) { t.ClientAuth = tls.RequestClientCert }), []string{"TLS", "ClientAuth", "RequireAndVerifyClientCert"}},

		{"several nodes without a cluster", amongNodes(func(c *slap.Config) { c.Cluster = "" }), []string{"Cluster is required"}},
		{"several nodes without a name", amongNodes(func(c *slap.Config) { c.Name = "" }), []string{"Name is required"}},
		{"several nodes without an address", amongNodes(func(c *slap.Config) { c.Listen = "" }), []string{"Listen is required"}},
		{"several nodes without a way", amongNodes(func(c *slap.Config) { c.Listen, c.InsecureListen = ":7001", true }), []string{"Advertise is required", `":7001"`}},
		{"several nodes without peers", amongNodes(func(c *slap.Config) { c.Peers = peers.Source{} }), []string{"Peers is required", "TrustLeases"}},
		{"P7.3: static nodes without addresses", amongNodes(func(c *slap.Config) { c.Strategy = nodes{named: true} }), []string{"Peers lacks", "add b=host:port and c=host:port"}},
		{"P7.3: static nodes by DNS alone", amongNodes(func(c *slap.Config) {
			c.Strategy, c.Peers = nodes{named: true}, peers.DNS("nodes.example:7001")
		}), []string{"Peers lacks", "b=host:port"}},
		{"P7.3: static nodes whose leases are trusted", amongNodes(func(c *slap.Config) {
			c.Strategy, c.TrustLeases, c.Peers = nodes{named: true}, true, peers.Source{}
		}), []string{"Peers lacks"}},
		{"P11.2: reads under leases beside wall clocks", amongNodes(func(c *slap.Config) { c.Strategy, c.LeaseReads = nodes{clocks: true}, true }), []string{"LeaseReads", "MaxClockSkew"}},
		{"CFG-10: a strategy that panics as it is asked of others", func(c *slap.Config) { c.Strategy = nodes{panics: true} }, []string{"Strategy: panicked: as told"}},

		{"negative MaxPending", func(c *slap.Config) { c.MaxPending = -1 }, []string{"MaxPending", "-1"}},
		{"endless MaxPending", func(c *slap.Config) { c.MaxPending = math.MaxInt }, []string{"MaxPending", "1073741824"}},
		{"negative Retries", func(c *slap.Config) { c.Retries = -1 }, []string{"Retries", "-1"}},
		{"endless Retries", func(c *slap.Config) { c.Retries = math.MaxInt }, []string{"Retries", "100"}},
		{"CFG-7: an unknown probe", func(c *slap.Config) { c.Probe = 7 }, []string{"Probe", "7"}},

		{"negative CallTimeout", func(c *slap.Config) { c.CallTimeout = -1 }, []string{"CallTimeout", "-1ns"}},
		{"endless CallTimeout", func(c *slap.Config) { c.CallTimeout = math.MaxInt64 }, []string{"CallTimeout", "8760h"}},
		{"negative RetryDelay", func(c *slap.Config) { c.RetryDelay = -1 }, []string{"RetryDelay", "-1ns"}},
		{"endless RetryDelay", func(c *slap.Config) { c.RetryDelay = math.MaxInt64 }, []string{"RetryDelay", "8760h"}},
		{"negative OpenTimeout", func(c *slap.Config) { c.OpenTimeout = -1 }, []string{"OpenTimeout", "-1ns"}},
		{"endless OpenTimeout", func(c *slap.Config) { c.OpenTimeout = slap.MaxTimeout + 1 }, []string{"OpenTimeout", "8760h"}},
		{"CFG-4: negative CloseTimeout", func(c *slap.Config) { c.CloseTimeout = -time.Second }, []string{"CloseTimeout", "-1s"}},
		{"CFG-4: endless CloseTimeout", func(c *slap.Config) { c.CloseTimeout = math.MaxInt64 }, []string{"CloseTimeout", "8760h"}},
		{"negative DrainTimeout", func(c *slap.Config) { c.DrainTimeout = -time.Second }, []string{"DrainTimeout", "-1s"}},
		{"endless DrainTimeout", func(c *slap.Config) { c.DrainTimeout = math.MaxInt64 }, []string{"DrainTimeout", "8760h"}},
		{"CFG-4: negative LagInterval", func(c *slap.Config) { c.LagInterval = -1 }, []string{"LagInterval", "-1ns"}},
		{"CFG-4: endless LagInterval", func(c *slap.Config) { c.LagInterval = math.MaxInt64 }, []string{"LagInterval", "8760h"}},

		{"a handler without a name", handler("", nothing), []string{"Handlers", "empty name"}},
		{"a handler with a name that is no text", handler("a\xff", nothing), []string{"Handlers", `\xff`}},
		{"a nil handler", handler("count", nil), []string{"Handlers", `"count" is nil`}},
		{"an empty system", func(c *slap.Config) { c.System = &actor.ActorSystem{} }, []string{"System", "NewActorSystem"}},
		{"a system that was shut down", stoppedSystem, []string{"System", "shut down"}},
		{"an empty logger", func(c *slap.Config) { c.Logger = &slog.Logger{} }, []string{"Logger", "slog.New"}},
		{"a nil meter provider", func(c *slap.Config) { c.MeterProvider = (*metric.MeterProvider)(nil) }, []string{"MeterProvider", "nil"}},
		{"a nil tracer provider", func(c *slap.Config) { c.TracerProvider = (*tracers)(nil) }, []string{"TracerProvider", "nil"}},

		{"CFG-9: a merge operator of a nil pointer", func(c *slap.Config) { c.MergeOperator = (*merger)(nil).merge }, []string{"MergeOperator panicked", "nil pointer"}},
		{"CFG-9: a merge operator that is not there yet", func(c *slap.Config) {
			c.MergeOperator = func(_, _, _ []byte) ([]byte, error) { panic("not\nyet") }
		}, []string{"MergeOperator panicked: not yet"}},
		{"CFG-12: child options that are wrong", validate(func(any) error { return errors.New("limit must be above 0") }), []string{"ChildOptions: limit must be above 0"}},
		{"CFG-12: a validation that panics", validate(func(o any) error { return o.(error) }), []string{"ValidateChildOptions panicked", "interface conversion"}},

		{"CFG-10: a shard too many", shardsOf(0, 4), []string{"Strategy", "Shards", "4"}},
		{"CFG-10: a shard twice", shardsOf(1, 1), []string{"Strategy", "Shards", "twice"}},
		{"CFG-11: a nil strategy", func(c *slap.Config) { c.Strategy = (*local.Local)(nil) }, []string{"Strategy", "nil"}},
		{"CFG-10: a strategy that panics as it is asked", func(c *slap.Config) { c.Strategy = panicky{} }, []string{"Strategy: panicked: as told twice"}},

		{"CFG-6: an unknown setting", settings("l0_max_sst", 1), []string{"Settings", "l0_max_sst", `"l0_max_ssts"`}},
		{"CFG-6: an unknown setting deep down", settings("compactor_options", map[string]any{"worker": map[string]any{"max_fetch": 1}}), []string{"Settings", "compactor_options.worker.max_fetch"}},
		{"CFG-6: a setting that hangs", settings("l0_max_ssts", 0), []string{"Settings", "l0_max_ssts"}},
		{"CFG-6: settings that hang together", settings("max_unflushed_bytes", 1<<20), []string{"Settings", "max_unflushed_bytes", "l0_sst_size_bytes"}},
		{"CFG-6: a setting of the wrong type", settings("l0_max_ssts", "many"), []string{"Settings", "l0_max_ssts", "whole number"}},
		{"CFG-6: an object that is none", settings("compactor_options", 5), []string{"Settings", "compactor_options", "object"}},
		{"CFG-6: a setting that is no JSON", settings("l0_max_ssts", make(chan int)), []string{"Settings", "l0_max_ssts", "chan int"}},
		{"CFG-6: a setting inside itself", insideItself, []string{"Settings", "compactor_options.compactor_options", "deeper"}},
		{"limited retries", settings("object_store_max_retries", 3), []string{"Settings", "object_store_max_retries"}},
		{"limited retries below", settings("compactor_options", map[string]any{"object_store_max_retries": 3}), []string{"compactor_options.object_store_max_retries"}},
		{"limited retries in a map of another type", settings("compactor_options", map[string]int{"object_store_max_retries": 3}), []string{"compactor_options.object_store_max_retries"}},
		{"no log", settings("wal_enabled", false), []string{"Settings", "wal_enabled"}},
		{"flush_interval 0", settings("flush_interval", "0s"), []string{"Settings", "flush_interval"}},
		{"flush_interval below 0", settings("flush_interval", -time.Second), []string{"Settings", "flush_interval"}},
		{"flush_interval without end", settings("flush_interval", time.Duration(math.MaxInt64)), []string{"Settings", "flush_interval", "8760h"}},
		{"CFG-6: flush_interval without a meaning", settings("flush_interval", "bogus"), []string{"Settings", "flush_interval", "bogus"}},
		{"flush_interval without unit", settings("flush_interval", "100"), []string{"Settings", "flush_interval"}},
		{"flush_interval as a number", settings("flush_interval", 100), []string{"Settings", "flush_interval"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := slap.Config{Store: store.Memory(), Shards: 4}
			c.set(&config)
			_, err := slap.New(config)
			if err == nil {
				t.Fatal("taken")
			}
			for _, word := range append(c.says, "slap: ") {
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

func handler(name string, h slap.Handler) func(*slap.Config) {
	return func(c *slap.Config) { c.Handlers = map[string]slap.Handler{name: h} }
}

func nothing(context.Context, *slap.Shard, proto.Message) (proto.Message, error) { return nil, nil }

func validate(f func(any) error) func(*slap.Config) {
	return func(c *slap.Config) { c.ChildOptions, c.ValidateChildOptions = 5, f }
}

func stoppedSystem(c *slap.Config) {
	c.System = actor.NewActorSystem()
	c.System.Shutdown()
}

// insideItself is a cycle.
func insideItself(c *slap.Config) {
	c.Settings = map[string]any{}
	c.Settings["compactor_options"] = c.Settings
}

type merger struct{ calls int }

func (m *merger) merge(_, _, operand []byte) ([]byte, error) {
	m.calls++
	return operand, nil
}

type tracers struct{ trace.TracerProvider }

// panicky is a strategy that panics when its options are checked.
type panicky struct{ strategy.Strategy }

func (panicky) Validate(strategy.Cluster) error { panic("as\ntold\ntwice") }

// nodes is a strategy of the nodes a, b and c.
type nodes struct {
	strategy.Strategy

	named, clocks, panics bool
}

func (n nodes) Others(self string) (several bool, named []string) {
	if n.panics {
		panic("as told")
	}
	for _, name := range []string{"a", "b", "c"} {
		if n.named && name != self {
			named = append(named, name)
		}
	}
	return true, named
}

func (n nodes) TrustsWallClocks() bool { return n.clocks }

// amongNodes is a change of a node that has others.
func amongNodes(change func(*slap.Config)) func(*slap.Config) {
	return func(c *slap.Config) {
		c.Cluster, c.Name, c.Listen, c.Strategy = "c", "a", "127.0.0.1:7001", nodes{}
		c.Peers = peers.Static("b.example:7001", "d=d.example:7001")
		change(c)
	}
}

func beside(change func(*slap.Config)) func(*slap.Config) {
	return func(c *slap.Config) {
		c.System = actor.NewActorSystem()
		change(c)
	}
}

// secured is a change of a TLS that is fit.
func secured(change func(*tls.Config)) func(*slap.Config) {
	return func(c *slap.Config) {
		c.Listen = ":7001"
		c.TLS = &tls.Config{
			Certificates: make([]tls.Certificate, 1), RootCAs: x509.NewCertPool(), ClientCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13,
		}
		change(c.TLS)
	}
}

func TestSPEC2_WhatANodeAmongOthersNeedsIsEnough(t *testing.T) {
	function := peers.Func(func(context.Context) ([]peers.Peer, error) { return nil, nil })
	for name, set := range map[string]func(*slap.Config){
		"peers":                           func(*slap.Config) {},
		"peers by DNS":                    func(c *slap.Config) { c.Peers = peers.DNS("nodes.example:7001") },
		"trusted leases":                  func(c *slap.Config) { c.Peers, c.TrustLeases = peers.Source{}, true },
		"named peers":                     func(c *slap.Config) { c.Strategy, c.Peers = nodes{named: true}, peers.Static("b=h:1", "c=h:2") },
		"a function for named peers":      func(c *slap.Config) { c.Strategy, c.Peers = nodes{named: true}, function },
		"an IPv6 loopback":                func(c *slap.Config) { c.Listen = "[::1]:7001" },
		"a loopback by name":              func(c *slap.Config) { c.Listen = "localhost:7001" },
		"an outer address":                func(c *slap.Config) { c.Listen, c.InsecureListen = "10.0.0.7:7001", true },
		"all addresses, one told":         func(c *slap.Config) { c.Listen, c.Advertise, c.InsecureListen = ":0", "b.example:7001", true },
		"TLS":                             secured(func(t *tls.Config) { t.ClientAuth = tls.RequireAndVerifyClientCert }),
		"a system":                        beside(func(c *slap.Config) { c.Listen = "" }),
		"reads under leases":              func(c *slap.Config) { c.LeaseReads = true },
		"wall clocks":                     func(c *slap.Config) { c.Strategy = nodes{clocks: true} },
		"nothing, for it is alone":        func(c *slap.Config) { *c = slap.Config{Store: c.Store, Shards: 1} },
		"reads under leases without them": func(c *slap.Config) { *c = slap.Config{Store: c.Store, Shards: 1, LeaseReads: true} },
	} {
		config := slap.Config{Store: store.Memory(), Shards: 4}
		amongNodes(set)(&config)
		if config.TLS != nil {
			config.Advertise = "b.example:7001"
		}
		if _, err := slap.New(config); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCFG_GoodFieldsAreTaken(t *testing.T) {
	s, err := local.New(local.Options{Shards: []int{3, 0}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = slap.New(slap.Config{
		Store: store.Memory(), Shards: 4, Cluster: "a.b_c-1", Name: strings.Repeat("a", 63), Path: "a/b c", Strategy: s,
		Cache: slap.Cache{Bytes: 1 << 20}, Probe: slap.ProbeOff, CloseTimeout: slap.MaxTimeout,
		Settings: map[string]any{"flush_interval": time.Hour, "wal_enabled": true},
	})
	if err != nil {
		t.Error(err)
	}
}

// The width of a shard's number depends on the count alone.
func TestCFG14_WhereAShardsDatabaseLives(t *testing.T) {
	for _, c := range []struct {
		shards, open int
		path, at     string
	}{
		{1, 0, "", "shard-000"},
		{64, 7, "", "shard-007"},
		{1000, 999, "a/b", "a/b/shard-999"},
		{1001, 7, "", "shard-0007"},
		{5000, 7, "streams", "streams/shard-0007"},
		{slap.MaxShards, 7, "", "shard-000007"},
	} {
		dir := t.TempDir()
		config := slap.Config{Store: store.Dir(dir), Shards: c.shards, Path: c.path, Probe: slap.ProbeOff}
		shardsOf(c.open)(&config)
		cluster := newCluster(t, config)
		if err := cluster.Start(within(t, time.Minute)); err != nil {
			t.Fatal(err)
		}
		stopCluster(t, cluster)
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(c.path), "shard-*"))
		if want := filepath.Join(dir, filepath.FromSlash(c.at)); err != nil || len(found) != 1 || found[0] != want {
			t.Errorf("shard %d of %d lives at %v, %v; want %s", c.open, c.shards, found, err, want)
		}
		if manifests, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(c.at), "manifest")); err != nil || len(manifests) == 0 {
			t.Errorf("shard %d of %d has the manifests %v, %v", c.open, c.shards, manifests, err)
		}
	}
}
