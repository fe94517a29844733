package storetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/faults"
	"github.com/slap-go/slap/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// badStore is the environment variable that makes this binary run the suite on an
// unfit store, in a process of its own, since it has to fail there.
const badStore = "SLAP_STORETEST_BAD"

// unfit are ways to break the contract, each with checks that must notice it.
var unfit = map[string]struct {
	rule   func() faults.Rule
	caught []string
}{
	"ignores if-absent": {
		func() faults.Rule { return faults.Rule{Fault: faults.IgnoreIfAbsent()} }, []string{"Create", "RaceCreate"},
	},
	"ignores if-match": {
		func() faults.Rule { return faults.Rule{Fault: faults.IgnoreIfMatch()} }, []string{"Missing", "Match", "Delete", "RaceMatch", "Counters"},
	},
	"ignores one if-match in ten": {
		func() faults.Rule { return faults.Rule{Ops: faults.Put, Fault: sometimes(10, faults.IgnoreIfMatch())} }, []string{"Counters"},
	},
	"calls a write that was made a conflict": {
		func() faults.Rule { return faults.Rule{Ops: faults.Put, Fault: sometimes(10, conflictAnyway)} }, []string{"Counters"},
	},
	"calls a lost write a success": {
		func() faults.Rule { return faults.Rule{Ops: faults.Put, Fault: sometimes(10, successAnyway)} }, []string{"Counters"},
	},
	"reads what was before": {
		func() faults.Rule { return faults.Rule{Ops: faults.Get, Fault: readsPast()} }, []string{"Match", "Counters"},
	},
	"omits keys from listings": {
		func() faults.Rule { return faults.Rule{Ops: faults.List, Fault: faults.OmitFromList("*/10")} }, []string{"List"},
	},
	"stops listings after a page": {
		func() faults.Rule { return faults.Rule{Ops: faults.List, Fault: onePage} }, []string{"ListMany"},
	},
	"repeats keys in listings": {
		func() faults.Rule { return faults.Rule{Ops: faults.List, Fault: faults.RepeatInList("*2")} }, []string{"List"},
	},
	"has stale listings": {
		func() faults.Rule { return faults.Rule{Ops: faults.List, Fault: faults.StaleList()} }, []string{"List"},
	},
	"calls a write cancelled that was made": {
		func() faults.Rule { return faults.Rule{Ops: faults.Put, Fault: cancelledAnyway} }, []string{"CancelledWhile"},
	},
	"does not look at the context": {
		func() faults.Rule { return faults.Rule{Fault: withoutContext} }, []string{"CancelledBefore"},
	},
	"does not delete": {
		func() faults.Rule { return faults.Rule{Ops: faults.Delete, Fault: faults.Fail(nil)} }, []string{"Delete", "List"},
	},
}

func sometimes(n int, fault faults.Fault) faults.Fault {
	var mu sync.Mutex
	count := 0
	return func(ctx context.Context, r faults.Request, next faults.Next) faults.Reply {
		mu.Lock()
		count++
		now := count%n == 0
		mu.Unlock()
		if now {
			return fault(ctx, r, next)
		}
		return next(ctx, r)
	}
}

func conflictAnyway(ctx context.Context, r faults.Request, next faults.Next) faults.Reply {
	next(ctx, r)
	return faults.Reply{Err: store.ErrConflict}
}

func successAnyway(context.Context, faults.Request, faults.Next) faults.Reply {
	return faults.Reply{Version: "made up"}
}

func readsPast() faults.Fault {
	var mu sync.Mutex
	last := map[string]store.Object{}
	return func(ctx context.Context, r faults.Request, next faults.Next) faults.Reply {
		reply := next(ctx, r)
		mu.Lock()
		defer mu.Unlock()
		if old, ok := last[r.Key]; ok && reply.Err == nil {
			last[r.Key], reply.Object = reply.Object, old
		} else if reply.Err == nil {
			last[r.Key] = reply.Object
		}
		return reply
	}
}

func onePage(ctx context.Context, r faults.Request, next faults.Next) faults.Reply {
	reply := next(ctx, r)
	reply.Entries = reply.Entries[:min(len(reply.Entries), 1_000)]
	return reply
}

func cancelledAnyway(ctx context.Context, r faults.Request, next faults.Next) faults.Reply {
	reply := next(ctx, r)
	if at, ok := ctx.Deadline(); ok && time.Until(at) < time.Second && reply.Err == nil {
		<-ctx.Done()
		return faults.Reply{Err: ctx.Err()}
	}
	return reply
}

func withoutContext(ctx context.Context, r faults.Request, next faults.Next) faults.Reply {
	return next(context.WithoutCancel(ctx), r)
}

func memory(t *testing.T) store.Bucket {
	t.Helper()
	b, err := store.Memory().Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOnUnfitStore is what the processes of [TestSuiteCatches] run.
func TestOnUnfitStore(t *testing.T) {
	bad, ok := unfit[os.Getenv(badStore)]
	if !ok {
		t.Skip("only in processes that TestSuiteCatches starts")
	}
	storetest.Run(t, func(t *testing.T) store.Bucket {
		b := faults.New(memory(t), faults.Options{})
		b.Inject(bad.rule())
		return b
	})
}

// Every way to break the contract is caught by the checks that are there for it.
func TestSuiteCatches(t *testing.T) {
	for name, bad := range unfit {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestOnUnfitStore$", "-test.v", "-test.timeout=5m")
			cmd.Env = append(os.Environ(), badStore+"="+name)
			out, err := cmd.CombinedOutput()
			if _, exited := errors.AsType[*exec.ExitError](err); !exited {
				t.Fatalf("the suite passed (%v):\n%s", err, out)
			}
			failed := failures(string(out))
			for _, check := range bad.caught {
				if !slices.Contains(failed, check) {
					t.Errorf("%s did not fail, but %q did:\n%s", check, failed, out)
				}
			}
		})
	}
}

// failures are the checks that failed.
func failures(output string) (checks []string) {
	for line := range strings.Lines(output) {
		if _, after, found := strings.Cut(line, "--- FAIL: TestOnUnfitStore/"); found {
			check, _, _ := strings.Cut(after, " ")
			checks = append(checks, check)
		}
	}
	return checks
}
