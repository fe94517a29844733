package messages

import (
	"errors"
	"strings"
)

// kinds are the kinds of routing errors by their numbers between nodes. A number never
// changes its meaning.
var kinds = [...]error{
	1:  ErrUnassigned,
	2:  ErrNotOwner,
	3:  ErrNoConnection,
	4:  ErrStopping,
	5:  ErrFenced,
	6:  ErrOverloaded,
	7:  ErrTooLarge,
	8:  ErrUnknownType,
	9:  ErrInvalid,
	10: ErrNoChild,
	11: ErrNoHandler,
	12: ErrNotRunning,
	13: ErrTimeout,
	14: ErrConnectionLost,
	15: ErrPanicked,
	16: ErrChildFailed,
	17: ErrChildStopped,
	18: ErrNotDurable,
	19: ErrWrongAnswer,
}

// errForeignKind is the kind of an error that only a newer version knows.
var errForeignKind = errors.New("a reason that this version does not know")

// KindNumber is the number of a kind of routing errors; 0 if it is none.
func KindNumber(kind error) uint32 {
	for number, known := range kinds {
		if known != nil && known == kind { //nolint:errorlint // kinds are these very values
			return uint32(number)
		}
	}
	return 0
}

// KindOf is the kind with the number. It is never nil.
func KindOf(number uint32) error {
	if number > 0 && number < uint32(len(kinds)) {
		return kinds[number]
	}
	return errForeignKind
}

// causeError is the text of what lies behind a kind on another node.
type causeError string

// Error is the text.
func (c causeError) Error() string { return string(c) }

// NewReplyError is the reply of the node to a request that ended with err. An error that
// is neither an [AppError] nor a [RequestError] leaves the outcome unknown.
func NewReplyError(node string, err error) *Reply {
	if app, ok := errors.AsType[*AppError](err); ok && app != nil {
		return &Reply{App: &AppFailure{Code: valid(app.Code), Message: valid(app.Message)}}
	}
	failure := &RoutingFailure{Kind: KindNumber(ErrChildFailed), Unknown: true, Node: node, Cause: causeText(err)}
	if routing, ok := errors.AsType[*RequestError](err); ok && routing != nil {
		failure.Kind, failure.Unknown, failure.Cause = KindNumber(routing.Kind), routing.Unknown, causeText(routing.Cause)
		if routing.Node != "" {
			failure.Node = routing.Node
		}
	}
	return &Reply{Routing: failure}
}

// maxCause bounds the text of a cause between nodes, in bytes.
const maxCause = 4096

func causeText(cause error) string {
	if cause == nil {
		return ""
	}
	text := cause.Error()
	if len(text) > maxCause {
		text = text[:maxCause] + " …"
	}
	return valid(text)
}

// valid replaces what is no UTF-8: a single such text would end the connection.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// ReplyError is the error of a request to the shard and target that a reply stands for; nil
// if it is an answer.
func ReplyError(r *Reply, shard int, target string) error {
	if app := r.GetApp(); app != nil {
		return &AppError{Code: app.GetCode(), Message: app.GetMessage()}
	}
	failure := r.GetRouting()
	if failure == nil {
		return nil
	}
	err := &RequestError{Shard: shard, Target: target, Node: failure.GetNode(), Kind: KindOf(failure.GetKind()), Unknown: failure.GetUnknown()}
	if failure.GetCause() != "" {
		err.Cause = causeError(failure.GetCause())
	}
	return err
}
