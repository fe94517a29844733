package messages

import (
	"errors"
	"fmt"
	"strings"
)

// The two classes of routing errors. Every [RequestError] is exactly one of them
// by [errors.Is].
var (
	// ErrNotExecuted says that the request did not run and never will.
	ErrNotExecuted = errors.New("not executed")

	// ErrOutcomeUnknown says that the request may or may not have run, or that
	// what it wrote may or may not become durable.
	ErrOutcomeUnknown = errors.New("outcome unknown")
)

// The kinds of routing errors: why a request has no answer. A kind alone does not
// say whether the request ran; its [RequestError] does.
var (
	ErrUnassigned     = errors.New("no node owns the shard")
	ErrNotOwner       = errors.New("the node does not serve the shard")
	ErrNoConnection   = errors.New("no connection to the owner")
	ErrStopping       = errors.New("the shard or its child is stopping")
	ErrFenced         = errors.New("another writer has opened the shard")
	ErrOverloaded     = errors.New("too many requests wait for the child")
	ErrTooLarge       = errors.New("the message is too large")
	ErrUnknownType    = errors.New("the message type is not known")
	ErrInvalid        = errors.New("the request is invalid")
	ErrNoChild        = errors.New("the shard has no such child")
	ErrNoHandler      = errors.New("no such handler is registered")
	ErrNotRunning     = errors.New("the cluster is not running")
	ErrTimeout        = errors.New("the deadline passed")
	ErrConnectionLost = errors.New("the connection to the owner was lost")
	ErrPanicked       = errors.New("the child panicked")
	ErrChildFailed    = errors.New("the child answered with an error")
	ErrChildStopped   = errors.New("the child stopped before it answered")
	ErrNotDurable     = errors.New("the write was not reported durable")
	ErrWrongAnswer    = errors.New("the answer has an unexpected type")
)

// Why a node cannot run, or no longer, under its name.
var (
	// ErrNameInUse says that another process runs under the name already.
	ErrNameInUse = errors.New("another node runs under this name")

	// ErrSuperseded says that another process has taken over the name.
	ErrSuperseded = errors.New("another process has taken over this node's name")
)

// RequestError is the one error of requests that got no answer from the
// application. errors.Is finds its class ([ErrNotExecuted] or
// [ErrOutcomeUnknown]), its Kind, and everything its Cause is, never both classes.
type RequestError struct {
	Shard  int
	Target string // the child or handler
	Node   string // the node that answered or was tried; empty for this node
	Kind   error  // one of the kinds above

	// Unknown says that the request may have run. Otherwise it did not.
	Unknown bool

	Cause error // what lies behind the kind; may be nil
}

// NotExecuted makes the error of a request that did not run.
func NotExecuted(shard int, target string, kind, cause error) *RequestError {
	return &RequestError{Shard: shard, Target: target, Kind: kind, Cause: cause}
}

// OutcomeUnknown makes the error of a request that may have run.
func OutcomeUnknown(shard int, target string, kind, cause error) *RequestError {
	return &RequestError{Shard: shard, Target: target, Kind: kind, Cause: cause, Unknown: true}
}

// Class is [ErrNotExecuted] or [ErrOutcomeUnknown].
func (e *RequestError) Class() error {
	if e.Unknown {
		return ErrOutcomeUnknown
	}
	return ErrNotExecuted
}

// Error is one sentence: where, whether it ran, why.
func (e *RequestError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "shard %d", e.Shard)
	if e.Target != "" {
		fmt.Fprintf(&b, ", %s", e.Target)
	}
	if e.Node != "" {
		fmt.Fprintf(&b, " on %s", e.Node)
	}
	fmt.Fprintf(&b, ": %v: %v", e.Class(), e.Kind)
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	return b.String()
}

// Is matches the class.
func (e *RequestError) Is(target error) bool { return target == e.Class() }

// Unwrap gives the kind and the cause, unless the cause is of the other class: what
// became of another request says nothing of this one.
func (e *RequestError) Unwrap() []error {
	other := ErrOutcomeUnknown
	if e.Unknown {
		other = ErrNotExecuted
	}
	if e.Cause == nil || errors.Is(e.Cause, other) {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// AppError is an application's own answer that says no. It was executed, is never
// retried, and reaches the caller as it was sent. Two are equal by [errors.Is] if
// their codes are.
type AppError struct {
	Code    string
	Message string
}

// Error is the message with the code in front of it.
func (e *AppError) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// Is matches another AppError with the same code.
func (e *AppError) Is(target error) bool {
	var other *AppError
	return errors.As(target, &other) && other.Code == e.Code
}
