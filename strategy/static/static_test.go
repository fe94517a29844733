package static

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/strategytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type assignments = map[string]strategy.Shards

func mustNew(t *testing.T, o Options) *Static {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// says checks that an error is one line with these words.
func says(t *testing.T, what any, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%v: taken", what)
		return
	}
	for _, word := range append(words, "static strategy: ") {
		if !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %q does not say %q in one line", what, err, word)
		}
	}
}

func TestSTA1_ExactlyOneOfNodesAndAssignmentsIsNeeded(t *testing.T) {
	for _, o := range []Options{
		{},
		{Nodes: []string{}, Assignments: assignments{}},
		{Nodes: []string{"a"}, Assignments: assignments{"a": {0}}},
	} {
		_, err := New(o)
		says(t, o, err, "needs Nodes or Assignments")
	}
	_, err := New(Options{Nodes: []string{"a", ""}})
	says(t, "an empty name", err, "Nodes", "empty name")
	_, err = New(Options{Assignments: assignments{"": {0}}})
	says(t, "an empty name", err, "Assignments", "empty name")
	_, err = New(Options{Nodes: []string{"a", "b", "a"}})
	says(t, "a name twice", err, "Nodes", `"a" twice`)
}

func TestSTA1_ThisNodeIsNamedAndOneOfThem(t *testing.T) {
	for field, s := range map[string]*Static{
		"Nodes":       mustNew(t, Options{Nodes: []string{"b", "a"}}),
		"Assignments": mustNew(t, Options{Assignments: assignments{"a": strategy.Range(0, 2), "b": {3}}}),
	} {
		says(t, field, s.Validate(strategy.Cluster{Shards: 4}), "Name is required", field, `"a"`, `"b"`)
		says(t, field, s.Validate(strategy.Cluster{Shards: 4, Node: "c"}), `Name "c"`, field, `"a"`, `"b"`)
		for _, node := range []string{"a", "b"} {
			if err := s.Validate(strategy.Cluster{Shards: 4, Node: node}); err != nil {
				t.Errorf("%s, node %s: %v", field, node, err)
			}
		}
	}
}

func TestSTA2_AssignmentsCoverEachShardExactlyOnce(t *testing.T) {
	for _, c := range []struct {
		given assignments
		word  string
	}{
		{assignments{"a": {0, 2}, "b": {1}}, "nobody has 3"},
		{assignments{"a": {0}}, "nobody has 1-3"},
		{assignments{"a": {}, "b": nil}, "nobody has 0-3"},
		{assignments{"a": {0, 2, 0}, "b": {1, 3}}, `"a" has 0 twice`},
		{assignments{"b": {0, 1}, "a": {1, 2, 3}}, `"a" and "b" have 1`},
		{assignments{"a": strategy.Range(0, 4)}, `"a" has 4`},
		{assignments{"a": {-1, 0, 1, 2, 3}}, `"a" has -1`},
	} {
		err := mustNew(t, Options{Assignments: c.given}).Validate(strategy.Cluster{Shards: 4, Node: "a"})
		says(t, c.given, err, "Assignments", "exactly once", c.word)
	}
	idle := mustNew(t, Options{Assignments: assignments{"a": {}, "b": strategy.Range(0, 3)}})
	if err := idle.Validate(strategy.Cluster{Shards: 4, Node: "a"}); err != nil {
		t.Errorf("a node without shards: %v", err)
	}
}

func TestSTA3_EachNodeOwnsItsShards(t *testing.T) {
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{Nodes: []string{"a", "b"}}, "a: 0,2; b: 1,3"},
		{Options{Nodes: []string{"b", "a"}}, "a: 1,3; b: 0,2"},
		{Options{Assignments: assignments{"a": {3, 1}, "b": {0, 2}}}, "a: 1,3; b: 0,2"},
		{Options{Assignments: assignments{"a": strategy.Range(0, 3), "b": {}}}, "a: 0-3; b: "},
	} {
		s := mustNew(t, c.options)
		if got := fmt.Sprintf("a: %v; b: %v", s.owned("a", 4), s.owned("b", 4)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.options, got, c.want)
		}
	}
}

// The actor opens this node's shards alone, retries as Local does, and lookups are fit.
func TestSTA3_Conformance(t *testing.T) {
	for name, o := range map[string]Options{
		"nodes":       {Nodes: []string{"other", "node", "third"}},
		"assignments": {Assignments: assignments{"node": {7, 0, 4}, "other": {1, 2, 3, 5, 6}}},
		"alone":       {Nodes: []string{"node"}, MaxConcurrency: 2},
	} {
		t.Run(name, func(t *testing.T) {
			o.BackoffBase, o.BackoffMax = 5*time.Millisecond, 20*time.Millisecond
			strategytest.Run(t, strategytest.Options{Backoff: o.BackoffBase}, func(t *testing.T) strategy.Strategy {
				return mustNew(t, o)
			})
		})
	}
}

func TestSTA3_BadBackoffsAreNamed(t *testing.T) {
	_, err := New(Options{Nodes: []string{"a"}, BackoffBase: time.Hour, BackoffMax: time.Minute})
	says(t, "a base above the maximum", err, "BackoffBase", "BackoffMax")
}

// Keys are the fields in snake_case, so that a file's unknown keys can be told.
func TestSTA3_EveryOptionHasItsKey(t *testing.T) {
	want := map[string]string{
		"Nodes": "nodes", "Assignments": "assignments",
		"BackoffBase": "backoff_base", "BackoffMax": "backoff_max", "MaxConcurrency": "max_concurrency",
	}
	options := reflect.TypeFor[Options]()
	for i := range options.NumField() {
		if f := options.Field(i); f.Tag.Get("koanf") != want[f.Name] {
			t.Errorf("%s has the key %q, want %q", f.Name, f.Tag.Get("koanf"), want[f.Name])
		}
	}
}
