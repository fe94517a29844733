package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/faults"
	"github.com/slap-go/slap/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func memory(t *testing.T) store.Bucket {
	t.Helper()
	b, err := store.Memory().Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t *testing.T) *faults.Bucket {
	t.Helper()
	b := faults.New(memory(t), faults.Options{})
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func put(t *testing.T, b store.Bucket, key, data string) store.Version {
	t.Helper()
	v, err := b.Put(t.Context(), key, []byte(data), store.Overwrite())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustHold(t *testing.T, b store.Bucket, key, data string) {
	t.Helper()
	if o, err := b.Get(t.Context(), key); err != nil || string(o.Data) != data {
		t.Fatalf("Get(%q) = %q, %v, want %q", key, o.Data, err, data)
	}
}

// Without rules, and with those that only cost time, it is a bucket like any other.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Bucket { return faults.New(memory(t), faults.Options{}) })
	open := faults.NewGate()
	open.Open()
	storetest.Run(t, func(t *testing.T) store.Bucket {
		b := faults.New(memory(t), faults.Options{Sleep: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }})
		b.Inject(faults.Rule{Fault: faults.Chain(faults.Delay(time.Hour), open.Before(), open.Late(), open.After())})
		return b
	})
}

func TestRuleChoosesRequests(t *testing.T) {
	failure := errors.New("failure")
	tests := []struct {
		name string
		rule faults.Rule
		want string // of ten puts of a/0 to a/4 twice: which fail
	}{
		{"all", faults.Rule{}, "1111111111"},
		{"another kind", faults.Rule{Ops: faults.Get | faults.List}, "0000000000"},
		{"its kind", faults.Rule{Ops: faults.Get | faults.Put}, "1111111111"},
		{"one key", faults.Rule{Key: "a/3"}, "0001000010"},
		{"a pattern", faults.Rule{Key: "*/3"}, "0001000010"},
		{"a longer pattern", faults.Rule{Key: "*a*/*4*"}, "0000100001"},
		{"a prefix only", faults.Rule{Key: "a"}, "0000000000"},
		{"skip and times", faults.Rule{Skip: 2, Times: 3}, "0011100000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := open(t)
			test.rule.Fault = faults.Fail(failure)
			injection := b.Inject(test.rule)
			got, failures := "", 0
			for i := range 10 {
				_, err := b.Put(t.Context(), fmt.Sprint("a/", []int{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}[i]), nil, store.Overwrite())
				if errors.Is(err, failure) {
					got += "1"
					failures++
				} else {
					got += "0"
				}
			}
			if got != test.want || injection.Fired() != failures {
				t.Errorf("failures %s, fired %d, want %s", got, injection.Fired(), test.want)
			}
			injection.Remove()
			injection.Remove()
			put(t, b, "a/0", "after")
		})
	}
}

func TestFailAndThrottleDoNothing(t *testing.T) {
	b := open(t)
	put(t, b, "key", "one")
	b.Inject(faults.Rule{Ops: faults.Put | faults.Delete, Fault: faults.Throttle()})
	if _, err := b.Put(t.Context(), "key", []byte("two"), store.Overwrite()); !errors.Is(err, faults.ErrThrottled) {
		t.Errorf("Put: %v", err)
	}
	if err := b.Delete(t.Context(), "key"); !errors.Is(err, faults.ErrThrottled) {
		t.Errorf("Delete: %v", err)
	}
	mustHold(t, b, "key", "one")
}

func TestLoseReplyIsApplied(t *testing.T) {
	b := open(t)
	b.Inject(faults.Rule{Ops: faults.Put, Times: 1, Fault: faults.LoseReply()})
	if _, err := b.Put(t.Context(), "key", []byte("one"), store.IfAbsent()); !errors.Is(err, store.ErrUnknownOutcome) {
		t.Errorf("Put: %v", err)
	}
	mustHold(t, b, "key", "one")
	b.Inject(faults.Rule{Fault: faults.LoseReply()})
	if err := b.Delete(t.Context(), "key"); !errors.Is(err, store.ErrUnknownOutcome) {
		t.Errorf("Delete: %v", err)
	}
	if _, err := b.Get(t.Context(), "key"); err == nil || errors.Is(err, store.ErrUnknownOutcome) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	b.Clear()
	if _, err := b.Get(t.Context(), "key"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the deletion was not made: %v", err)
	}
}

func TestDelayUsesTheInjectedClock(t *testing.T) {
	var slept time.Duration
	b := faults.New(memory(t), faults.Options{Sleep: func(ctx context.Context, d time.Duration) error {
		slept += d
		return context.Cause(ctx)
	}})
	defer b.Close()
	b.Inject(faults.Rule{Fault: faults.Delay(24 * time.Hour)})
	put(t, b, "key", "one")
	if slept != 24*time.Hour {
		t.Errorf("slept %v", slept)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Put(ctx, "key", []byte("two"), store.Overwrite()); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: %v", err)
	}
	mustHold(t, b, "key", "one")
}

func TestIgnoredConditions(t *testing.T) {
	b := open(t)
	put(t, b, "key", "one")
	try := func(c store.Condition) error {
		_, err := b.Put(t.Context(), "key", []byte("x"), c)
		return err
	}
	b.Inject(faults.Rule{Fault: faults.IgnoreIfAbsent()})
	if err := try(store.IfAbsent()); err != nil {
		t.Errorf("a store that ignores if-absent: %v", err)
	}
	if err := try(store.IfMatch("stale")); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a store that ignores if-absent only: %v", err)
	}
	b.Clear()
	b.Inject(faults.Rule{Fault: faults.IgnoreIfMatch()})
	if err := try(store.IfMatch("stale")); err != nil {
		t.Errorf("a store that ignores if-match: %v", err)
	}
	if err := try(store.IfAbsent()); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a store that ignores if-match only: %v", err)
	}
}

