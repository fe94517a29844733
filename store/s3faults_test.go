package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
)

// flaky is a bucket behind a proxy, and the same one without it.
type flaky struct {
	proxy  *s3test.Proxy
	bucket store.Bucket // through the proxy
	direct store.Bucket
}

func newFlaky(t *testing.T) *flaky {
	t.Helper()
	server := s3test.Start(t, "bucket")
	proxy := s3test.NewProxy(t, server)
	return &flaky{
		proxy:  proxy,
		bucket: open(t, proxy.Store("bucket", "place")),
		direct: open(t, server.Store("bucket", "place")),
	}
}

// writes are requests that put a key.
var writes = s3test.On(http.MethodPut, "place/")

func (f *flaky) fail(fault s3test.Fault, times int) *s3test.Injection {
	return f.proxy.Inject(s3test.Rule{Match: writes, Fault: fault, Times: times})
}

// seed writes without the proxy.
func (f *flaky) seed(t *testing.T, key, data string) store.Version {
	t.Helper()
	v, err := f.direct.Put(t.Context(), key, []byte(data), store.Overwrite())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (f *flaky) mustHold(t *testing.T, key, want string) {
	t.Helper()
	if o, err := f.direct.Get(t.Context(), key); err != nil || string(o.Data) != want {
		t.Fatalf("the store holds %q, %v; want %q", o.Data, err, want)
	}
}

// within bounds a call; it leaves time for many tries.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func mustBe(t *testing.T, err, want error, not ...error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v; want %v", err, want)
	}
	for _, n := range not {
		if errors.Is(err, n) {
			t.Fatalf("error %v is also %v", err, n)
		}
	}
}

// S25: the write is applied and its reply lost. The client's own next try meets
// its own object, which must be taken for neither a success nor a conflict.
func TestS25_LostReplyIsUnknown(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]s3test.Fault{
		"cut":             s3test.LoseReply,
		"500 after apply": s3test.ApplyThenStatus(500, "InternalError"),
		"503 after apply": s3test.ApplyThenStatus(503, "SlowDown"),
		"empty reply":     s3test.EmptyReply,
	} {
		for _, times := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s/%d", name, times), func(t *testing.T) {
				t.Parallel()
				f := newFlaky(t)
				f.fail(fault, times)
				_, err := f.bucket.Put(within(t, 30*time.Second), "new", []byte("mine"), store.IfAbsent())
				mustBe(t, err, store.ErrUnknownOutcome, store.ErrConflict, context.DeadlineExceeded)
				f.mustHold(t, "new", "mine")
			})
		}
	}
}

func TestS25_LostReplyOfAnUpdateIsUnknown(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	v := f.seed(t, "key", "old")
	f.fail(s3test.LoseReply, 1)
	_, err := f.bucket.Put(within(t, 30*time.Second), "key", []byte("mine"), store.IfMatch(v))
	mustBe(t, err, store.ErrUnknownOutcome, store.ErrConflict)
	f.mustHold(t, "key", "mine")
}

// A request that was lost on its way meets somebody else's object when it is
// tried again: the client cannot tell this from its own.
func TestS25_LostRequestBeforeSomebodyElsesWriteIsUnknown(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	f.fail(func(x *s3test.Exchange) {
		f.seed(t, "new", "theirs")
		x.Cut()
	}, 1)
	_, err := f.bucket.Put(within(t, 30*time.Second), "new", []byte("mine"), store.IfAbsent())
	mustBe(t, err, store.ErrUnknownOutcome, store.ErrConflict)
	f.mustHold(t, "new", "theirs")
}

// What was never applied is tried until it is.
func TestS26_BurstsArePassed(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]s3test.Fault{
		"409":       s3test.Status(409, "ConditionalRequestConflict"),
		"429":       s3test.Status(429, "SlowDown"),
		"500":       s3test.Status(500, "InternalError"),
		"503":       s3test.Status(503, "SlowDown"),
		"503 plain": s3test.Status(503, ""),
		"dropped":   s3test.Drop,
		"200 error": s3test.ErrorUnder200("InternalError"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlaky(t)
			rule := f.fail(fault, 5)
			v, err := f.bucket.Put(within(t, 30*time.Second), "new", []byte("mine"), store.IfAbsent())
			if err != nil {
				t.Fatal(err)
			}
			if o, err := f.direct.Get(t.Context(), "new"); err != nil || o.Version != v {
				t.Fatalf("the store holds version %q, %v; Put returned %q", o.Version, err, v)
			}
			if rule.Hits() != 5 {
				t.Errorf("%d tries failed; want 5", rule.Hits())
			}
		})
	}
}

// A 409 says for certain that nothing was written, so what follows is certain too.
func TestS26_ConflictAfterABurstOf409IsCertain(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	f.seed(t, "new", "theirs")
	f.fail(s3test.Status(409, "ConditionalRequestConflict"), 3)
	_, err := f.bucket.Put(within(t, 30*time.Second), "new", []byte("mine"), store.IfAbsent())
	mustBe(t, err, store.ErrConflict, store.ErrUnknownOutcome)
}

