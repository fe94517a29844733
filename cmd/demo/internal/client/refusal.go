package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refusal is the error of an answer that says that something was not done, or may not
// have been.
type refusal struct {
	kind   error // [ErrNotExecuted] or [ErrUnknown]
	status int
	text   string
	after  time.Duration // until the node wants to be asked again; 0 if it does not say
}

// Error says whether it was executed, and why not.
func (r *refusal) Error() string { return fmt.Sprintf("%v: status %d: %s", r.kind, r.status, r.text) }

// Unwrap gives the kind.
func (r *refusal) Unwrap() error { return r.kind }

// RetryAfter is the time for which the node that gave the error does not want to be asked
// the same again; 0 if it does not say.
func RetryAfter(err error) time.Duration {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.after
	}
	return 0
}

// outcome is nil for an answer that says that it was done.
func outcome(answer *http.Response, body []byte) error {
	switch answer.StatusCode {
	case http.StatusOK, http.StatusNoContent:
		return nil
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusPreconditionFailed:
		return ErrPrecondition
	}
	var said struct {
		Error struct {
			Executed string `json:"executed"`
			Message  string `json:"message"`
		} `json:"error"`
	}
	r := &refusal{kind: ErrUnknown, status: answer.StatusCode, after: retryAfter(answer.Header)}
	if json.Unmarshal(body, &said) == nil && said.Error.Executed == "no" {
		r.kind = ErrNotExecuted
	}
	r.text = strings.TrimSpace(said.Error.Message)
	return r
}

// retryAfter reads the number of seconds. The other form, a date, is not the demo's.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
