package httpapi

import (
	"errors"
	"net/http"

	"github.com/slap-go/slap"
)

// Codes of errors. The first seven are those of routing.
const (
	codeUnassigned   = "unassigned"
	codeNotOwner     = "not_owner"
	codeNoConnection = "no_connection"
	codeFenced       = "fenced"
	codeUnavailable  = "unavailable"
	codeTimeout      = "timeout"
	codeInvalid      = "invalid"
	codeNotFound     = "not_found"
	codeMethod       = "method_not_allowed"
	codePrecondition = "precondition_failed"
)

// Whether a request was executed, as far as the caller may know.
const (
	notExecuted = "no"
	unknown     = "unknown"
)

// problem is the body of every error.
type problem struct {
	Code     string `json:"code"`
	Executed string `json:"executed"`
	Message  string `json:"message"`
}

func fail(w http.ResponseWriter, status int, p problem) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, map[string]problem{"error": p})
}

func invalid(w http.ResponseWriter, err error) {
	fail(w, http.StatusBadRequest, problem{codeInvalid, notExecuted, err.Error()})
}

// describe is the problem of a request that the cluster did not answer.
func describe(err error) problem {
	p := problem{Code: code(err), Executed: unknown, Message: err.Error()}
	if errors.Is(err, slap.ErrNotExecuted) {
		p.Executed = notExecuted
	}
	return p
}

// status follows from whether the request was executed, except that a request
// which can never be executed is the client's mistake.
func (p problem) status() int {
	switch {
	case p.Executed == unknown:
		return http.StatusGatewayTimeout
	case p.Code == codeInvalid:
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// codes are looked through in order: a deadline also carries the routing error
// before it, and what is not durable also says why.
var codes = []struct {
	kind error
	code string
}{
	{slap.ErrTimeout, codeTimeout},
	{slap.ErrFenced, codeFenced},
	{slap.ErrUnassigned, codeUnassigned},
	{slap.ErrNotOwner, codeNotOwner},
	{slap.ErrNoConnection, codeNoConnection},
	{slap.ErrTooLarge, codeInvalid},
	{slap.ErrUnknownType, codeInvalid},
	{slap.ErrInvalid, codeInvalid},
	{slap.ErrNoChild, codeInvalid},
	{slap.ErrNoHandler, codeInvalid},
}

func code(err error) string {
	for _, c := range codes {
		if errors.Is(err, c.kind) {
			return c.code
		}
	}
	return codeUnavailable
}
