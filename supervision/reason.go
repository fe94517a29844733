package supervision

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Exit reasons are errors: nil is a normal exit, [ErrShutdown] (also wrapped) an exit that was asked for,
// anything else a crash.
var (
	// ErrShutdown is the reason of children that their supervisor stopped, and of supervisors that were
	// stopped or ended with their significant children.
	ErrShutdown = errors.New("shutdown")

	// ErrIntensity is in the reason of a supervisor that had more restarts to do than its intensity allows.
	ErrIntensity = errors.New("restart intensity reached")

	// ErrAbandoned is the reason of a child that did not stop within its time.
	ErrAbandoned = errors.New("abandoned: did not stop in time")

	// ErrNotReady is the reason of a child that left, without giving a reason, before it was ready.
	ErrNotReady = errors.New("ended before it was ready")
)

// IsCrash tells whether an exit reason is neither normal nor a shutdown. For the errors of this package the
// outermost decides: a panic, a reached intensity and a failed start are crashes and the end with significant
// children is a shutdown, whatever the reason in them.
func IsCrash(reason error) bool {
	if own, ok := errors.AsType[verdict](reason); ok {
		return own.crash()
	}
	return reason != nil && !errors.Is(reason, ErrShutdown)
}

// A verdict is an error that says itself whether it is a crash.
type verdict interface {
	error
	crash() bool
}

func (*PanicError) crash() bool       { return true }
func (*IntensityError) crash() bool   { return true }
func (*StartError) crash() bool       { return true }
func (*SignificantError) crash() bool { return false }

// reasonText is the reason for people.
func reasonText(reason error) string {
	if reason == nil {
		return "normal"
	}
	return reason.Error()
}

// limitText says that no further restart is allowed.
func limitText(intensity int, period time.Duration) string {
	if intensity == 0 {
		return "no restart is allowed"
	}
	return fmt.Sprintf("the limit of %d restarts in %v is reached", intensity, period)
}

// A PanicError is the exit reason of an actor that panicked in one of its callbacks.
type PanicError struct {
	// Value is what the actor panicked with.
	Value any
	// Stack is the goroutine's stack at the panic, empty when Proto.Actor reported it.
	Stack []byte
}

// Error is the value without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap is the value when the actor panicked with an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// An IntensityError is the exit reason of a supervisor that would have had to restart a child once too often.
type IntensityError struct {
	// Supervisor is the supervisor's id.
	Supervisor string
	// Child is the name of the child that was not restarted any more.
	Child string
	// Intensity and Period are the limit that was reached.
	Intensity int
	Period    time.Duration
	// Reason is the child's exit reason, nil for a normal exit.
	Reason error
}

// Error names the child, the limit and the reason.
func (e *IntensityError) Error() string {
	return fmt.Sprintf("supervisor %s: child %q ended (%s) and %s",
		e.Supervisor, e.Child, reasonText(e.Reason), limitText(e.Intensity, e.Period))
}

// Unwrap is [ErrIntensity] and the child's reason.
func (e *IntensityError) Unwrap() []error { return both(ErrIntensity, e.Reason) }

// A StartError says that a child could not be started for the first time.
type StartError struct {
	// Supervisor is the supervisor's id.
	Supervisor string
	// Child is the child's name.
	Child string
	// Reason is why it ended before it was ready.
	Reason error
}

// Error names the child and the reason.
func (e *StartError) Error() string {
	return fmt.Sprintf("supervisor %s: child %q failed to start: %v", e.Supervisor, e.Child, e.Reason)
}

// Unwrap is the child's reason.
func (e *StartError) Unwrap() error { return e.Reason }

// isStartError tells whether the outermost error of this package is a [StartError].
func isStartError(reason error) bool {
	own, _ := errors.AsType[verdict](reason)
	_, is := own.(*StartError)
	return is
}

// A SignificantError is the exit reason of a supervisor that ended with its significant children. It is a
// shutdown.
type SignificantError struct {
	// Supervisor is the supervisor's id.
	Supervisor string
	// Child is the name of the last significant child that ended.
	Child string
	// Reason is that child's exit reason, nil for a normal exit.
	Reason error
}

// Error names the child and the reason.
func (e *SignificantError) Error() string {
	return fmt.Sprintf("supervisor %s: significant child %q ended (%s)", e.Supervisor, e.Child, reasonText(e.Reason))
}

// Unwrap is [ErrShutdown] and the child's reason.
func (e *SignificantError) Unwrap() []error { return both(ErrShutdown, e.Reason) }

// An AbandonedError says which children did not stop within their time. Their goroutines are left behind
// until the callback that they hang in returns; Go cannot end them.
type AbandonedError struct {
	// Children are the ids of their PIDs.
	Children []string
}

// Error lists the children.
func (e *AbandonedError) Error() string {
	return "abandoned, did not stop in time: " + strings.Join(e.Children, ", ")
}

// Unwrap is [ErrAbandoned].
func (e *AbandonedError) Unwrap() error { return ErrAbandoned }

// abandoned is the error for these children, nil for none.
func abandoned(children []string) error {
	if len(children) == 0 {
		return nil
	}
	return &AbandonedError{Children: children}
}

// both is kind and, if there is one, reason.
func both(kind, reason error) []error {
	if reason == nil {
		return []error{kind}
	}
	return []error{kind, reason}
}