func TestS26_BurstThatOutlastsTheCaller(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault   s3test.Fault
		unknown bool
	}{
		"409":       {s3test.Status(409, "ConditionalRequestConflict"), false},
		"429":       {s3test.Status(429, "SlowDown"), false},
		"503":       {s3test.Status(503, "SlowDown"), true},
		"dropped":   {s3test.Drop, true},
		"200 error": {s3test.ErrorUnder200("InternalError"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlaky(t)
			rule := f.fail(tc.fault, 0)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer cancel()
				rule.Await(t, 2)
			}()
			_, err := f.bucket.Put(ctx, "new", []byte("mine"), store.IfAbsent())
			mustBe(t, err, context.Canceled, store.ErrConflict)
			// The end itself may have cut a try short, which leaves it in doubt.
			cut := strings.Contains(err.Error(), "cancelled before")
			if unknown := errors.Is(err, store.ErrUnknownOutcome); unknown != tc.unknown && (!unknown || !cut) {
				t.Fatalf("unknown=%t: %v", unknown, err)
			}
		})
	}
}

// A hanging request ends with its context, and what it may still do is unknown:
// here it is applied after the caller has gone.
func TestHangEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	rule := f.fail(s3test.HoldRequest, 1)
	start := time.Now()
	_, err := f.bucket.Put(within(t, 6*time.Second), "new", []byte("late"), store.IfAbsent())
	mustBe(t, err, store.ErrUnknownOutcome, store.ErrConflict)
	mustBe(t, err, context.DeadlineExceeded)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the call ended after %s", took)
	}
	applied := f.proxy.Count(nil)
	rule.Release()
	eventually(t, func() bool {
		_, err := f.direct.Get(t.Context(), "new")
		return err == nil
	})
	if applied.N() != 0 {
		t.Error("the client tried again after its deadline")
	}
}

func TestHangEndsAtCancellation(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	rule := f.fail(s3test.Hang, 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := f.bucket.Put(ctx, "new", nil, store.IfAbsent())
		done <- err
	}()
	rule.Await(t, 1)
	cancel()
	err := <-done
	mustBe(t, err, store.ErrUnknownOutcome)
	mustBe(t, err, context.Canceled)
}

func TestHangEndsAtClose(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	rule := f.fail(s3test.Hang, 0)
	done := make(chan error)
	go func() {
		_, err := f.bucket.Put(t.Context(), "new", nil, store.IfAbsent())
		done <- err
	}()
	rule.Await(t, 1)
	if err := f.bucket.Close(); err != nil {
		t.Fatal(err)
	}
	err := <-done
	mustBe(t, err, store.ErrUnknownOutcome)
	mustBe(t, err, store.ErrClosed)
}

// Without a deadline the request timeout bounds a call; with one it bounds each try.
func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	o := options(f.proxy.Endpoint)
	o.RequestTimeout = 3 * time.Second
	quick := open(t, store.S3(o))
	rule := f.proxy.Inject(s3test.Rule{Fault: s3test.Hang})
	_, err := quick.Put(t.Context(), "key", nil, store.Overwrite())
	mustBe(t, err, store.ErrUnknownOutcome)
	_, err = quick.Get(t.Context(), "key")
	mustBe(t, err, context.DeadlineExceeded)
	rule.Release()

	f.proxy.Inject(s3test.Rule{Fault: s3test.Hang, Times: 2})
	if _, err := quick.Put(within(t, time.Minute), "key", nil, store.Overwrite()); err != nil {
		t.Fatalf("the third try did not come: %v", err)
	}
}

// S30: replies that look like a success.
func TestS30_BadRepliesAreReadAgain(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]s3test.Fault{
		"truncated": s3test.TruncateReply,
		"empty":     s3test.EmptyReply,
		"error":     s3test.ErrorUnder200("InternalError"),
		"503":       s3test.Status(503, "SlowDown"),
		"cut":       s3test.Drop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlaky(t)
			v := f.seed(t, "key", "data that is long enough to be cut in two")
			gets := f.proxy.Inject(s3test.Rule{Match: s3test.On(http.MethodGet, "place/"), Fault: fault, Times: 3})
			o, err := f.bucket.Get(within(t, 30*time.Second), "key")
			if err != nil || o.Version != v || !strings.HasSuffix(string(o.Data), "two") {
				t.Fatalf("read %q, %v", o.Data, err)
			}
			gets.Release()

			lists := f.proxy.Inject(s3test.Rule{Match: s3test.On(http.MethodGet, "place/"), Fault: fault, Times: 3})
			entries, err := f.bucket.List(within(t, 30*time.Second), "")
			if err != nil || len(entries) != 1 || entries[0].Version != v {
				t.Fatalf("listed %v, %v", entries, err)
			}
			if gets.Hits() != 3 || lists.Hits() != 3 {
				t.Errorf("%d reads and %d listings failed; want 3 and 3", gets.Hits(), lists.Hits())
			}
		})
	}
}

