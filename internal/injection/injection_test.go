package injection_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/slap-go/slap/internal/injection"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	rule  = injection.Rule[rune, string]
	rules = injection.Rules[rune, string]
)

func only(wanted rune) func(rune) bool { return func(call rune) bool { return call == wanted } }

// met tells of each call which fault it met, or a dot.
func met(r *rules, calls string) string {
	var got strings.Builder
	for _, call := range calls {
		fault := r.Meet(call)
		if fault == "" {
			fault = "."
		}
		got.WriteString(fault)
	}
	return got.String()
}

func TestTheFirstRuleThatMatchesAndIsNotUsedUpApplies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, calls, want string
		rules             []rule
		fired             []int
	}{
		{"none", "aa", "..", nil, nil},
		{"all", "abc", "111", []rule{{Fault: "1"}}, []int{3}},
		{"those that match", "abba", ".11.", []rule{{Match: only('b'), Fault: "1"}}, []int{2}},
		{"skip", "aaaa", "..11", []rule{{Skip: 2, Fault: "1"}}, []int{2}},
		{"times", "aaaa", "11..", []rule{{Times: 2, Fault: "1"}}, []int{2}},
		{"skip first, times then", "aaaaa", ".11..", []rule{{Skip: 1, Times: 2, Fault: "1"}}, []int{2}},
		{"skip of those that match", "baba", "...1", []rule{{Match: only('a'), Skip: 1, Fault: "1"}}, []int{1}},
		{"the first of two", "aaa", "112", []rule{{Times: 2, Fault: "1"}, {Fault: "2"}}, []int{2, 1}},
		{"the second while the first skips", "aaa", "211", []rule{{Skip: 1, Fault: "1"}, {Fault: "2"}}, []int{2, 1}},
		{"calls that met the first are none of the second's", "aaaa", "11.2", []rule{{Times: 2, Fault: "1"}, {Skip: 1, Fault: "2"}}, []int{2, 1}},
		{"a fault that is the zero value is one", "aa", ".2", []rule{{Times: 1}, {Fault: "2"}}, []int{1, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var r rules
			var injections []*injection.Injection[rune, string]
			for _, rule := range test.rules {
				injections = append(injections, r.Inject(rule))
			}
			if got := met(&r, test.calls); got != test.want {
				t.Errorf("%s met %s, want %s", test.calls, got, test.want)
			}
			for n, i := range injections {
				if i.Fired() != test.fired[n] {
					t.Errorf("rule %d fired %d times, want %d", n+1, i.Fired(), test.fired[n])
				}
			}
		})
	}
}

func TestRulesEnd(t *testing.T) {
	t.Parallel()
	var r rules
	first, _, _ := r.Inject(rule{Fault: "1"}), r.Inject(rule{Times: 2, Fault: "2"}), r.Inject(rule{Fault: "3"})
	got := met(&r, "a")
	first.Remove()
	first.Remove()
	if got += met(&r, "aaa"); got != "1223" || first.Fired() != 1 {
		t.Errorf("met %s, the first one fired %d times; want 1223, 1", got, first.Fired())
	}
	if cleared := r.Clear(); !slices.Equal(cleared, []string{"2", "3"}) {
		t.Errorf("cleared %q", cleared)
	}
	first.Remove()
	if got := met(&r, "a"); got != "." {
		t.Errorf("met %s without a rule", got)
	}
}

func TestCallsAtOnceMeetTheFaultExactlySoManyTimes(t *testing.T) {
	t.Parallel()
	var r rules
	some, rest := r.Inject(rule{Skip: 50, Times: 300, Fault: "1"}), r.Inject(rule{Fault: "2"})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 100 {
				r.Meet('a')
			}
		})
	}
	callers.Wait()
	if some.Fired() != 300 || rest.Fired() != 500 {
		t.Errorf("fired %d and %d times, want 300 and 500", some.Fired(), rest.Fired())
	}
}
