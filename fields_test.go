package slap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/internal/source"
	"github.com/slap-go/slap/store"
)

// A field that somebody adds has to say what it keeps to and whether it has a key.
func TestEveryFieldIsInTheTable(t *testing.T) {
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
		if f.key != "" && f.key != source.Snake(f.name) {
			t.Errorf("%s has the key %s", f.name, f.key)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if f.IsExported() && !slices.Contains(known, f.Name) {
			t.Errorf("%s is not in the table", f.Name)
		}
	}
	if want := reflect.TypeFor[Config]().NumField() - 2; len(known) != want { // all but noRetries and clusterID
		t.Errorf("%d fields in the table, %d in Config", len(known), want)
	}
}

func effective(t *testing.T, c Config) Config {
	t.Helper()
	c, err := withDefaults(c)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCFG4_CFG5_CFG7_Defaults(t *testing.T) {
	c := effective(t, Config{Store: store.Memory(), Shards: 1})
	if c.CloseTimeout != 30*time.Second || c.LagInterval != time.Second {
		t.Errorf("close timeout %v, lag interval %v", c.CloseTimeout, c.LagInterval)
	}
	if c.Path != "" || c.Probe != ProbeBlocking || c.ChildOptions != nil || c.ShardChildren != nil || fmt.Sprintf("%T", c.Strategy) != "*local.Local" {
		t.Errorf("%+v", c)
	}
	if c.Cache != (Cache{}) {
		t.Errorf("cache %+v", c.Cache)
	}
	if c.Retries != 3 || c.MaxPending != 10_000 || c.Name != "local" {
		t.Errorf("%+v", c)
	}
}

func TestSPEC2_RetriesByKeyMayBeNone(t *testing.T) {
	base := Config{Store: store.Memory(), Shards: 1}
	for _, c := range []struct {
		name string
		s    Sources
		want int
	}{
		{"nobody says anything", Sources{}, DefaultRetries},
		{"none by flag", Sources{Flags: map[string]string{"retries": "0"}}, 0},
		{"none over some", Sources{Defaults: Config{Retries: 5}, Flags: map[string]string{"retries": "0"}}, 0},
		{"some over none", Sources{Defaults: Config{noRetries: true}, Options: Config{Retries: 5}}, 5},
		{"none kept", Sources{Defaults: Config{noRetries: true}, Options: Config{Name: "a"}}, 0},
		{"none of a Config that was loaded before", Sources{Defaults: Config{Retries: 5}, Options: Config{noRetries: true}}, 0},
	} {
		merged, err := c.s.Load()
		if err != nil {
			t.Fatal(err)
		}
		merged.Store, merged.Shards = base.Store, base.Shards
		if got := effective(t, merged).Retries; got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestSPEC2_AdvertiseIsWhatListenSaysIfOthersCanCallThat(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:7001": "127.0.0.1:7001", "localhost:7001": "localhost:7001", "[::1]:7001": "[::1]:7001",
		":7001": "", "0.0.0.0:7001": "", "[::]:7001": "", "127.0.0.1:0": "", "": "",
	} {
		c := effective(t, Config{Store: store.Memory(), Shards: 1, Listen: listen, InsecureListen: true})
		if c.Advertise != want {
			t.Errorf("%q: %q, want %q", listen, c.Advertise, want)
		}
	}
	c := effective(t, Config{Store: store.Memory(), Shards: 1, Listen: "127.0.0.1:7001", Advertise: "b.example:7001"})
	if c.Advertise != "b.example:7001" {
		t.Errorf("%q", c.Advertise)
	}
}

func TestNothingOfTheCallersIsShared(t *testing.T) {
	worker := map[string]any{"max_fetch_tasks": 2}
	settings := map[string]any{"flush_interval": "7ms", "compactor_options": map[string]any{"worker": worker}}
	handlers := map[string]Handler{"a": func(context.Context, *Shard, proto.Message) (proto.Message, error) { return nil, nil }}
	c := effective(t, Config{Store: store.Memory(), Shards: 1, Settings: settings, Handlers: handlers})
	worker["max_fetch_tasks"] = 0
	settings["flush_interval"] = "0s"
	handlers["a"] = nil
	handlers["b"] = nil
	if got := fmt.Sprint(c.Settings); got != "map[compactor_options:map[worker:map[max_fetch_tasks:2]] flush_interval:7ms]" {
		t.Errorf("settings %s", got)
	}
	if len(c.Handlers) != 1 || c.Handlers["a"] == nil {
		t.Errorf("handlers %v", c.Handlers)
	}
}

func TestCFG9_AMergeOperatorMayBeParticular(t *testing.T) {
	for name, operator := range map[string]func(key, existing, operand []byte) ([]byte, error){
		"takes everything": func(_, existing, operand []byte) ([]byte, error) { return append(existing, operand...), nil },
		"refuses all":      func(_, _, _ []byte) ([]byte, error) { return nil, errors.New("not mine") },
		"takes numbers":    func(_, _, operand []byte) ([]byte, error) { return operand[:8], nil },
		"takes digits":     func(_, _, operand []byte) ([]byte, error) { return []byte{operand[0] - '0'}, nil },
	} {
		if err := (&Config{MergeOperator: operator}).checkMergeOperator("MergeOperator"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCFG12_TheValidationSeesTheOptionsOnce(t *testing.T) {
	calls := 0
	c := Config{Store: store.Memory(), Shards: 1, ChildOptions: 5, ValidateChildOptions: func(options any) error {
		calls++
		if options != 5 {
			t.Errorf("it sees %v", options)
		}
		return nil
	}}
	if _, err := New(c); err != nil || calls != 1 {
		t.Errorf("%v, %d calls", err, calls)
	}
	wrong := errors.New("wrong")
	c.ValidateChildOptions = func(any) error { return wrong }
	if _, err := New(c); !errors.Is(err, wrong) {
		t.Errorf("%v", err)
	}
}

// keyRow is a row of a table of keys in docs/configuration.md.
var keyRow = regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| ([^|]*) \\|")

// The page names every key, and no other, with the default that it has.
func TestTheConfigurationPageIsInStepWithTheCode(t *testing.T) {
	page, err := os.ReadFile("docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	for _, row := range keyRow.FindAllStringSubmatch(string(page), -1) {
		written[row[1]] = strings.Trim(row[2], " `")
	}
	for key, byDefault := range documented(t) {
		said, ok := written[key]
		if !ok {
			t.Errorf("the page lacks %s", key)
		}
		if byDefault != "" && said != byDefault {
			t.Errorf("the page says that the default of %s is %q, it is %q", key, said, byDefault)
		}
		delete(written, key)
	}
	for key := range written {
		t.Errorf("the page names %s, which is no key", key)
	}
}

// documented are all keys with their defaults, empty for a zero, which the page puts
// into words.
func documented(t *testing.T) map[string]string {
	defaults := reflect.ValueOf(effective(t, Config{Store: store.Memory(), Shards: 1}))
	all := map[string]string{}
	for _, f := range fields {
		value := defaults.FieldByName(f.name)
		switch {
		case f.key == "" || f.name == "Cache" || f.name == "TLS":
		case f.name == "Store", f.name == "Shards":
			all[f.key] = "required"
		case f.name == "Strategy", f.name == "ChildOptions", f.name == "Settings", f.name != "Probe" && value.IsZero():
			all[f.key] = ""
		default:
			all[f.key] = fmt.Sprint(value)
		}
	}
	for _, key := range source.KeysOf(reflect.TypeFor[Cache]()) {
		all["cache."+key] = ""
	}
	for _, key := range source.KeysOf(reflect.TypeFor[tlsFiles]()) {
		all["tls."+key] = ""
	}
	for _, s := range strategies {
		for _, key := range source.KeysOf(s.options) {
			all[strategyOptions+"."+key] = ""
		}
	}
	return all
}

// The example of the page is a file that is taken as it is.
func TestTheConfigurationPagesExampleLoads(t *testing.T) {
	page, err := os.ReadFile("docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("no example")
	}
	path := t.TempDir() + "/example.yaml"
	if err := os.WriteFile(path, block[1], 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Sources{File: path}.Load()
	if err != nil {
		t.Fatal(err)
	}
	effective(t, c)
	for _, line := range regexp.MustCompile("(?m)^(APP_[A-Z_]+)=(.+)$").FindAllStringSubmatch(string(page), -1) {
		t.Setenv(line[1], line[2])
	}
	if c, err = (Sources{File: path, Env: "APP"}).Load(); err != nil {
		t.Fatal(err)
	}
	effective(t, c)
}
