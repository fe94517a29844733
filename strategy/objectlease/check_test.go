package objectlease

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/faults"
	"github.com/slap-go/slap/strategy/lease"
)

var errTold = errors.New("as told")

// stores are one of each kind.
func stores(t *testing.T) map[string]store.Store {
	t.Helper()
	return map[string]store.Store{
		"memory":    store.Memory(),
		"directory": store.Dir(t.TempDir()),
		"S3":        s3test.Start(t, "bucket").Store("bucket", "prefix"),
	}
}

// Every kind of store passes, and fails as soon as it ignores what it is asked for.
func TestOL2_Setup(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			r := at(t, s, "path")
			b := faults.New(r.bucket, faults.Options{})
			r.bucket = b
			defer r.Close()
			mustBe(t, setUpAtOnce(t, r, 8), nil)
			b.ResetRequests()
			mustBe(t, r.Setup(t.Context()), nil)
			if n := b.Requests(faults.Any, "*"); n > 4 || n != b.Requests(faults.Put, "path/_cluster/placement/check") {
				t.Errorf("the check takes %d requests", n)
			}
			for want, fault := range map[string]faults.Fault{
				"accepted an update whose If-Match names a version that was replaced": faults.IgnoreIfMatch(),
				"accepted a create-if-absent (If-None-Match)":                         faults.IgnoreIfAbsent(),
				"has no conditional updates":                                          noUpdates,
			} {
				rule := b.Inject(faults.Rule{Fault: fault})
				mustRefuse(t, r.Setup(t.Context()), want)
				mustRefuse(t, setUpAtOnce(t, r, 8), want)
				rule.Remove()
				mustBe(t, r.Setup(t.Context()), nil)
			}
		})
	}
}

// noUpdates is a store that can create objects, and no more.
func noUpdates(ctx context.Context, r faults.Request, next faults.Next) faults.Reply {
	if _, match := r.Condition.Match(); match {
		return faults.Reply{Err: errors.ErrUnsupported}
	}
	return next(ctx, r)
}

func mustRefuse(t *testing.T, err error, want string) {
	t.Helper()
	if !errors.Is(err, lease.ErrUnsupported) || !strings.Contains(err.Error(), want) {
		t.Errorf("Setup: %v, want ErrUnsupported: %q", err, want)
	}
}

// setUpAtOnce lets nodes check at once. It returns the first error.
func setUpAtOnce(t *testing.T, r *records, n int) error {
	t.Helper()
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = r.Setup(t.Context()) })
	}
	group.Wait()
	slices.SortFunc(errs, func(a, b error) int {
		if (a == nil) == (b == nil) {
			return 0
		}
		if a != nil {
			return -1
		}
		return 1
	})
	return errs[0]
}

func TestOL2_ConflictOfTheFirstUpdateIsAnother(t *testing.T) {
	r, b := faulty(t)
	b.Inject(faults.Rule{Ops: faults.Put, Skip: 1, Times: 1, Fault: func(ctx context.Context, q faults.Request, next faults.Next) faults.Reply {
		mustBe(t, next(ctx, faults.Request{Op: faults.Put, Key: q.Key, Data: []byte("another's")}).Err, nil)
		return next(ctx, q)
	}})
	mustBe(t, r.Setup(t.Context()), nil)
}

// Whatever passes says nothing about the store, at no step, and the next check succeeds.
func TestOL2_ErrorsThatPass(t *testing.T) {
	for step := range 4 {
		for _, fault := range []faults.Fault{faults.Throttle(), faults.Fail(errTold), faults.LoseReply()} {
			r, b := faulty(t)
			b.Inject(faults.Rule{Skip: step, Times: 1, Fault: fault})
			if err := r.Setup(t.Context()); err == nil || errors.Is(err, lease.ErrUnsupported) {
				t.Errorf("step %d: %v", step, err)
			}
			mustBe(t, r.Setup(t.Context()), nil)
		}
	}
}

func TestOL2_EndsWithItsContext(t *testing.T) {
	for step := range 4 {
		r, b := faulty(t)
		gate := faults.NewGate()
		b.Inject(faults.Rule{Skip: step, Fault: gate.Late()})
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- r.Setup(ctx) }()
		mustBe(t, gate.AwaitRequest(t.Context()), nil)
		cancel()
		err := <-result
		mustBe(t, err, context.Canceled)
		if errors.Is(err, lease.ErrUnsupported) {
			t.Errorf("step %d: %v", step, err)
		}
		gate.Open()
	}
}
