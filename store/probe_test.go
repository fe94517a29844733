package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/faults"
)

// fixed is a source of randomness that always gives the same bytes.
func fixed() io.Reader { return bytes.NewReader(bytes.Repeat([]byte{0xfb, 0xef, 0xbe, 7}, 100)) }

func results(r store.Report) string {
	var words []string
	for _, s := range r.Steps {
		words = append(words, s.Name+"="+string(s.Result))
	}
	return strings.Join(words, " ")
}

const allOK = "create=ok create_again=ok stale_if_match=ok current_if_match=ok delete=ok"

func probeOf(t *testing.T, b store.Bucket) store.Report {
	t.Helper()
	return store.Probe(t.Context(), b, store.ProbeConfig{Path: "p", Node: "node-a"})
}

func mustBeEmpty(t *testing.T, b store.Bucket) {
	t.Helper()
	if entries, err := b.List(context.Background(), ""); err != nil || len(entries) != 0 {
		t.Errorf("the probe left %v, %v", entries, err)
	}
}

func TestPRB1_FiveStepsInOrder(t *testing.T) {
	b := faulty(t)
	r := probeOf(t, b)
	if got := results(r); got != allOK || !r.OK() || r.Err() != nil {
		t.Errorf("a fit store: %s, %v", got, r.Err())
	}
	if puts, deletes := b.Requests(faults.Put, "p/_cluster/probe/node-a/*"), b.Requests(faults.Delete, r.Key); puts != 4 || deletes != 1 {
		t.Errorf("%d puts and %d deletes, want 4 and 1", puts, deletes)
	}
	if all := b.Requests(faults.Any, "*"); all != 5 {
		t.Errorf("%d requests, want 5", all)
	}
	for _, s := range r.Steps {
		if s.Took <= 0 {
			t.Errorf("step %s took %v", s.Name, s.Took)
		}
	}
	mustBeEmpty(t, b)
}

func TestPRB3_FitStores(t *testing.T) {
	for name, b := range map[string]store.Bucket{
		"memory": open(t, store.Memory()), "directory": open(t, store.Dir(t.TempDir())),
	} {
		if r := probeOf(t, b); results(r) != allOK {
			t.Errorf("%s: %s: %v", name, results(r), r.Err())
		}
		mustBeEmpty(t, b)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func faulty(t *testing.T, rules ...faults.Rule) *faults.Bucket {
	t.Helper()
	b := faults.New(open(t, store.Memory()), faults.Options{})
	for _, r := range rules {
		b.Inject(r)
	}
	return b
}

func TestPRB2_PRB3_PRB7_UnfitStores(t *testing.T) {
	away := errors.New("connection refused")
	unsupported := fmt.Errorf("no conditional updates: %w", errors.ErrUnsupported)
	put := func(skip, times int, f faults.Fault) faults.Rule {
		return faults.Rule{Ops: faults.Put, Skip: skip, Times: times, Fault: f}
	}
	tests := []struct {
		name  string
		rules []faults.Rule
		want  string
		says  string // empty: the store is fit
	}{
		{
			"ignores all conditions",
			[]faults.Rule{put(0, 0, faults.Chain(faults.IgnoreIfAbsent(), faults.IgnoreIfMatch()))},
			"create=ok create_again=failed stale_if_match=failed current_if_match=skipped delete=ok", "create_again: the store overwrote",
		},
		{
			"ignores if-absent",
			[]faults.Rule{put(0, 0, faults.IgnoreIfAbsent())},
			"create=ok create_again=failed stale_if_match=ok current_if_match=ok delete=ok", "create_again: the store overwrote",
		},
		{
			"accepts a stale version",
			[]faults.Rule{put(0, 0, faults.IgnoreIfMatch())},
			"create=ok create_again=ok stale_if_match=failed current_if_match=skipped delete=ok", "stale_if_match: the store accepted",
		},
		{
			"refuses the current version",
			[]faults.Rule{put(3, 1, faults.Fail(store.ErrConflict))},
			"create=ok create_again=ok stale_if_match=ok current_if_match=failed delete=ok", "current_if_match: the store refused",
		},
		{
			"refuses to create",
			[]faults.Rule{put(0, 1, faults.Fail(store.ErrConflict))},
			"create=failed create_again=skipped stale_if_match=skipped current_if_match=skipped delete=skipped", "create: the store refused",
		},
		{
			"cannot be reached",
			[]faults.Rule{{Fault: faults.Fail(away)}},
			"create=failed create_again=skipped stale_if_match=skipped current_if_match=skipped delete=skipped", "create: the store could not create an object: connection refused",
		},
		{
			"goes away",
			[]faults.Rule{put(1, 0, faults.Fail(away))},
			"create=ok create_again=failed stale_if_match=failed current_if_match=skipped delete=ok", "create_again: the store could not be asked",
		},
		{
			"cannot delete",
			[]faults.Rule{{Ops: faults.Delete, Fault: faults.Fail(away)}},
			"create=ok create_again=ok stale_if_match=ok current_if_match=ok delete=failed", "delete: the store could not delete",
		},
		{
			"has no conditional updates",
			[]faults.Rule{put(2, 0, faults.Fail(unsupported))},
			"create=ok create_again=ok stale_if_match=unsupported current_if_match=unsupported delete=ok", "",
		},
		{
			"has no conditional creation",
			[]faults.Rule{put(1, 1, faults.Fail(unsupported))},
			"create=ok create_again=failed stale_if_match=ok current_if_match=ok delete=ok", "create_again: the store could not be asked",
		},
		{"loses every reply to a write", []faults.Rule{put(0, 0, faults.LoseReply())}, allOK, ""},
		{
			"loses the reply to a creation, and cannot be read",
			[]faults.Rule{put(0, 1, faults.LoseReply()), {Ops: faults.Get, Fault: faults.Fail(away)}},
			"create=failed create_again=skipped stale_if_match=skipped current_if_match=skipped delete=ok", "connection refused",
		},
		{
			"loses replies and ignores conditions",
			[]faults.Rule{put(0, 0, faults.Chain(faults.IgnoreIfAbsent(), faults.IgnoreIfMatch(), faults.LoseReply()))},
			"create=ok create_again=failed stale_if_match=failed current_if_match=skipped delete=ok", "create_again: the store overwrote",
		},
		{
			"never gets the creation",
			[]faults.Rule{put(0, 1, faults.Fail(store.ErrUnknownOutcome))},
			"create=failed create_again=skipped stale_if_match=skipped current_if_match=skipped delete=ok", "outcome",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := faulty(t, test.rules...)
			r := probeOf(t, b)
			if got := results(r); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			mustFailWith(t, r, test.says)
			if !strings.Contains(test.want, "delete=failed") {
				b.Clear()
				mustBeEmpty(t, b)
			}
		})
	}
}

func mustFailWith(t *testing.T, r store.Report, says string) {
	t.Helper()
	err := r.Err()
	if says == "" {
		if err != nil {
			t.Errorf("a fit store failed: %v", err)
		}
		return
	}
	var failure *store.ProbeError
	if !errors.As(err, &failure) || len(failure.Report.Steps) != 5 || r.OK() {
		t.Fatalf("the error is %v", err)
	}
	if !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error %q does not say %q", err, says)
	}
}