// S30: a bad reply that does not end is an error, never an empty object or list.
func TestS30_BadRepliesNeverPassForData(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]s3test.Fault{
		"truncated": s3test.TruncateReply, "empty": s3test.EmptyReply, "error": s3test.ErrorUnder200("InternalError"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlaky(t)
			f.seed(t, "key", "data")
			f.proxy.Inject(s3test.Rule{Match: s3test.On(http.MethodGet, ""), Fault: fault})
			o, err := f.bucket.Get(within(t, 200*time.Millisecond), "key")
			mustBe(t, err, context.DeadlineExceeded, store.ErrNotFound)
			if o.Data != nil || o.Version != "" {
				t.Errorf("Get returned %v beside its error", o)
			}
			entries, err := f.bucket.List(within(t, 200*time.Millisecond), "")
			mustBe(t, err, context.DeadlineExceeded)
			if entries != nil {
				t.Errorf("List returned %v beside its error", entries)
			}
		})
	}
}

// S32: connections that swallow everything. One call at most is lost to each of
// them together, not one after the other.
func TestS32_LostConnectionsAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	hold := f.proxy.Inject(s3test.Rule{Fault: s3test.HoldRequest})
	done := make(chan error)
	const connections = 8
	for range connections {
		go func() {
			_, err := f.bucket.Get(t.Context(), "none")
			done <- err
		}()
	}
	hold.Await(t, connections)
	hold.Release()
	for range connections {
		mustBe(t, <-done, store.ErrNotFound)
	}
	f.proxy.Blackhole()
	if _, err := f.bucket.Get(within(t, 300*time.Millisecond), "none"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a lost connection answered: %v", err)
	}
	_, err := f.bucket.Get(within(t, 30*time.Second), "none")
	mustBe(t, err, store.ErrNotFound)
}

// A refused connection carries nothing: the write is certainly not applied, and
// succeeds once the server is back.
func TestRefusedConnections(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	f.proxy.Refuse()
	// Reads take the dead idle connections away, on which a write is in doubt.
	eventually(t, func() bool {
		_, err := f.bucket.Get(within(t, 100*time.Millisecond), "key")
		mustBe(t, err, context.DeadlineExceeded)
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	_, err := f.bucket.Put(within(t, 200*time.Millisecond), "key", nil, store.IfAbsent())
	mustBe(t, err, context.DeadlineExceeded, store.ErrUnknownOutcome, store.ErrConflict)

	done := make(chan error)
	go func() {
		_, err := f.bucket.Put(within(t, 30*time.Second), "key", []byte("mine"), store.IfAbsent())
		done <- err
	}()
	if err := f.proxy.Accept(); err != nil {
		t.Fatal(err)
	}
	// A reply may be lost while the proxy comes back.
	if err := <-done; err != nil && !errors.Is(err, store.ErrUnknownOutcome) {
		t.Fatal(err)
	}
	f.mustHold(t, "key", "mine")
}

func TestDeleteIsTriedUntilDone(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	f.seed(t, "key", "data")
	rule := f.proxy.Inject(s3test.Rule{Match: s3test.On(http.MethodDelete, ""), Fault: s3test.LoseReply, Times: 2})
	if err := f.bucket.Delete(within(t, 30*time.Second), "key"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.direct.Get(t.Context(), "key"); !errors.Is(err, store.ErrNotFound) || rule.Hits() != 2 {
		t.Fatalf("after %d lost replies: %v", rule.Hits(), err)
	}
}

func TestClockSkewIsCorrectedOnce(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	f.fail(s3test.Status(403, "RequestTimeTooSkewed"), 1)
	if _, err := f.bucket.Put(within(t, 30*time.Second), "key", nil, store.IfAbsent()); err != nil {
		t.Fatal(err)
	}
}

// Errors must not carry what a caller could log by mistake.
func TestErrorsShowNoCredentials(t *testing.T) {
	t.Parallel()
	f := newFlaky(t)
	for _, fault := range []s3test.Fault{
		s3test.Drop, s3test.Hang, s3test.TruncateReply, s3test.ErrorUnder200("X"), s3test.Status(403, "AccessDenied"), s3test.Status(418, "Odd"),
	} {
		rule := f.proxy.Inject(s3test.Rule{Fault: fault})
		_, err := f.bucket.Put(within(t, 100*time.Millisecond), "key", nil, store.IfAbsent())
		for e := err; e != nil; e = errors.Unwrap(e) {
			if text := fmt.Sprintf("%v %+v", e, e); strings.Contains(text, s3test.SecretKey) || strings.Contains(text, s3test.AccessKey) {
				t.Errorf("an error shows credentials: %s", text)
			}
		}
		if err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("not a sentence: %v", err)
		}
		rule.Release()
	}
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about within 30 s")
		}
	}
}
