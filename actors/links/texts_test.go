package links

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
)

// What one request says, or is told, does not end the connection that all share.
func TestP7_2_NoTextOfARequestEndsTheConnection(t *testing.T) {
	a, b := connected(t)
	held := make(chan *Incoming, 1)
	b.do(func(r *Incoming) { held <- r })
	other := make(chan error, 1)
	go func() {
		_, err := a.ask(t.Context(), b.Self(), "x")
		other <- err
	}()
	waits := <-held

	for _, name := range []string{"no \xff UTF-8", strings.Repeat("x", maxTarget+1), strings.Repeat("x", maxPiece)} {
		r := request(messages.Way_WAY_ASK, wrapperspb.String("x"))
		r.Target = name
		_, err := a.Do(t.Context(), someTime, b.Self(), r)
		wantError(t, err, messages.ErrNotExecuted, messages.ErrInvalid, "b")
	}
	long := strings.Repeat("ö", maxPiece/2)
	for _, told := range []struct{ err, class, kind error }{
		{errors.New("no \xff UTF-8"), messages.ErrOutcomeUnknown, messages.ErrChildFailed},
		{errors.New("x" + long), messages.ErrOutcomeUnknown, messages.ErrChildFailed}, // cut, within a letter
		{messages.NotExecuted(7, "kv", messages.ErrStopping, errors.New(" "+long)), messages.ErrNotExecuted, messages.ErrStopping},
		{&messages.AppError{Code: "c", Message: long}, messages.ErrOutcomeUnknown, messages.ErrTooLarge},
	} {
		b.do(func(r *Incoming) { r.Fail(told.err) })
		_, err := a.ask(t.Context(), b.Self(), "x")
		wantError(t, err, told.class, told.kind, "b")
	}
	b.do(func(r *Incoming) { r.Fail(&messages.AppError{Code: "no", Message: "no \xff UTF-8"}) })
	_, err := a.ask(t.Context(), b.Self(), "x")
	if app, ok := errors.AsType[*messages.AppError](err); !ok || *app != (messages.AppError{Code: "no", Message: "no \uFFFD UTF-8"}) {
		t.Errorf("an application's error: %v", err)
	}

	waits.Answer(waits.Message)
	if err := <-other; err != nil {
		t.Errorf("the request of somebody else: %v", err)
	}
}

// Many errors that are large fit into pieces.
func TestP7_2_ManyLargeErrorsAtOnce(t *testing.T) {
	a, b := connected(t)
	const callers = 6
	all := make(chan *Incoming, callers)
	b.do(func(r *Incoming) { all <- r })
	ends := make(chan error, callers)
	for range callers {
		go func() {
			_, err := a.ask(t.Context(), b.Self(), "x")
			ends <- err
		}()
	}
	no := &messages.AppError{Code: "no", Message: strings.Repeat("x", MaxMessage*2/3)}
	var held []*Incoming
	for range callers {
		held = append(held, <-all)
	}
	for _, r := range held {
		r.Fail(no)
	}
	for range callers {
		if err := <-ends; !errors.Is(err, no) {
			t.Errorf("%.200v", err)
		}
	}
}
