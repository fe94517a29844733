package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		before := slices.Clone(c.values)
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
		if !slices.Equal(before, c.values) {
			t.Errorf("median reordered %v to %v", before, c.values)
		}
	}
}

func TestRatiosAreOfEachRound(t *testing.T) {
	got := ratios([]float64{10, 30, 5}, []float64{5, 10, 0})
	if want := []float64{2, 3}; !slices.Equal(got, want) {
		t.Errorf("ratios are %v, want %v", got, want)
	}
}

func TestGoal(t *testing.T) {
	for _, c := range []struct {
		goal   goal
		figure float64
		text   string
		met    bool
	}{
		{atLeast(25), 25, "target>=25", true},
		{atLeast(25), 24.99, "target>=25", false},
		{atLeast(0.5), 0.496, "target>=0.5", true}, // shown as 0.50
		{atMost(1), 1.004, "target<=1", true},      // shown as 1.00
		{atMost(1), 1.006, "target<=1", false},
		{atMost(0), 0.02, "target<=0", false},
	} {
		if got := c.goal.String(); got != c.text {
			t.Errorf("the goal is %q, want %q", got, c.text)
		}
		if got := c.goal.met(c.figure); got != c.met {
			t.Errorf("%v met by %v: %v, want %v", c.goal, c.figure, got, c.met)
		}
	}
}

func TestLines(t *testing.T) {
	r := result{
		name: "slatedb-put-vs-python", goal: atLeast(25), unit: "put/s",
		figure: 38.214, rounds: []float64{40, 38.214, 36.1}, ours: 171_000, peer: 4_480,
	}
	if got, want := r.String(), "bench: slatedb-put-vs-python ratio=38.21 target>=25"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
	want := "info: slatedb-put-vs-python ours=171k peer=4.48k (put/s) rounds: 40.00 38.21 36.10"
	if got := r.details(); got != want {
		t.Errorf("the details are %q, want %q", got, want)
	}
	missed := result{name: "a", goal: atMost(0), figure: 2}
	want = "summary: 1 of 2 targets met; missed: a (2.00, target<=0)"
	if got := summary([]result{r, missed}); got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
}

func TestNamesOfTheSuites(t *testing.T) {
	for _, s := range []suite{ordinarySuite(), nativeSuite()} {
		seen := map[string]bool{}
		for _, b := range s.benchmarks {
			if seen[b.name] || b.name == "" || strings.ContainsAny(b.name, " \t") {
				t.Errorf("%q is no name for a benchmark", b.name)
			}
			seen[b.name] = true
		}
	}
}

func TestRoundsTakeTurns(t *testing.T) {
	var turns []string
	side := func(name string, figures ...float64) measure {
		return func(context.Context, time.Duration) (float64, error) {
			turns = append(turns, name)
			figure := figures[0]
			figures = figures[1:]
			return figure, nil
		}
	}
	b := benchmark{name: "x", goal: atLeast(1), ours: side("a", 4, 30, 9), peer: side("b", 2, 10, 9)}
	r, err := b.run(t.Context(), plan{rounds: 3, say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(turns, ""); got != "ababab" {
		t.Errorf("the turns are %s, want ababab", got)
	}
	if r.figure != 2 || r.ours != 9 || r.peer != 9 {
		t.Errorf("the result is %+v, want the median 2 of 2, 3 and 1, and the medians 9 and 9", r)
	}
}

func TestWhatFailsKeepsNothingElseFromRunning(t *testing.T) {
	broken := errors.New("broken")
	s := suite{benchmarks: []benchmark{
		{name: "bad", ours: func(context.Context, time.Duration) (float64, error) { return 0, broken }},
		{name: "good", ours: func(context.Context, time.Duration) (float64, error) { return 3, nil }},
	}}
	o, err := parse([]string{"-rounds", "1"})
	if err != nil {
		t.Fatal(err)
	}
	o.say = t.Logf
	var lines []string
	results, err := s.measure(t.Context(), o, func(line string) { lines = append(lines, line) })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad did not run") {
		t.Errorf("the error is %v, want one that names what did not run", err)
	}
	if len(results) != 1 || lines[0] != "bench: good ratio=3.00 target>=0" {
		t.Errorf("the results are %v, the lines are %q", results, lines)
	}
}

func TestParseRefusesBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-run", "("}, {"-rounds", "0"}, {"-duration", "0s"}, {"put"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q are accepted", args)
		}
	}
}

func TestSectionOfAPage(t *testing.T) {
	page := "head\n<!-- x -->\nold\n<!-- end of x -->\ntail\n"
	got, err := replaceSection(page, "x", "new\n")
	if want := "head\n<!-- x -->\nnew\n<!-- end of x -->\ntail\n"; got != want || err != nil {
		t.Errorf("the page is %q (%v), want %q", got, err, want)
	}
	if _, err := replaceSection(page, "y", "new\n"); err == nil {
		t.Error("a page without the section is accepted")
	}
}

// Both ways to drive do the operations they count, and end with the first failure.
func TestDrive(t *testing.T) {
	const d = 20 * time.Millisecond
	broken := errors.New("broken")
	rate, err := call(4, d, func(int) func(int) error { return func(int) error { return nil } })
	if rate <= 0 || err != nil {
		t.Errorf("call gives %v, %v", rate, err)
	}
	_, err = call(4, time.Hour, func(id int) func(int) error {
		return func(i int) error {
			if id == 2 && i == 3 {
				return broken
			}
			return nil
		}
	})
	if !errors.Is(err, broken) {
		t.Errorf("call ends with %v", err)
	}
	rate, err = fly(4, d, func(done func(error)) func(int) { return func(int) { go done(nil) } })
	if rate <= 0 || err != nil {
		t.Errorf("fly gives %v, %v", rate, err)
	}
	_, err = fly(4, time.Hour, func(done func(error)) func(int) { return func(int) { done(broken) } })
	if !errors.Is(err, broken) {
		t.Errorf("fly ends with %v", err)
	}
}
