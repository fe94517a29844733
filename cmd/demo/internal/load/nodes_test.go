package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A node that is gone is no error of a load that has others.
func TestDEMO_ALoadGoesOnWithoutANodeThatIsGone(t *testing.T) {
	_, address := startFake(t, nil)
	l := New(Options{Addresses: []string{"127.0.0.1:1", address}, Clients: 4})
	defer l.Close()
	runFor(t, l, someTime)
	tally := l.Tally()
	require.Greater(t, tally.Acknowledged, int64(20))
	require.Zero(t, tally.NotExecuted+tally.Unknown)
	require.Equal(t, []string{"127.0.0.1:1"}, l.Absent())
	verdict, err := l.Verify(t.Context())
	require.NoError(t, err)
	require.True(t, verdict.OK(), verdict)
}

func TestANodeThatIsGoneIsTriedAgainAfterAWhile(t *testing.T) {
	all := dial([]string{"a:1", "b:1"}, 1)
	refused := unreachable(t)
	now := time.Now()
	all[0].note(refused, now)
	require.Same(t, all[1], all.next(0, now.Add(absence-1)))
	require.Same(t, all[0], all.next(0, now.Add(absence)))
	require.False(t, all.gone())
	all[1].note(refused, now)
	require.True(t, all.gone())
	require.Same(t, all[0], all.next(0, now), "with none that answers each gets its turn")
	all[0].note(nil, now)
	require.Same(t, all[0], all.next(1, now))
}

func unreachable(t *testing.T) error {
	t.Helper()
	nobody := dial([]string{"127.0.0.1:1"}, 1)[0]
	defer nobody.Close()
	err := nobody.Ready(t.Context())
	require.Error(t, err)
	return err
}

// A node that wants to be asked again later is not asked about the same key before.
func TestDEMO_ALoadFollowsRetryAfter(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "60")
		http.Error(w, saysNo, http.StatusServiceUnavailable)
	}))
	defer server.Close()
	l := New(Options{Addresses: []string{strings.TrimPrefix(server.URL, "http://")}, Clients: 4})
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*someTime)
	defer cancel()
	l.Run(ctx)
	const keys = 3 // of a client: two counters and its value
	require.LessOrEqual(t, asked.Load(), int64(4*keys))
	require.Equal(t, asked.Load(), l.Tally().NotExecuted)
}