func TestListings(t *testing.T) {
	b := open(t)
	keys := func(want ...string) {
		t.Helper()
		entries, err := b.List(t.Context(), "a/")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Key)
		}
		if !slices.Equal(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
	}
	put(t, b, "a/1", "")
	put(t, b, "a/2", "")
	stale := b.Inject(faults.Rule{Ops: faults.List, Key: "a/", Fault: faults.StaleList()})
	keys("a/1", "a/2")
	put(t, b, "a/3", "")
	keys("a/1", "a/2")
	if err := b.Delete(t.Context(), "a/1"); err != nil {
		t.Fatal(err)
	}
	keys("a/1", "a/2")
	stale.Remove()
	keys("a/2", "a/3")
	omit := b.Inject(faults.Rule{Ops: faults.List, Times: 1, Fault: faults.OmitFromList("*2")})
	keys("a/3")
	keys("a/2", "a/3")
	omit.Remove()
	b.Inject(faults.Rule{Ops: faults.List, Fault: faults.RepeatInList("a/3")})
	keys("a/2", "a/3", "a/3")
}

// held starts a Put that the gate holds up, and cancels it if told so.
func held(t *testing.T, b *faults.Bucket, gate *faults.Gate, cancelIt bool) (result chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	result = make(chan error, 1)
	go func() {
		_, err := b.Put(ctx, "key", []byte("new"), store.Overwrite())
		result <- err
	}()
	if err := gate.AwaitRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if cancelIt {
		cancel()
	}
	return result
}

func TestGates(t *testing.T) {
	tests := []struct {
		name        string
		fault       func(*faults.Gate) faults.Fault
		whileShut   string // what the key holds while the request is held up
		afterCancel error  // what the caller gets if it does not wait
		afterOpen   string // what the key holds once the gate opened, all the same
	}{
		{"before", (*faults.Gate).Before, "old", context.Canceled, "old"},
		{"after", (*faults.Gate).After, "new", store.ErrUnknownOutcome, "new"},
		{"late", (*faults.Gate).Late, "old", store.ErrUnknownOutcome, "new"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, cancelled := range []bool{false, true} {
				gate, b := faults.NewGate(), open(t)
				put(t, b, "key", "old")
				b.Inject(faults.Rule{Ops: faults.Put, Fault: test.fault(gate)})
				result := held(t, b, gate, cancelled)
				if !cancelled {
					mustHold(t, b, "key", test.whileShut)
					gate.Open()
					if err := <-result; err != nil {
						t.Errorf("after the gate opened: %v", err)
					}
					mustHold(t, b, "key", "new")
					continue
				}
				if err := <-result; !errors.Is(err, test.afterCancel) || !errors.Is(err, context.Canceled) {
					t.Errorf("cancelled: %v", err)
				}
				mustHold(t, b, "key", test.whileShut)
				gate.Open()
				mustCome(t, b, test.afterOpen)
			}
		})
	}
}

// mustCome waits until the key holds the data.
func mustCome(t *testing.T, b store.Bucket, data string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		o, err := b.Get(t.Context(), "key")
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the key holds %q, %v, want %q", o.Data, err, data)
		}
		if string(o.Data) == data {
			return
		}
	}
}

func TestCloseEndsWhatIsHeldUp(t *testing.T) {
	for _, fault := range []func(*faults.Gate) faults.Fault{(*faults.Gate).Before, (*faults.Gate).After, (*faults.Gate).Late} {
		gate := faults.NewGate()
		b := faults.New(memory(t), faults.Options{})
		b.Inject(faults.Rule{Ops: faults.Put, Fault: fault(gate)})
		result := held(t, b, gate, false)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := <-result; !errors.Is(err, store.ErrClosed) {
			t.Errorf("a held request ended with %v", err)
		}
		if _, err := b.Put(t.Context(), "key", nil, store.Overwrite()); !errors.Is(err, store.ErrClosed) {
			t.Errorf("Put after Close: %v", err)
		}
	}
}

func TestRequestsAreCounted(t *testing.T) {
	b := open(t)
	b.Inject(faults.Rule{Ops: faults.Put, Key: "leases/1", Fault: faults.Throttle()})
	var group sync.WaitGroup
	for i := range 10 {
		group.Go(func() {
			_, _ = b.Put(context.Background(), fmt.Sprint("leases/", i), nil, store.IfAbsent())
			_, _ = b.Get(context.Background(), "leases/0")
			_, _ = b.List(context.Background(), "leases/")
			_ = b.Delete(context.Background(), "other")
		})
	}
	group.Wait()
	tests := []struct {
		ops     faults.Op
		pattern string
		want    int
	}{
		{faults.Any, "*", 40},
		{faults.Put, "leases/*", 10},
		{faults.Put, "leases/1", 1},
		{faults.Get, "*", 10},
		{faults.Get, "leases/0", 10},
		{faults.List, "leases/", 10},
		{faults.List | faults.Delete, "*", 20},
		{faults.Delete, "leases/*", 0},
	}
	for _, test := range tests {
		if got := b.Requests(test.ops, test.pattern); got != test.want {
			t.Errorf("Requests(%b, %q) = %d, want %d", test.ops, test.pattern, got, test.want)
		}
	}
	b.ResetRequests()
	if got := b.Requests(faults.Any, "*"); got != 0 {
		t.Errorf("%d requests after a reset", got)
	}
}
