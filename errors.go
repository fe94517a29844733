package slap

import "github.com/slap-go/slap/messages"

// The classes and kinds of routing errors; see [RequestError]. errors.Is finds
// both the class and the kind.
var (
	// ErrNotExecuted: the request did not run and never will.
	ErrNotExecuted = messages.ErrNotExecuted
	// ErrOutcomeUnknown: the request may or may not have run.
	ErrOutcomeUnknown = messages.ErrOutcomeUnknown

	ErrUnassigned     = messages.ErrUnassigned     // no node owns the shard
	ErrNotOwner       = messages.ErrNotOwner       // the node does not serve the shard
	ErrNoConnection   = messages.ErrNoConnection   // no connection to the owner
	ErrStopping       = messages.ErrStopping       // the shard or its child is stopping
	ErrFenced         = messages.ErrFenced         // another writer has opened the shard
	ErrOverloaded     = messages.ErrOverloaded     // MaxPending requests wait for the child
	ErrTooLarge       = messages.ErrTooLarge       // the message is too large to send
	ErrUnknownType    = messages.ErrUnknownType    // the message type is not known
	ErrInvalid        = messages.ErrInvalid        // the request names no shard, or has no message
	ErrNoChild        = messages.ErrNoChild        // the shard has no such child
	ErrNoHandler      = messages.ErrNoHandler      // no such handler is registered
	ErrNotRunning     = messages.ErrNotRunning     // the cluster is not started, or stopped
	ErrTimeout        = messages.ErrTimeout        // the deadline passed
	ErrConnectionLost = messages.ErrConnectionLost // the connection to the owner was lost
	ErrPanicked       = messages.ErrPanicked       // the child panicked with the request in its hands
	ErrChildFailed    = messages.ErrChildFailed    // the child answered with an error that is no AppError
	ErrChildStopped   = messages.ErrChildStopped   // the child stopped before it answered
	ErrNotDurable     = messages.ErrNotDurable     // the write was not reported durable
	ErrWrongAnswer    = messages.ErrWrongAnswer    // the answer has an unexpected type
)

// Why a node does not start under its name, or ends although nothing failed in it.
var (
	// ErrNameInUse: another process runs under the name already.
	ErrNameInUse = messages.ErrNameInUse
	// ErrSuperseded: another process has taken over the name.
	ErrSuperseded = messages.ErrSuperseded
)

// RequestError is the error of a request that got no answer from the application.
type RequestError = messages.RequestError

// AppError is an application's own answer that says no: executed, never retried.
type AppError = messages.AppError
