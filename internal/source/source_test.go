package source

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// options has a field of every kind.
type options struct {
	Count      int           `koanf:"count"`
	Small      int8          `koanf:"small,zero"`
	Bytes      uint64        // bytes
	Pause      time.Duration // pause
	LeaseTTL   time.Duration // lease_ttl
	On         bool          `koanf:"on"`
	Share      float64
	Word       string
	List       []int
	Mode       mode
	Nodes      map[string]mode
	Peers      []peer
	Inner      *peer
	Function   func()
	Hidden     int `koanf:"-"`
	unexported int
}

type peer struct{ Name, Address string }

// mode is a list that a text may stand for.
type mode []int

func (m *mode) UnmarshalText(text []byte) error {
	*m = mode{len(text)}
	if string(text) == "bad" {
		return os.ErrInvalid
	}
	return nil
}

func file(t *testing.T, text string) *Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := File(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDecodeTakesEveryKind(t *testing.T) {
	want := options{
		Count: 3, Small: 0, Bytes: 1 << 63, Pause: 5 * time.Second, LeaseTTL: time.Minute, On: true, Share: 2, Word: "007",
		List: []int{0, 1}, Mode: mode{3}, Nodes: map[string]mode{"a": {2}, "b": {7, 0}}, Peers: []peer{{"x", "h:1"}}, Inner: &peer{Name: "y"},
	}
	yaml := file(t, `
o:
  count: 3
  small: 0
  bytes: 9223372036854775808
  pause: 5s
  lease_ttl: 1m
  on: true
  share: 2
  word: "007"
  list: [0, 1]
  mode: abc
  nodes: {a: 17, b: [7, 0]}
  peers:
  - {name: x, address: "h:1"}
  inner: {name: y}
`)
	json := file(t, `{
	"o": {"count": 3, "small": 0, "bytes": 9223372036854775808, "pause": "5s", "lease_ttl": "1m", "on": true,
		"share": 2.0, "word": "007", "list": [0, 1], "mode": "abc", "nodes": {"a": "xx", "b": [7, 0]},
		"peers": [{"name": "x", "address": "h:1"}], "inner": {"name": "y"}}
}`)
	values := map[string]string{
		"count": "3", "small": "0", "bytes": "9223372036854775808", "pause": "5s", "lease_ttl": "1m", "on": "true", "share": "2",
		"word": "007", "list": "[0, 1]", "mode": "abc", "nodes": "{a: 17, b: [7, 0]}", "peers": `[{name: x, address: "h:1"}]`, "inner.name": "y",
	}
	given := map[string]string{}
	variables := []string{"HOME=/root", "APPLE=1"}
	for key, value := range values {
		given["o."+key] = value
		variables = append(variables, "APP_O__"+strings.ToUpper(strings.ReplaceAll(key, ".", "__"))+"="+value)
	}
	flags, err := Flags(given)
	if err != nil {
		t.Fatal(err)
	}
	environment, err := Environment("APP_", variables)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Source{"YAML": yaml, "JSON": json, "flags": flags, "environment": environment} {
		var got options
		if err := s.Decode(&got, "o"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
}

// Each value is refused in one sentence with the words beside it, which begin with
// the place and the key.
func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ yaml, says string }{
		{"count: many", `o.count must be a whole number, not "many"`},
		{"count: 1.5", "o.count must be a whole number, not 1.5"},
		{"count: 1e300", "o.count must be a whole number, not 1e+300"},
		{"count: 18446744073709551615", "o.count must be a whole number"},
		{"count: 0", "o.count must not be 0"},
		{"count: true", "o.count must be a whole number, not true"},
		{"count: ", "o.count has no value"},
		{"count: [1]", "o.count must be a whole number, not a list"},
		{"count: {a: 1}", "o.count must be a whole number, not further keys"},
		{"small: 128", "o.small must be a whole number"},
		{"bytes: -1", "o.bytes must be a whole number of at least 0, not -1"},
		{"bytes: 0", "o.bytes must not be 0"},
		{"pause: 5", `o.pause must be a duration such as "5s", not 5`},
		{"pause: soon", `o.pause must be a duration such as "5s", not "soon"`},
		{"pause: 0s", "o.pause must not be 0s"},
		{"on: yes please", "o.on must be true or false"},
		{"share: .nan", "o.share must be a number, not NaN"},
		{"share: much", "o.share must be a number"},
		{"word: 7", "o.word must be text: put it in quotes, not 7"},
		{"word: [a]", "o.word must be text, not a list"},
		{"word: ~", "o.word has no value"},
		{"list: 1", "o.list must be a list"},
		{"list: [a]", `o.list[0] must be a whole number, not "a"`},
		{"list: [1, ~]", "o.list[1] has no value"},
		{"mode: bad", "o.mode: invalid argument"},
		{"mode: {a: 1}", "o.mode must be text, not further keys"},
		{"mode: 1.5", "o.mode must be text, not float64"},
		{"nodes: {a: bad}", "invalid argument"},
		{"nodes: {a: ~}", "o.nodes.a has no value"},
		{"peers: [{nam: x}]", `unknown key "o.peers[0].nam": did you mean "o.peers[0].name"?`},
		{"peers: [{name: 1}]", "o.peers[0].name must be text"},
		{"peers: [5]", "o.peers[0] must be an object of further keys, not 5"},
		{"inner: {addresx: x}", `unknown key "o.inner.addresx": did you mean "o.inner.address"?`},
		{"inner: {x: 1}", `unknown key "o.inner.x": the keys there are address, name`},
		{"coumt: 1", `unknown key "o.coumt": did you mean "o.count"?`},
		{"Count: 1", `unknown key "o.Count": did you mean "o.count"?`},
		{"hidden: 1", `unknown key "o.hidden"`},
		{"unexported: 1", `unknown key "o.unexported"`},
		{"function: 1", `unknown key "o.function"`},
		{"s3://KEY:SECRET@b/p: 1", "a key is no word"},
		{"count: s3://KEY:SECRET@b/p", "o.count must be a whole number, not a URL"},
	} {
		var o options
		err := file(t, "# a comment\no:\n  "+c.yaml+"\n").Decode(&o, "o")
		switch {
		case err == nil:
			t.Errorf("%s: taken as %+v", c.yaml, o)
		case !strings.Contains(err.Error(), "app.yaml:3: ") || !strings.Contains(err.Error(), c.says):
			t.Errorf("%s: %v; want the line and %q", c.yaml, err, c.says)
		case strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "SECRET"):
			t.Errorf("%s: %q", c.yaml, err)
		}
	}
	var o options
	if err := file(t, "o: 5").Decode(&o, "o"); err == nil || !strings.Contains(err.Error(), "o must be an object of further keys, not 5") {
		t.Errorf("%v", err)
	}
	if o.unexported != 0 {
		t.Error("an unexported field was set")
	}
}

func TestFileRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"a: 1\nb: c: d":                     "line 2",
		"[1, 2]":                            "a mapping of keys to values",
		"s3://KEY:SECRET@b/p":               "a mapping of keys to values",
		"a: 1\n---\nb: 2":                   "one document",
		"a: 1\nb: 2\na: 3":                  `line 3: mapping key "a" already defined at line 1`,
		"a: !!int s3://KEY:SECRET@b/p":      "a value",
		"a: !!int \"s3://KEY:\\nSECRET@b\"": "a value",
		"? {a: b}\n: 1":                     "line 1",
		"a: *nobody":                        "anchor",
		"a: \"\\xZZ\"":                      "neither YAML nor JSON",
		"a: [1":                             "line 1",
	} {
		path := filepath.Join(t.TempDir(), "app.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := File(path)
		switch {
		case err == nil:
			t.Errorf("%q: taken", text)
		case !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), says):
			t.Errorf("%q: %v; want the path and %q", text, err, says)
		case strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "KEY"):
			t.Errorf("%q: %q", text, err)
		}
	}
	if _, err := File(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("no file: %v", err)
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "~", "{}"} {
		if keys := file(t, text).Keys(); len(keys) != 0 {
			t.Errorf("%q has the keys %v", text, keys)
		}
	}
}

func TestEnvironmentNamesItsVariables(t *testing.T) {
	s, err := Environment("APP", []string{"APP_CACHE__BITES=5", "APP_Shards=1", "app_x=1", "APP=2", "APPLE_PIE=3", "APP_EMPTY="})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Keys(); !reflect.DeepEqual(got, []string{"APP_Shards", "cache", "empty"}) {
		t.Errorf("the keys are %v", got)
	}
	err = s.Unknown([]string{"cache", "bites"}, []string{"bytes", "disabled"})
	if err.Error() != `environment: unknown key "APP_CACHE__BITES": did you mean "APP_CACHE__BYTES"?` {
		t.Error(err)
	}
	if !s.Has("empty") || s.Value("empty") != nil {
		t.Errorf("the empty variable is %v", s.Value("empty"))
	}
}

func TestAValueBesideValuesBelowItIsRefused(t *testing.T) {
	_, err := Environment("APP", []string{"APP_CACHE=x", "APP_CACHE__BYTES=1"})
	if err == nil || err.Error() != "environment: APP_CACHE and APP_CACHE__BYTES exclude each other: set one" {
		t.Error(err)
	}
	_, err = Flags(map[string]string{"cache.bytes": "1", "cache": "x"})
	if err == nil || err.Error() != "flags: cache and cache.bytes exclude each other: set one" {
		t.Error(err)
	}
}

func TestOverMergesByKeyAndKeepsThePlaces(t *testing.T) {
	below := file(t, "a: {x: 1, y: 1, deep: {p: 1}}\nb: 1\n")
	above, err := Environment("APP", []string{"APP_A__Y=2", "APP_A__DEEP__Q=2", "APP_C=2"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := above.Over(below)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"x": 1, "y": 2, "deep": map[string]any{"p": 1, "q": 2}}
	if got, err := all.Map("a"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("merged: %v, %v", got, err)
	}
	for key, where := range map[string]string{"x": "app.yaml:1: a.x ", "y": "environment: APP_A__Y ", "z": "environment: APP_A__Z "} {
		if err := all.Errorf([]string{"a", key}, "is it"); !strings.Contains(err.Error(), where) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if below.Has("c") || above.Has("b") {
		t.Error("a source has changed")
	}
	if leaves := all.Leaves("a"); len(leaves) != 4 {
		t.Errorf("leaves: %v", leaves)
	}
}

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"Name": "name", "CallTimeout": "call_timeout", "LeaseTTL": "lease_ttl", "TTL": "ttl", "TLSConfig": "tls_config", "already_so": "already_so",
	} {
		if got := Snake(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add("a: {b: [1, ~]}\nc: *x")
	f.Add("{\"a\": 1}")
	f.Add("<<: {a: 1}\nb: &x [*x]")
	path := filepath.Join(f.TempDir(), "app.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := File(path)
		if err != nil {
			return
		}
		for _, key := range s.Keys() {
			var o options
			_ = s.Decode(&o, key)
			if err := s.Unknown([]string{key}, KeysOf(reflect.TypeFor[options]())); strings.Contains(err.Error(), "\n") {
				t.Fatal(err)
			}
		}
	})
}
