package httpapi

import (
	"errors"
	"net/http"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/internal/counter"
	"github.com/slap-go/slap/cmd/demo/internal/kv"
)

// Codes of errors. The first seven are those of routing.
const (
	codeUnassigned   = "unassigned"
	codeNotOwner     = "not_owner"
	codeNoConnection = "no_connection"
	codeFenced       = "fenced"
	codeUnavailable  = "unavailable"
	codeTimeout      = "timeout"
	codeInvalid      = counter.Invalid
	codeNotFound     = kv.NotFound
	codePrecondition = kv.PreconditionFailed
	codeMethod       = "method_not_allowed"
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

// describe is the problem of a request that was refused, or that the cluster did not
// answer.
func describe(err error) problem {
	if no, ok := errors.AsType[*slap.AppError](err); ok {
		return problem{no.Code, notExecuted, no.Message}
	}
	p := problem{Code: code(err), Executed: unknown, Message: err.Error()}
	if errors.Is(err, slap.ErrNotExecuted) {
		p.Executed = notExecuted
	}
	return p
}

// status follows from whether the request was executed, except that a request
// which can never be executed is the client's mistake.
func (p problem) status() int {
	if p.Executed == unknown {
		return http.StatusGatewayTimeout
	}
	switch p.Code {
	case codeInvalid:
		return http.StatusBadRequest
	case codeNotFound:
		return http.StatusNotFound
	case codePrecondition:
		return http.StatusPreconditionFailed
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
