package messages_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/slap-go/slap/messages"
)

func TestP8_2_ARoutingErrorIsItsClassItsKindAndItsCause(t *testing.T) {
	err := fmt.Errorf("wrapped: %w", messages.NotExecuted(3, "counter", messages.ErrTimeout, context.DeadlineExceeded))
	for _, is := range []error{messages.ErrNotExecuted, messages.ErrTimeout, context.DeadlineExceeded} {
		if !errors.Is(err, is) {
			t.Errorf("%v is not %v", err, is)
		}
	}
	for _, not := range []error{messages.ErrOutcomeUnknown, messages.ErrStopping, context.Canceled} {
		if errors.Is(err, not) {
			t.Errorf("%v is %v", err, not)
		}
	}
	if unknown := messages.OutcomeUnknown(3, "", messages.ErrPanicked, nil); !errors.Is(unknown, messages.ErrOutcomeUnknown) ||
		errors.Is(unknown, messages.ErrNotExecuted) || !errors.Is(unknown, messages.ErrPanicked) {
		t.Errorf("%v", unknown)
	}
}

func TestP8_2_ARoutingErrorIsOneClassWhateverItsCauseIs(t *testing.T) {
	refused := fmt.Errorf("wrapped: %w", messages.NotExecuted(1, "", messages.ErrUnassigned, nil))
	lost := errors.Join(messages.OutcomeUnknown(1, "", messages.ErrTimeout, nil))
	for _, cause := range []error{refused, lost, errors.Join(refused, lost), messages.ErrNotExecuted, messages.ErrOutcomeUnknown} {
		unknown := messages.OutcomeUnknown(0, "", messages.ErrNotDurable, cause)
		if errors.Is(unknown, messages.ErrNotExecuted) || !errors.Is(unknown, messages.ErrOutcomeUnknown) {
			t.Errorf("%v is not executed", unknown)
		}
		not := messages.NotExecuted(0, "", messages.ErrTimeout, cause)
		if errors.Is(not, messages.ErrOutcomeUnknown) || !errors.Is(not, messages.ErrNotExecuted) {
			t.Errorf("%v is unknown", not)
		}
	}
}

func TestP8_2_TheTextSaysWhereWhetherAndWhy(t *testing.T) {
	err := messages.OutcomeUnknown(3, "counter", messages.ErrConnectionLost, errors.New("reset"))
	err.Node = "b"
	for _, part := range []string{"shard 3", "counter", "on b", "outcome unknown", "lost", "reset"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestCALL2_AnAppErrorIsMatchedByItsCodeAndIsNoRoutingError(t *testing.T) {
	err := fmt.Errorf("wrapped: %w", &messages.AppError{Code: "not_owner", Message: "of this document"})
	if !errors.Is(err, &messages.AppError{Code: "not_owner"}) || errors.Is(err, &messages.AppError{Code: "other"}) {
		t.Error("not matched by its code")
	}
	if errors.Is(err, messages.ErrNotOwner) || errors.Is(err, messages.ErrNotExecuted) {
		t.Error("taken for a routing error")
	}
}
