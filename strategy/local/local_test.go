package local

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy"
)

func TestLOC8_BadShardsAreNamedBeforeTheStart(t *testing.T) {
	for _, shards := range [][]int{{-1}, {4}, {0, 1, 0}} {
		l, err := New(Options{Shards: shards})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Validate(strategy.Cluster{Shards: 4}); err == nil || !strings.Contains(err.Error(), "local strategy: Shards") {
			t.Errorf("%v: %v", shards, err)
		}
	}
	if _, err := New(Options{Shards: strategy.Range(3, 0)}); err == nil || !strings.Contains(err.Error(), "Shards is empty") {
		t.Errorf("an empty list: %v", err)
	}
}

func TestLOC8_STR3_BadOptionsAreNamed(t *testing.T) {
	for field, o := range map[string]Options{
		"BackoffBase":    {BackoffBase: -1},
		"BackoffMax":     {BackoffMax: -1},
		"MaxConcurrency": {MaxConcurrency: -1},
		"above":          {BackoffBase: 2 * time.Second, BackoffMax: time.Second},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), field) || !strings.HasPrefix(err.Error(), "local strategy: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Keys are the fields in snake_case, so that a file's unknown keys can be told.
func TestLOC8_EveryOptionHasItsKey(t *testing.T) {
	want := map[string]string{
		"Shards": "shards", "BackoffBase": "backoff_base", "BackoffMax": "backoff_max", "MaxConcurrency": "max_concurrency",
	}
	options := reflect.TypeFor[Options]()
	for i := range options.NumField() {
		if f := options.Field(i); f.Tag.Get("koanf") != want[f.Name] {
			t.Errorf("%s has the key %q, want %q", f.Name, f.Tag.Get("koanf"), want[f.Name])
		}
	}
}
