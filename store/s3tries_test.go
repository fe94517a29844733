package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// answer is the error that the SDK makes of a reply.
func answer(status int, code string) error {
	if code == "" {
		code = strings.ReplaceAll(http.StatusText(status), " ", "")
	}
	return &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: http.Header{}}},
		Err:      &smithy.GenericAPIError{Code: code},
	}
}

func TestJudge(t *testing.T) {
	lost := &smithyhttp.RequestSendError{Err: errors.New("connection reset")}
	for _, tc := range []struct {
		name string
		err  error
		sent bool
		cond Condition
		want effect
	}{
		{"success", nil, true, Overwrite(), applied},
		{"condition not met", answer(412, "PreconditionFailed"), true, IfAbsent(), unmet},
		{"matched object is gone", answer(404, "NoSuchKey"), true, IfMatch("v"), unmet},
		{"nothing to read", answer(404, "NoSuchKey"), true, Overwrite(), missing},
		{"no bucket under a condition", answer(404, "NoSuchBucket"), true, IfMatch("v"), refused},
		{"404 of something else than S3", answer(404, ""), true, IfMatch("v"), refused},
		{"race of conditional writes", answer(409, "ConditionalRequestConflict"), true, IfMatch("v"), postponed},
		{"conflict without a code", answer(409, ""), true, IfAbsent(), postponed},
		{"key below a key", answer(409, "ObjectParentIsFile"), true, IfAbsent(), refused},
		{"too many requests", answer(429, "SlowDown"), true, IfAbsent(), postponed},
		{"body came too slowly", answer(400, "RequestTimeout"), true, IfAbsent(), postponed},
		{"slow down", answer(503, "SlowDown"), true, IfAbsent(), unclear},
		{"internal error", answer(500, "InternalError"), true, IfAbsent(), unclear},
		{"gateway timeout", answer(504, ""), true, IfAbsent(), unclear},
		{"no conditions here", answer(501, "NotImplemented"), true, IfAbsent(), refused},
		{"access denied", answer(403, "AccessDenied"), true, IfAbsent(), refused},
		{"redirect", answer(301, "PermanentRedirect"), true, IfAbsent(), refused},
		{"expired credentials", answer(400, "ExpiredToken"), true, IfAbsent(), outdated},
		{"clock", answer(403, "RequestTimeTooSkewed"), true, IfAbsent(), outdated},
		{"unreadable success", answer(200, ""), true, IfAbsent(), unclear},
		{"success without an ETag", errMalformed, true, IfAbsent(), unclear},
		{"connection lost", lost, true, IfAbsent(), unclear},
		{"never connected", lost, false, IfAbsent(), postponed},
		{"given up before it was sent", &smithy.CanceledError{Err: context.DeadlineExceeded}, false, IfAbsent(), postponed},
		{"given up after it was sent", &smithy.CanceledError{Err: context.DeadlineExceeded}, true, IfAbsent(), unclear},
		{"no credentials", errCredentials, false, IfAbsent(), refused},
		{"no address", errors.New("cannot resolve the endpoint"), false, IfAbsent(), refused},
	} {
		if got := judge(tc.err, tc.sent, tc.cond); got != tc.want {
			t.Errorf("%s: effect %d; want %d", tc.name, got, tc.want)
		}
	}
}

