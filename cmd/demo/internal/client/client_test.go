package client

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// of makes a client of a server that answers everything in the same way.
func of(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(answer)
	c := New(strings.TrimPrefix(server.URL, "http://"), 1)
	t.Cleanup(func() {
		c.Close()
		server.Close()
	})
	return c
}

func TestOutcomesFollowTheAnswer(t *testing.T) {
	const no, unknown = `{"error":{"executed":"no","message":"m"}}`, `{"error":{"executed":"unknown","message":"m"}}`
	for _, c := range []struct {
		status int
		body   string
		want   error
	}{
		{200, `{"value":1}`, nil},
		{200, `nonsense`, ErrUnknown},
		{404, no, ErrNotFound},
		{412, no, ErrPrecondition},
		{503, no, ErrNotExecuted},
		{400, no, ErrNotExecuted},
		{504, unknown, ErrUnknown},
		{503, "from a proxy", ErrUnknown},
		{500, "", ErrUnknown},
	} {
		client := of(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		})
		_, err := client.Add(t.Context(), "k", 1)
		if c.want == nil {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, c.want, "%d %s", c.status, c.body)
	}
}

func TestTheNodeSaysWhenItWantsToBeAskedAgain(t *testing.T) {
	for said, want := range map[string]time.Duration{"": 0, "2": 2 * time.Second, "Tue, 01 Dec 2026 05:00:00 GMT": 0, "-1": 0} {
		c := of(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", said)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		_, err := c.Add(t.Context(), "k", 1)
		require.Equal(t, want, RetryAfter(err), said)
	}
	require.Zero(t, RetryAfter(nil))
	require.Zero(t, RetryAfter(ErrUnknown))
}

func TestARequestThatFoundNoConnectionWasNotSent(t *testing.T) {
	c := New("127.0.0.1:1", 1)
	defer c.Close()
	_, err := c.Add(t.Context(), "k", 1)
	require.ErrorIs(t, err, ErrNotExecuted)
}

func TestARequestWithoutAnAnswerIsUnknown(t *testing.T) {
	cut := of(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := cut.Add(t.Context(), "k", 1)
	require.ErrorIs(t, err, ErrUnknown)

	slow := of(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = slow.Add(ctx, "k", 1)
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestRequestsAreWhatTheServiceExpects(t *testing.T) {
	var last *http.Request
	c := of(t, func(w http.ResponseWriter, r *http.Request) {
		last = r
		w.Header().Set("ETag", `"e"`)
		_, _ = w.Write([]byte(`{}`))
	})
	_, err := c.Add(t.Context(), "a/b c", -2)
	require.NoError(t, err)
	require.Equal(t, "POST /counters/a%2Fb%20c?by=-2", last.Method+" "+last.RequestURI)
	etag, err := c.Put(t.Context(), "k", []byte("v"), "")
	require.NoError(t, err)
	require.Equal(t, `"e"`, etag)
	require.Equal(t, "*", last.Header.Get("If-None-Match"))
	_, err = c.Put(t.Context(), "k", []byte("v"), `"e"`)
	require.NoError(t, err)
	require.Equal(t, `"e"`, last.Header.Get("If-Match"))
	_, etag, err = c.Get(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, `"e"`, etag)
	require.NoError(t, c.Delete(t.Context(), "k"))
	require.Equal(t, "DELETE /kv/k", last.Method+" "+last.RequestURI)
	require.NoError(t, c.Ready(t.Context()))
}
