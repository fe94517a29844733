package slap_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
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
		{"no store", func(c *slap.Config) { c.Store = store.Store{} }, []string{"Store", "required"}},
		{"a directory without a path", func(c *slap.Config) { c.Store = store.Dir("") }, []string{"Store", "path"}},
		{"a bucket without a name", func(c *slap.Config) { c.Store = store.S3(store.S3Options{}) }, []string{"Store", "ucket"}},
		{"no shards", func(c *slap.Config) { c.Shards = 0 }, []string{"Shards", "0"}},
		{"negative shards", func(c *slap.Config) { c.Shards = -3 }, []string{"Shards", "-3"}},
		{"shards without number", func(c *slap.Config) { c.Shards = math.MaxInt }, []string{"Shards", "1000000"}},
		{"a cluster with a slash", func(c *slap.Config) { c.Cluster = "a/b" }, []string{"Cluster", "a/b"}},
		{"a cluster that is no text", func(c *slap.Config) { c.Cluster = "a\xff" }, []string{"Cluster", `\xff`}},
		{"a name with an @", func(c *slap.Config) { c.Name = "a@b" }, []string{"Name", "a@b"}},
		{"a long name", func(c *slap.Config) { c.Name = strings.Repeat("a", 64) }, []string{"Name", "63"}},
		{"an absolute path", func(c *slap.Config) { c.Path = "/a" }, []string{"Path", "/a"}},
		{"a path with a slash at its end", func(c *slap.Config) { c.Path = "a/" }, []string{"Path", "a/"}},
		{"a path that leads up", func(c *slap.Config) { c.Path = "a/../b" }, []string{"Path", ".."}},
		{"a path with a control character", func(c *slap.Config) { c.Path = "a\x00" }, []string{"Path", "control"}},
		{"a long path", func(c *slap.Config) { c.Path = strings.Repeat("a/", 300) + "a" }, []string{"Path", "longer"}},
		{"two caches", func(c *slap.Config) { c.Cache = slap.Cache{Bytes: 1, Disabled: true} }, []string{"Cache", "Disabled", "Bytes"}},
		{"negative MaxPending", func(c *slap.Config) { c.MaxPending = -1 }, []string{"MaxPending", "-1"}},
		{"an unknown probe", func(c *slap.Config) { c.Probe = 7 }, []string{"Probe", "7"}},
		{"negative CallTimeout", func(c *slap.Config) { c.CallTimeout = -1 }, []string{"CallTimeout"}},
		{"negative OpenTimeout", func(c *slap.Config) { c.OpenTimeout = -1 }, []string{"OpenTimeout"}},
		{"endless CloseTimeout", func(c *slap.Config) { c.CloseTimeout = math.MaxInt64 }, []string{"CloseTimeout"}},
		{"negative DrainTimeout", func(c *slap.Config) { c.DrainTimeout = -time.Second }, []string{"DrainTimeout", "-1s"}},
		{"a shard too many", shardsOf(0, 4), []string{"Strategy", "Shards", "4"}},
		{"a shard twice", shardsOf(1, 1), []string{"Strategy", "Shards", "twice"}},
		{"a nil strategy", func(c *slap.Config) { c.Strategy = (*local.Local)(nil) }, []string{"Strategy", "nil"}},
		{"a nil meter provider", func(c *slap.Config) { c.MeterProvider = (*metric.MeterProvider)(nil) }, []string{"MeterProvider", "nil"}},
		{"an unknown setting", settings("l0_max_sst", 1), []string{"Settings", "l0_max_sst"}},
		{"a setting that hangs", settings("l0_max_ssts", 0), []string{"Settings", "l0_max_ssts"}},
		{"a setting that is no JSON", settings("l0_max_ssts", make(chan int)), []string{"Settings", "l0_max_ssts"}},
		{"limited retries", settings("object_store_max_retries", 3), []string{"Settings", "object_store_max_retries"}},
		{"limited retries below", settings("compactor_options", map[string]any{"object_store_max_retries": 3}), []string{"compactor_options.object_store_max_retries"}},
		{"no log", settings("wal_enabled", false), []string{"Settings", "wal_enabled"}},
		{"flush_interval 0", settings("flush_interval", "0s"), []string{"Settings", "flush_interval"}},
		{"flush_interval below 0", settings("flush_interval", -time.Second), []string{"Settings", "flush_interval"}},
		{"flush_interval without unit", settings("flush_interval", "100"), []string{"Settings", "flush_interval"}},
		{"flush_interval as a number", settings("flush_interval", 100), []string{"Settings", "flush_interval"}},
	} {
		config := slap.Config{Store: store.Memory(), Shards: 4}
		c.set(&config)
		_, err := slap.New(config)
		if err == nil {
			t.Errorf("%s: taken", c.name)
			continue
		}
		for _, word := range append(c.says, "slap: ") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %q", c.name, err, word)
			}
		}
		if strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %q", c.name, err)
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
