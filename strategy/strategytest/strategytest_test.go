package strategytest_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/strategytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// defect is the environment variable that makes this binary run the suite on a broken
// strategy, in a process of its own, since it has to fail there.
const defect = "SLAP_STRATEGYTEST_BUG"

// broken are ways to break the contract, each with checks that must notice it.
var broken = map[string][]string{
	"refuses its cluster":           {"Starts"},
	"panics in Child":               {"Starts"},
	"has no name":                   {"Starts"},
	"is temporary":                  {"Starts"},
	"starts shards in Child":        {"Starts"},
	"is never ready":                {"Starts"},
	"owns one shard":                {"Starts"},
	"forgets a shard":               {"Starts"},
	"opens what is another's":       {"Starts"},
	"starts a shard twice":          {"Starts"},
	"starts what is not there":      {"Starts"},
	"gives a lease that is over":    {"Starts"},
	"wants no answer":               {"Starts"},
	"dies of a failure":             {"StartFails"},
	"never tries again":             {"StartFails", "OpenFails"},
	"waits for a failed shard":      {"StartStopped"},
	"forgets what is open":          {"StartAlreadyStarted"},
	"all for a failure":             {"OpenFails"},
	"makes no pause":                {"StartFails", "Crashed"},
	"one at a time":                 {"OpenHangs"},
	"ignores crashed":               {"Crashed"},
	"ignores fenced":                {"Fenced"},
	"believes reports only once":    {"Crashed", "Fenced"},
	"opens what was stopped":        {"Stopped", "StoppedWhileOpening"},
	"panics without an actor":       {"ReportsAtAnyTime"},
	"locks":                         {"NeverBlocks"},
	"locks for downs":               {"NeverBlocks"},
	"waits for its actor":           {"NeverBlocks"},
	"looks up after the start only": {"LookupAtAnyTime"},
	"says Here and where":           {"LookupAtAnyTime"},
	"refreshes for ever":            {"Refresh"},
	"leaves a goroutine":            {"Stop"},
	"asks after its end":            {"Stop"},
	"hangs in its stop":             {"Stop"},
	"remembers":                     {"StartsOver"},
	"serves everybody":              {"OneCluster"},
}

func suite(t *testing.T, wait time.Duration, bugs ...string) {
	strategytest.Run(t, strategytest.Options{Backoff: pause, Wait: wait},
		func(*testing.T) strategy.Strategy { return newSimple(bugs...) })
}

func TestTheSuitePassesASoundStrategy(t *testing.T) { suite(t, time.Minute) }

// TestOnBrokenStrategy is what the processes of [TestTheSuiteCatches] run.
func TestOnBrokenStrategy(t *testing.T) {
	name := os.Getenv(defect)
	if name == "" {
		t.Skip("only in processes that TestTheSuiteCatches starts")
	}
	suite(t, time.Second, name)
}

// Every way to break the contract is caught by the checks that are there for it.
func TestTheSuiteCatches(t *testing.T) {
	cases := maps.Clone(broken)
	if raceEnabled {
		cases["does not lock"] = []string{"LookupAtAnyTime"}
	}
	for name, result := range runAll(cases) {
		t.Run(name, func(t *testing.T) {
			r := <-result
			if _, exited := errors.AsType[*exec.ExitError](r.err); !exited {
				t.Fatalf("the suite passed (%v):\n%s", r.err, r.output)
			}
			for _, check := range cases[name] {
				if failed := failures(r.output); !slices.Contains(failed, check) {
					t.Errorf("%s did not fail, but %q did:\n%s", check, failed, r.output)
				}
			}
		})
	}
}

// outcome is how a run of the suite ended.
type outcome struct {
	output string
	err    error
}

// atATime is how many processes run at a time. They mostly wait.
const atATime = 8

// runAll runs the suite on each broken strategy; each result comes through its channel.
func runAll(cases map[string][]string) map[string]chan outcome {
	results, slots := map[string]chan outcome{}, make(chan struct{}, atATime)
	for name, checks := range cases {
		result := make(chan outcome, 1)
		results[name] = result
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			result <- runBroken(name, checks)
		}()
	}
	return results
}

// runBroken runs these checks on a broken strategy.
func runBroken(name string, checks []string) outcome {
	only := "-test.run=^TestOnBrokenStrategy$/^(" + strings.Join(checks, "|") + ")$"
	cmd := exec.Command(os.Args[0], only, "-test.v", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), defect+"="+name)
	out, err := cmd.CombinedOutput()
	return outcome{string(out), err}
}

// failures are the checks that failed.
func failures(output string) (checks []string) {
	for line := range strings.Lines(output) {
		if _, after, found := strings.Cut(line, "--- FAIL: TestOnBrokenStrategy/"); found {
			check, _, _ := strings.Cut(after, " ")
			checks = append(checks, check)
		}
	}
	return checks
}
