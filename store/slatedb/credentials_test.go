package slatedb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/internal/testlog"
)

// issuer hands out numbered credentials that live for a while.
type issuer struct {
	life   time.Duration
	issued atomic.Int64
	fail   atomic.Pointer[error]
}

func (i *issuer) Retrieve(context.Context) (aws.Credentials, error) {
	if err := i.fail.Load(); err != nil {
		return aws.Credentials{}, *err
	}
	n := i.issued.Add(1)
	return aws.Credentials{
		AccessKeyID: fmt.Sprintf("KEY%d", n), SecretAccessKey: "hunter2", SessionToken: fmt.Sprintf("token%d", n),
		CanExpire: true, Expires: time.Now().Add(i.life).Truncate(time.Millisecond),
	}, nil
}

func (i *issuer) failWith(err error) { i.fail.Store(&err) }

func newLog() (*slog.Logger, *testlog.Buffer) {
	l := &testlog.Buffer{}
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})), l
}

func newEndpoint(t *testing.T, provider aws.CredentialsProvider) (*credentialsEndpoint, *testlog.Buffer) {
	t.Helper()
	log, written := newLog()
	e, err := serveCredentials(newCredentialsSource(provider), log)
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e, written
}

// ask does what the engine does.
func ask(t *testing.T, e *credentialsEndpoint) (int, containerCredentials, string) {
	t.Helper()
	o := e.options()
	token, err := os.ReadFile(o["aws_container_authorization_token_file"])
	require.NoError(t, err)
	return askWith(t, http.MethodGet, o["aws_container_credentials_full_uri"], string(token))
}

func askWith(t *testing.T, method, url, token string) (int, containerCredentials, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", token)
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	var c containerCredentials
	if response.StatusCode == http.StatusOK {
		require.NoError(t, json.Unmarshal(body, &c))
	}
	return response.StatusCode, c, string(body)
}

func TestCredentialOptions(t *testing.T) {
	log, _ := newLog()
	for name, c := range map[string]struct {
		provider aws.CredentialsProvider
		want     map[string]string
	}{
		"fixed": {
			credentials.NewStaticCredentialsProvider("A", "B", ""),
			map[string]string{"aws_access_key_id": "A", "aws_secret_access_key": "B"},
		},
		"fixed session": {
			aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("A", "B", "C")),
			map[string]string{"aws_access_key_id": "A", "aws_secret_access_key": "B", "aws_session_token": "C"},
		},
		"anonymous": {aws.AnonymousCredentials{}, map[string]string{"aws_skip_signature": "true"}},
		"anonymous in a cache": {
			aws.NewCredentialsCache(aws.AnonymousCredentials{}),
			map[string]string{"aws_skip_signature": "true"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, endpoint, err := credentialOptions(t.Context(), c.provider, log)
			require.NoError(t, err)
			require.Nil(t, endpoint)
			require.Equal(t, c.want, got)
		})
	}
}

func TestCredentialOptionsOfThoseThatExpire(t *testing.T) {
	log, _ := newLog()
	i := &issuer{life: time.Hour}
	got, endpoint, err := credentialOptions(t.Context(), i, log)
	require.NoError(t, err)
	require.Equal(t, endpoint.options(), got)
	status, c, _ := ask(t, endpoint)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "KEY1", c.AccessKeyID, "the ones retrieved at first are served")
	require.NoError(t, endpoint.Close())
}

func TestCredentialOptionsFail(t *testing.T) {
	log, _ := newLog()
	i := &issuer{}
	i.failWith(errors.New("no role"))
	_, _, err := credentialOptions(t.Context(), i, log)
	require.ErrorContains(t, err, "credentials for the object store: ")
	require.ErrorContains(t, err, "no role")
}

func TestEndpointServes(t *testing.T) {
	e, written := newEndpoint(t, &issuer{life: time.Hour})
	status, c, _ := ask(t, e)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "KEY1", c.AccessKeyID)
	require.Equal(t, "hunter2", c.SecretAccessKey)
	require.Equal(t, "token1", c.Token)
	require.WithinDuration(t, time.Now().Add(time.Hour), c.Expiration, time.Minute)
	require.Empty(t, written.String())

	info, err := os.Stat(e.tokenFile)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestEndpointRefuses(t *testing.T) {
	e, written := newEndpoint(t, &issuer{life: time.Hour})
	root := e.url[:len(e.url)-len(credentialsPath)]
	for name, c := range map[string]struct {
		method, url, token string
		want               int
	}{
		"no token":     {http.MethodGet, e.url, "", http.StatusUnauthorized},
		"wrong token":  {http.MethodGet, e.url, e.token + "x", http.StatusUnauthorized},
		"other path":   {http.MethodGet, root + "/", e.token, http.StatusNotFound},
		"other method": {http.MethodPost, e.url, e.token, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, body := askWith(t, c.method, c.url, c.token)
			require.Equal(t, c.want, status)
			require.NotContains(t, body, "hunter2")
		})
	}
	require.NotContains(t, written.String(), e.token)
}