// The stories of a request: one effect per try, the last one final.
func TestTriesVerdict(t *testing.T) {
	reason := errors.New("reason")
	for _, tc := range []struct {
		name  string
		tries tries
		story []effect
		want  []error // all of them
		not   []error
	}{
		{"first try", tries{write: true}, []effect{applied}, nil, nil},
		{"a burst of conflicts", tries{write: true}, []effect{postponed, postponed, applied}, nil, nil},
		{"lost the race", tries{write: true}, []effect{postponed, unmet}, []error{ErrConflict}, []error{ErrUnknownOutcome}},
		{"own write in the way", tries{write: true}, []effect{unclear, unmet}, []error{ErrUnknownOutcome}, []error{ErrConflict}},
		{"success after doubt", tries{write: true}, []effect{unclear, postponed, applied}, nil, nil},
		{"doubt stays", tries{write: true}, []effect{unclear, postponed, unmet}, []error{ErrUnknownOutcome}, []error{ErrConflict}},
		{"refused after doubt", tries{write: true}, []effect{unclear, refused}, []error{ErrUnknownOutcome, reason}, nil},
		{"refused", tries{write: true}, []effect{refused}, []error{reason}, []error{ErrUnknownOutcome}},
		{"write to a place that is gone", tries{write: true}, []effect{missing}, []error{reason}, []error{ErrNotFound}},
		{"credentials refreshed", tries{write: true}, []effect{outdated, applied}, nil, nil},
		{"credentials that stay expired", tries{write: true}, []effect{outdated, outdated}, []error{reason}, []error{ErrUnknownOutcome}},
		{"read without a reply", tries{}, []effect{unclear, missing}, []error{ErrNotFound}, []error{ErrUnknownOutcome}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := tc.tries
			for i, e := range tc.story {
				final, err := h.add(e, true, reason)
				if last := i == len(tc.story)-1; final != last {
					t.Fatalf("final=%t after try %d", final, i+1)
				}
				if final {
					checkVerdict(t, err, tc.want, tc.not)
				}
			}
		})
	}
}

func checkVerdict(t *testing.T, err error, want, not []error) {
	t.Helper()
	if (err == nil) != (len(want) == 0) {
		t.Fatalf("error %v; want %v", err, want)
	}
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("error %v is not %v", err, w)
		}
	}
	for _, n := range not {
		if errors.Is(err, n) {
			t.Errorf("error %v is %v", err, n)
		}
	}
}

func TestTriesHasty(t *testing.T) {
	h := tries{hasty: true}
	if final, _ := h.add(postponed, true, errors.New("busy")); final {
		t.Error("a server that answers was given up")
	}
	if final, _ := h.add(unclear, true, errors.New("busy")); final {
		t.Error("a busy server was given up")
	}
	if final, _ := h.add(postponed, false, errors.New("refused")); !final {
		t.Error("a server that cannot be reached was tried again")
	}
	if final, _ := h.add(unclear, true, errMalformed); !final {
		t.Error("a server that is none of S3 was tried again")
	}
}

func TestPause(t *testing.T) {
	if longest, shortest := pause(0, 0), pause(0, 1); longest != firstPause || shortest != firstPause/2 {
		t.Errorf("first pause from %s to %s", shortest, longest)
	}
	previous := time.Duration(0)
	for n := range 100 {
		d := pause(n, 0)
		if d < previous || d > longestPause {
			t.Fatalf("pause %d is %s after %s", n, d, previous)
		}
		previous = d
	}
	if previous != longestPause {
		t.Errorf("pauses end at %s", previous)
	}
}

func TestEndedKeepsReasonAndCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause, reason := errors.New("cause"), errors.New("reason")
	cancel(cause)
	checkVerdict(t, ended(ctx, nil), []error{cause}, nil)
	checkVerdict(t, ended(ctx, reason), []error{cause, reason}, nil)
	doubt := fmt.Errorf("%w: %w", ErrUnknownOutcome, cause)
	if got := ended(ctx, doubt); !errors.Is(got, doubt) || got.Error() != doubt.Error() {
		t.Errorf("%q became %q", doubt, got)
	}
}

// The time of a caller may be over while a connection is still being made: then it is the
// time that is the reason, not the server.
func TestARequestWhoseTimeIsOverBeforeItIsSentEndsWithTheCause(t *testing.T) {
	enough := errors.New("enough")
	b := &s3Bucket{at: Location{RequestTimeout: time.Minute}, life: t.Context(), random: func() float64 { return 0 }}
	for _, hasty := range []bool{false, true} {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, enough)
		defer cancel()
		err := b.do(ctx, request{hasty: hasty, try: func(ctx context.Context) error {
			<-ctx.Done()
			return &smithy.CanceledError{Err: ctx.Err()}
		}})
		if !errors.Is(err, enough) {
			t.Errorf("hasty %v: %v", hasty, err)
		}
	}
}
