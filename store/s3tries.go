package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// effect is what one try of a request says about its effect on the store.
type effect uint8

const (
	applied   effect = iota // it was carried out
	unmet                   // the condition did not hold: this try wrote nothing
	missing                 // there is no object to read
	refused                 // not carried out, and another try would end alike
	outdated                // not carried out: credentials or clock must be refreshed first
	postponed               // not carried out; another try may succeed
	unclear                 // it may have been carried out
)

// errMalformed says that a reply has the form of a success but not its content.
var errMalformed = errors.New("the reply is not one of an S3 server")

// judge turns the result of one try into its effect. sent tells whether the
// request had a connection, so that the server may know of it.
func judge(err error, sent bool, c Condition) effect {
	if err == nil {
		return applied
	}
	var response *smithyhttp.ResponseError
	switch {
	case errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusMultipleChoices:
		return judgeStatus(response.HTTPStatusCode(), code(err, response.HTTPStatusCode()), c)
	case sent:
		return unclear
	case isUnsendable(err):
		return refused
	default:
		return postponed
	}
}

// judgeStatus knows the answers that S3 and its relatives give.
func judgeStatus(status int, code string, c Condition) effect {
	switch code {
	case "NoSuchBucket", "ObjectParentIsFile", "ExistingObjectIsDirectory", "NotImplemented":
		return refused
	case "ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired", "RequestTimeTooSkewed", "RequestExpired":
		return outdated
	case "RequestTimeout", "SlowDown", "ConditionalRequestConflict", "OperationAborted":
		// SlowDown comes with 503 and promises less than the others.
		if status < http.StatusInternalServerError {
			return postponed
		}
	}
	switch {
	case status == http.StatusPreconditionFailed:
		return unmet
	case code == "NoSuchKey":
		if _, match := c.Match(); match {
			return unmet
		}
		return missing
	case status == http.StatusConflict, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return postponed
	case status >= http.StatusInternalServerError && status != http.StatusNotImplemented:
		return unclear
	default:
		return refused
	}
}

// isUnsendable tells errors from which no request can come, however often it is
// tried: no credentials, an endpoint or a region that makes no address.
func isUnsendable(err error) bool {
	var send *smithyhttp.RequestSendError
	var canceled *smithy.CanceledError
	return errors.Is(err, errCredentials) || !errors.As(err, &send) && !errors.As(err, &canceled)
}

// code is the S3 error code of a reply. Without one the SDK makes one of the
// status, which must not pass for the server's: a 404 may be of any web server.
func code(err error, status int) string {
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() == strings.ReplaceAll(http.StatusText(status), " ", "") {
		return ""
	}
	return api.ErrorCode()
}

// tries is the story of one request: what its tries so far mean together. It has
// no clock and does no I/O.
type tries struct {
	write     bool // it changes something, so that an unclear try matters
	hasty     bool // a server that cannot be reached, or is none of S3, ends it
	unclear   bool // a try may have been carried out
	refreshed bool // credentials and clock were refreshed once
}

// add takes the next try in. If final, err is what the caller gets.
func (t *tries) add(e effect, sent bool, reason error) (final bool, err error) {
	switch e {
	case applied:
		return true, nil
	case unmet:
		return true, t.verdict(ErrConflict)
	case missing:
		if !t.write {
			reason = ErrNotFound
		}
		return true, t.verdict(reason)
	case outdated:
		final, t.refreshed = t.refreshed, true
		return final, t.verdict(reason)
	case postponed:
		return t.hasty && !sent, t.verdict(reason)
	case unclear:
		t.unclear = t.unclear || t.write
		return t.hasty && errors.Is(reason, errMalformed), t.verdict(reason)
	default:
		return true, t.verdict(reason)
	}
}

// verdict is the error for a request that ends now. A write with an unclear try
// is unknown whatever came later: the later answer may be about its own effect,
// and the unclear try may still be on its way.
func (t *tries) verdict(reason error) error {
	if !t.unclear {
		return reason
	}
	if errors.Is(reason, ErrConflict) {
		return fmt.Errorf("%w: no reply came, and the condition no longer held when it was tried again", ErrUnknownOutcome)
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, reason)
}

// Pauses between tries: from the first, doubling, to the longest, each shortened
// at random by up to a half.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

// pause is how long to wait after try n, counted from 0. random is in [0, 1).
func pause(n int, random float64) time.Duration {
	d := longestPause
	if n < 6 {
		d = min(d, firstPause<<n)
	}
	return d - time.Duration(random*float64(d)/2)
}

// ended is the error of a request whose context ended after the last reason.
func ended(ctx context.Context, last error) error {
	cause := context.Cause(ctx)
	if last == nil {
		return fmt.Errorf("no request was sent: %w", cause)
	}
	if errors.Is(last, cause) {
		return last
	}
	return fmt.Errorf("%w (%w)", last, cause)
}