func TestEndpointOutlivesTheProvidersFailures(t *testing.T) {
	i := &issuer{life: time.Hour}
	e, written := newEndpoint(t, aws.NewCredentialsCache(i))
	status, _, _ := ask(t, e)
	require.Equal(t, http.StatusOK, status)

	e.source.cache.Invalidate()
	i.failWith(errors.New("denied hunter2 token1"))
	status, c, _ := ask(t, e)
	require.Equal(t, http.StatusOK, status, "what is at hand lasts")
	require.Equal(t, "KEY1", c.AccessKeyID)

	e.source.last.Expires = time.Now().Add(-time.Second)
	for range 3 {
		status, _, body := ask(t, e)
		require.Equal(t, http.StatusInternalServerError, status)
		require.Equal(t, "no credentials: see this process's log\n", body)
	}
	require.Equal(t, 1, bytes.Count([]byte(written.String()), []byte("level=ERROR")), "logged once")
	require.Contains(t, written.String(), "denied … …")
	require.NotContains(t, written.String(), "hunter2")
	require.NotContains(t, written.String(), "token1")

	i.fail.Store(nil)
	status, c, _ = ask(t, e)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "KEY2", c.AccessKeyID)
	require.Contains(t, written.String(), "credentials for the object store are back")
}

// gate makes retrievals wait for each other.
type gate struct {
	issuer

	entered chan struct{}
	open    chan struct{}
}

func (g *gate) Retrieve(ctx context.Context) (aws.Credentials, error) {
	g.entered <- struct{}{}
	<-g.open
	return g.issuer.Retrieve(ctx)
}

func TestEndpointRetrievesOnceForMany(t *testing.T) {
	g := &gate{issuer: issuer{life: time.Hour}, entered: make(chan struct{}, 100), open: make(chan struct{})}
	e, _ := newEndpoint(t, g)
	var askers sync.WaitGroup
	for range 20 {
		askers.Go(func() {
			status, c, _ := ask(t, e)
			if status != http.StatusOK || c.AccessKeyID != "KEY1" {
				t.Errorf("status %d, key %s", status, c.AccessKeyID)
			}
		})
	}
	<-g.entered
	close(g.open)
	askers.Wait()
	require.Equal(t, int64(1), g.issued.Load())
}

func TestEndpointCloseEndsRequests(t *testing.T) {
	g := &gate{issuer: issuer{life: time.Hour}, entered: make(chan struct{}, 1), open: make(chan struct{})}
	defer close(g.open)
	e, written := newEndpoint(t, g)
	asked := make(chan error, 1)
	go func() {
		r, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, e.url, nil)
		r.Header.Set("Authorization", e.token)
		response, err := http.DefaultClient.Do(r)
		if err == nil {
			response.Body.Close()
		}
		asked <- err
	}()
	<-g.entered
	require.NoError(t, e.Close())
	require.Error(t, <-asked)
	require.NoFileExists(t, e.tokenFile)
	require.Empty(t, written.String(), "a request that was given up is no failure")
}

func TestRenewal(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	for name, c := range map[string]struct {
		life time.Duration
		ask  []time.Duration // after the first time seen
		want []bool
	}{
		"an hour":      {time.Hour, []time.Duration{0, 53 * time.Minute, 54 * time.Minute}, []bool{false, false, true}},
		"ten seconds":  {10 * time.Second, []time.Duration{0, 4 * time.Second, 5 * time.Second}, []bool{false, false, true}},
		"expired":      {-time.Second, []time.Duration{0, 0, time.Second}, []bool{true, false, true}},
		"asked again":  {time.Hour, []time.Duration{0, 56 * time.Minute, 56*time.Minute + 59*time.Second, 57 * time.Minute}, []bool{false, true, false, true}},
		"last second":  {time.Hour, []time.Duration{0, time.Hour - 100*time.Millisecond, time.Hour - 10*time.Millisecond}, []bool{false, true, false}},
		"stays a year": {8760 * time.Hour, []time.Duration{0, 8000 * time.Hour}, []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			var r renewal
			for i, after := range c.ask {
				require.Equal(t, c.want[i], r.due(at(c.life), at(after)), "after %s", after)
			}
		})
	}
}

func TestRenewalStartsOverWithNewCredentials(t *testing.T) {
	var r renewal
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.False(t, r.due(now.Add(10*time.Second), now))
	require.True(t, r.due(now.Add(10*time.Second), now.Add(5*time.Second)))
	require.False(t, r.due(now.Add(15*time.Second), now.Add(5*time.Second)))
	require.True(t, r.due(now.Add(15*time.Second), now.Add(10*time.Second)))
}

// TestSourceRenewsEarly holds short-lived credentials and never hands out any
// that have less than half of their life left.
func TestSourceRenewsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{life: 2 * time.Second}
		s := newCredentialsSource(i)
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
			c, err := s.retrieve(t.Context())
			require.NoError(t, err)
			require.Greater(t, time.Until(c.Expires), i.life/2-20*time.Millisecond)
			time.Sleep(10 * time.Millisecond) // the pace of a busy engine
		}
		require.GreaterOrEqual(t, i.issued.Load(), int64(15))
		require.LessOrEqual(t, i.issued.Load(), int64(30))
	})
}