func TestPRB1_HangingStoreIsBoundedByTheContext(t *testing.T) {
	gate := faults.NewGate()
	b := faulty(t, faults.Rule{Ops: faults.Put, Skip: 1, Fault: gate.Before()})
	ctx, cancel := context.WithTimeoutCause(t.Context(), store.ProbeTimeout, errors.New("not used"))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	done := make(chan store.Report)
	go func() { done <- store.Probe(ctx, b, store.ProbeConfig{Node: "a"}) }()
	if err := gate.AwaitRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("no answer in time")
	stop(stopped)
	r := <-done
	if err := r.Err(); !errors.Is(err, stopped) || !strings.Contains(err.Error(), "create_again") {
		t.Errorf("the error is %v", err)
	}
}

func TestCFG15_ProbeKey(t *testing.T) {
	tests := []struct{ path, node, want string }{
		{"", "a", "_cluster/probe/a/"},
		{"streams", "a", "streams/_cluster/probe/a/"},
		{"x/y", "A.b_c-1@h", "x/y/_cluster/probe/A.b_c-1@h/"},
		{"", "a b/c:d§", "_cluster/probe/a_b_c_d_/"},
		{"", "", "_cluster/probe/"},
	}
	for _, test := range tests {
		r := store.Probe(t.Context(), faulty(t), store.ProbeConfig{Path: test.path, Node: test.node, Random: fixed()})
		if want := test.want + "----B_vvvgf7774H"; r.Key != want {
			t.Errorf("path %q, node %q: key %q, want %q", test.path, test.node, r.Key, want)
		}
	}
	for range 2 {
		r := probeOf(t, faulty(t))
		if !regexp.MustCompile(`^p/_cluster/probe/node-a/[A-Za-z0-9_-]{16}$`).MatchString(r.Key) {
			t.Errorf("key %q", r.Key)
		}
	}
	if a, b := probeOf(t, faulty(t)), probeOf(t, faulty(t)); a.Key == b.Key {
		t.Errorf("two probes have the key %q", a.Key)
	}
	if r := store.Probe(t.Context(), faulty(t), store.ProbeConfig{Random: strings.NewReader("short")}); r.OK() {
		t.Error("a probe without enough randomness passed")
	}
	if r := store.Probe(t.Context(), faulty(t), store.ProbeConfig{Path: "a//b", Node: "a"}); !errors.Is(r.Err(), store.ErrInvalidKey) {
		t.Errorf("an invalid path: %v", r.Err())
	}
}
