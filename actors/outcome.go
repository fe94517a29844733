package actors

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"

	"github.com/slap-go/slap/messages"
)

// outcome is how a request ended, as metrics and spans tell it.
type outcome struct {
	method method
	class  class
	kind   string // of a routing error
}

type class string

const (
	classAnswered    class = "ok"
	classAppError    class = "app_error" // the application's own answer that says no
	classNotExecuted class = "not_executed"
	classUnknown     class = "unknown"
)

// otherKind is what OpenTelemetry calls an error that has no name of its own.
const otherKind = "_OTHER"

// kindNames are the kinds of routing errors in metrics and spans.
var kindNames = map[error]string{
	messages.ErrUnassigned:     "unassigned",
	messages.ErrNotOwner:       "not_owner",
	messages.ErrNoConnection:   "no_connection",
	messages.ErrStopping:       "stopping",
	messages.ErrFenced:         "fenced",
	messages.ErrOverloaded:     "overloaded",
	messages.ErrTooLarge:       "too_large",
	messages.ErrUnknownType:    "unknown_type",
	messages.ErrInvalid:        "invalid",
	messages.ErrNoChild:        "no_child",
	messages.ErrNoHandler:      "no_handler",
	messages.ErrNotRunning:     "not_running",
	messages.ErrTimeout:        "timeout",
	messages.ErrConnectionLost: "connection_lost",
	messages.ErrPanicked:       "panicked",
	messages.ErrChildFailed:    "child_failed",
	messages.ErrChildStopped:   "child_stopped",
	messages.ErrNotDurable:     "not_durable",
	messages.ErrWrongAnswer:    "wrong_answer",
}

func outcomeOf(m method, err error) outcome {
	if err == nil {
		return outcome{m, classAnswered, ""}
	}
	if routing, ok := errors.AsType[*messages.RequestError](err); ok {
		name, known := kindNames[routing.Kind]
		if !known {
			name = otherKind
		}
		if routing.Unknown {
			return outcome{m, classUnknown, name}
		}
		return outcome{m, classNotExecuted, name}
	}
	if _, ok := errors.AsType[*messages.AppError](err); ok {
		return outcome{m, classAppError, ""}
	}
	return outcome{m, classUnknown, otherKind}
}

// outcomes are all that there are.
func outcomes() []outcome {
	var all []outcome
	for _, m := range []method{methodAsk, methodCall} {
		all = append(all, outcome{m, classAnswered, ""}, outcome{m, classAppError, ""},
			outcome{m, classNotExecuted, otherKind}, outcome{m, classUnknown, otherKind})
		for _, name := range kindNames {
			all = append(all, outcome{m, classNotExecuted, name}, outcome{m, classUnknown, name})
		}
	}
	return all
}

func (o outcome) attributes() []attribute.KeyValue {
	all := []attribute.KeyValue{methodKey.String(string(o.method)), outcomeKey.String(string(o.class))}
	if o.kind != "" {
		all = append(all, errorTypeKey.String(o.kind))
	}
	return all
}
