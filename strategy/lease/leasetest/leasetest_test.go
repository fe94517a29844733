package leasetest_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/lease/leasetest"
)

// defects is the environment variable that makes this binary run the suite on broken
// stores, in a process of its own, since it has to fail there.
const defects = "SLAP_LEASETEST_BUGS"

// bugs are ways to break the contract, each with checks that must notice it.
var bugs = map[string][]string{
	"setup leaves a record":                        {"Setup"},
	"sets up only once":                            {"Setup"},
	"setup ignores its context":                    {"EndedBefore"},
	"cannot be closed":                             {"Setup", "Missing"},
	"lists only leases":                            {"List", "Names"},
	"lists only heartbeats":                        {"List", "Shards"},
	"lists no shard 0":                             {"List", "Shards"},
	"lists free leases as missing":                 {"List"},
	"lists a node as a shard":                      {"Names"},
	"lists what was removed":                       {"List"},
	"lists the past":                               {"List"},
	"listing ignores its context":                  {"EndedBefore"},
	"reads no error of what is missing":            {"Missing", "Remove"},
	"reads never end":                              {"EndedBefore"},
	"reads no shard number":                        {"Replace", "Shards"},
	"reads another version":                        {"Create", "Replace"},
	"reads all as unreadable":                      {"Create"},
	"reads the past":                               {"LeaseFields", "Counters"},
	"forgets the name of a node":                   {"Create", "Names"},
	"reads only ten shards":                        {"HeartbeatFields"},
	"ignores versions":                             {"Replace", "Create", "Missing", "RaceReplace"},
	"ignores the empty version":                    {"Create", "RaceCreate"},
	"creates whatever the version":                 {"Missing", "RenewPartly"},
	"shares versions between shards":               {"Missing", "RenewPartly"},
	"ignores contexts":                             {"EndedBefore"},
	"writes although the context ended":            {"EndedBefore"},
	"writes without saying so when a context ends": {"EndedWhile"},
	"says conflict of what it wrote":               {"RaceCreate", "Counters"},
	"keeps one shard in ten thousand":              {"Shards"},
	"acknowledges and forgets":                     {"Counters"},
	"loses the generation of a free lease":         {"LeaseFields"},
	"cuts generations":                             {"LeaseFields"},
	"keeps whole seconds":                          {"LeaseFields"},
	"loses the nonce":                              {"LeaseFields"},
	"loses the address":                            {"LeaseFields"},
	"loses the incarnation":                        {"LeaseFields"},
	"folds names":                                  {"LeaseFields", "Names"},
	"returns no version":                           {"Create"},
	"returns versions that it never reads":         {"Create"},
	"makes versions of owners":                     {"Versions"},
	"has its own conflicts":                        {"Replace", "RenewPartly", "RaceCreate"},
	"renews until the first failure":               {"RenewPartly"},
	"renews by shard":                              {"Renew"},
	"renews whatever the version":                  {"RenewPartly"},
	"does not tell of failures":                    {"RenewPartly"},
	"tells twice":                                  {"Renew"},
	"returns before it has told":                   {"Renew"},
	"needs something to renew":                     {"RenewNothing"},
	"writes any heartbeat":                         {"Create", "Replace", "Missing", "RaceHeartbeat", "Versions"},
	"loses shards":                                 {"HeartbeatFields"},
	"loses the state of a node":                    {"HeartbeatFields"},
	"loses the generations of shards":              {"HeartbeatFields"},
	"changes what it is given":                     {"HeartbeatFields"},
	"keeps whole seconds of heartbeats":            {"HeartbeatFields"},
	"cuts names":                                   {"Names"},
	"folds the names of nodes":                     {"Names"},
	"ignores contexts of heartbeats":               {"EndedBefore"},
	"revives what was removed":                     {"Remove", "Versions"},
	"removes only what is there":                   {"Remove"},
	"does not remove":                              {"Remove", "List"},
	"removes whatever begins so":                   {"Remove"},
	"removes leases, too":                          {"Remove"},
	"removes although the context ended":           {"EndedBefore"},
}

func suite(t *testing.T, bug string) {
	leasetest.Run(t, func(*testing.T) lease.Store { return newBroken(bug) })
}

func TestTheSuitePassesASoundStore(t *testing.T) { suite(t, "") }

// TestOnBrokenStore is what the processes of [TestTheSuiteCatches] run.
func TestOnBrokenStore(t *testing.T) {
	bug := os.Getenv(defects)
	if bug == "" {
		t.Skip("only in processes that TestTheSuiteCatches starts")
	}
	suite(t, bug)
}

// Every way to break the contract is caught by the checks that are there for it.
func TestTheSuiteCatches(t *testing.T) {
	for bug, checks := range bugs {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			for _, check := range checks {
				output, err := runBroken(bug, check)
				if _, exited := errors.AsType[*exec.ExitError](err); !exited {
					t.Fatalf("%s passed (%v):\n%s", check, err, output)
				}
				if failed := failures(output); !slices.Contains(failed, check) && !strings.Contains(output, "panic: ") {
					t.Errorf("%s did not fail, but %q did:\n%s", check, failed, output)
				}
			}
		})
	}
}

// runBroken runs one check on a broken store. Each has to fail alone: a check that ends
// the process would hide the others.
func runBroken(bug, check string) (output string, err error) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestOnBrokenStore$/^"+check+"$", "-test.v", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), defects+"="+bug)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// failures are the checks that failed.
func failures(output string) (checks []string) {
	for line := range strings.Lines(output) {
		if _, after, found := strings.Cut(line, "--- FAIL: TestOnBrokenStore/"); found {
			check, _, _ := strings.Cut(after, " ")
			checks = append(checks, check)
		}
	}
	return checks
}
