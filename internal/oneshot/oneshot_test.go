package oneshot

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errEnough = errors.New("enough")

func TestASignalEndsTheWait(t *testing.T) {
	t.Parallel()
	for range 1_000 { // more than once through the spare ones
		s := New()
		go s.Send()
		s.Wait(t.Context(), time.Hour, func(error) { t.Error("given up") })
	}
	New().Drop()
}

func TestWhoGivesUpGetsTheReasonAndWaitsForTheSignal(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	for name, test := range map[string]struct {
		ctx      context.Context
		patience time.Duration
		want     error
	}{
		"the context":                {ended, 0, errEnough},
		"the context, with patience": {ended, time.Hour, errEnough},
		"patience":                   {t.Context(), time.Nanosecond, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New()
			var got error
			settled := false
			s.Wait(test.ctx, test.patience, func(cause error) {
				got = cause
				go func() {
					settled = true
					s.Send()
				}()
			})
			require.Equal(t, test.want, got)
			require.True(t, settled)
		})
	}
}
