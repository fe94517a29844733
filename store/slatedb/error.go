package slatedb

import (
	"context"
	"errors"
	"fmt"
)

// The classes of errors. Errors of this package that come from the engine, or
// stand for what it would say, are an [*Error] that is one of these in the sense
// of [errors.Is].
var (
	// ErrClosed says that the database, or another object, is closed. The
	// Reason of its [Error] says why.
	ErrClosed = errors.New("slatedb: closed")
	// ErrFenced says that another writer opened the database. It is also ErrClosed.
	ErrFenced = errors.New("slatedb: fenced by another writer")
	// ErrUnavailable says that the object store failed. With the engine's default
	// settings it retries for ever instead.
	ErrUnavailable = errors.New("slatedb: object store unavailable")
	// ErrInvalid says that an argument, a setting or the use of a merge operator is wrong.
	ErrInvalid = errors.New("slatedb: invalid")
	// ErrData says that what is stored cannot be read.
	ErrData = errors.New("slatedb: bad data")
	// ErrConflict says that a transaction lost against another one: it wrote
	// nothing and may be tried again from its beginning.
	ErrConflict = errors.New("slatedb: transaction conflict")
	// ErrInternal says that the engine failed in a way of its own, a panic among them.
	ErrInternal = errors.New("slatedb: internal error")

	// ErrAbandoned says that the context ended while the engine worked: the
	// operation goes on and its outcome is unknown. The context's own error is
	// wrapped too. A call whose context had ended before gives only that error,
	// and did nothing.
	ErrAbandoned = errors.New("slatedb: gave up waiting")
)

// A Kind is the class of an [Error].
type Kind uint8

// The kinds of errors, in the engine's order.
const (
	KindConflict Kind = iota + 1
	KindClosed
	KindUnavailable
	KindInvalid
	KindData
	KindInternal
)

// sentinel is the error that stands for a kind.
func (k Kind) sentinel() error {
	switch k {
	case KindConflict:
		return ErrConflict
	case KindClosed:
		return ErrClosed
	case KindUnavailable:
		return ErrUnavailable
	case KindInvalid:
		return ErrInvalid
	case KindData:
		return ErrData
	default:
		return ErrInternal
	}
}

// A CloseReason says why a database is closed.
type CloseReason uint8

// The reasons for which a database is closed, in the engine's order.
const (
	ReasonNone    CloseReason = iota // it is open
	ReasonClean                      // it was closed by its owner
	ReasonFenced                     // another writer opened it
	ReasonPanic                      // it died: a panic, or a failure that the engine does not retry
	ReasonUnknown                    // the engine does not say
)

// String is the reason in one word.
func (r CloseReason) String() string {
	names := [...]string{"open", "clean", "fenced", "panic"}
	if int(r) < len(names) {
		return names[r]
	}
	return "unknown"
}

// An Error is what went wrong in the engine.
type Error struct {
	Kind    Kind
	Reason  CloseReason // of KindClosed
	Message string      // the engine's own words
}

// Error is the class, the reason and the engine's words.
func (e *Error) Error() string {
	if e.Kind == KindClosed {
		return fmt.Sprintf("%v (%v): %s", ErrClosed, e.Reason, e.Message)
	}
	return fmt.Sprintf("%v: %s", e.Kind.sentinel(), e.Message)
}

// Is tells whether target is the class of the error.
func (e *Error) Is(target error) bool {
	if target == ErrFenced {
		return e.Kind == KindClosed && e.Reason == ReasonFenced
	}
	return target == e.Kind.sentinel()
}

func invalid(format string, arguments ...any) error {
	return &Error{Kind: KindInvalid, Message: fmt.Sprintf(format, arguments...)}
}

func closed(reason CloseReason, what string) *Error {
	return &Error{Kind: KindClosed, Reason: reason, Message: what}
}

// abandoned is the error of a wait that ended before the engine did.
func abandoned(ctx context.Context) error {
	return fmt.Errorf("%w, the engine's work goes on: %w", ErrAbandoned, context.Cause(ctx))
}

// The codes of a call's status.
const (
	codeDone int8 = iota
	codeError
	codePanic
	codeCancelled
)

// decodeError reads the error of a call that ended with code.
func decodeError(code int8, b []byte) error {
	switch code {
	case codeDone:
		return nil
	case codeError:
		return decodeTypedError(b)
	case codePanic:
		return &Error{Kind: KindInternal, Message: "the engine panicked: " + string(b)}
	default:
		return &Error{Kind: KindInternal, Message: fmt.Sprintf("the call ended with code %d", code)}
	}
}

func decodeTypedError(b []byte) error {
	d := decoder{rest: b}
	e := &Error{Kind: Kind(d.u32())}
	if e.Kind == KindClosed {
		e.Reason = CloseReason(d.u32())
	}
	e.Message = d.text()
	if d.short || e.Kind < KindConflict || e.Kind > KindInternal {
		return &Error{Kind: KindInternal, Message: "the engine's error cannot be read"}
	}
	return e
}
