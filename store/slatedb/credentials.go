package slatedb

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/slap-go/slap/internal/clock"
)

// The engine knows fixed keys and the services of the clouds. Credentials that
// expire, however aws-sdk-go-v2 finds them, reach it through a service of this
// process: an HTTP endpoint on loopback that answers as the one of Amazon's
// container agents does, guarded by a random token in a file that only this user
// reads. The engine asks it again by itself, from five minutes before the
// credentials expire.

// credentialOptions are the engine's options for the credentials of a provider.
// The endpoint is nil unless the credentials expire; else it serves them until
// it is closed, which must be after the last database that uses it.
func credentialOptions(
	ctx context.Context, provider aws.CredentialsProvider, log *slog.Logger,
) (map[string]string, *credentialsEndpoint, error) {
	if aws.IsCredentialsProvider(provider, (*aws.AnonymousCredentials)(nil)) {
		return map[string]string{"aws_skip_signature": "true"}, nil, nil
	}
	source := newCredentialsSource(provider)
	found, err := source.retrieve(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("credentials for the object store: %w", err)
	}
	if !found.CanExpire {
		return fixedKeys(found), nil, nil
	}
	endpoint, err := serveCredentials(source, log)
	if err != nil {
		return nil, nil, err
	}
	return endpoint.options(), endpoint, nil
}

func fixedKeys(c aws.Credentials) map[string]string {
	o := map[string]string{
		"aws_access_key_id":     c.AccessKeyID,
		"aws_secret_access_key": c.SecretAccessKey,
	}
	if c.SessionToken != "" {
		o["aws_session_token"] = c.SessionToken
	}
	return o
}

// credentialsEndpoint serves credentials on loopback.
type credentialsEndpoint struct {
	source    *credentialsSource
	log       *slog.Logger
	token     string
	tokenFile string
	url       string
	server    *http.Server
	running   sync.WaitGroup // the server's loop and its handlers

	mu      sync.Mutex
	closed  bool
	failure string // the failure logged last, empty when the last request was answered
}

const credentialsPath = "/credentials"

// serveCredentials starts an endpoint. Its Close stops it.
func serveCredentials(source *credentialsSource, log *slog.Logger) (*credentialsEndpoint, error) {
	e := &credentialsEndpoint{source: source, log: log, token: rand.Text()}
	var err error
	if e.tokenFile, err = writeToken(e.token); err != nil {
		return nil, fmt.Errorf("token of the credentials endpoint: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("credentials endpoint: %w", err), os.Remove(e.tokenFile))
	}
	e.url = "http://" + listener.Addr().String() + credentialsPath
	e.server = &http.Server{
		Handler:           http.HandlerFunc(e.serve),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	e.running.Go(func() { _ = e.server.Serve(listener) }) // always ErrServerClosed
	return e, nil
}

// writeToken writes a file that only this user reads. A killed process leaves it
// behind; its token opens nothing any more.
func writeToken(token string) (string, error) {
	f, err := os.CreateTemp("", "slap-credentials-*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(token)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// options are the engine's options that lead it to the endpoint.
func (e *credentialsEndpoint) options() map[string]string {
	return map[string]string{
		"aws_container_credentials_full_uri":     e.url,
		"aws_container_authorization_token_file": e.tokenFile,
	}
}

// Close stops the endpoint and removes its token. It returns when nothing of the
// endpoint runs any more.
func (e *credentialsEndpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	err := errors.Join(e.server.Close(), os.Remove(e.tokenFile))
	e.running.Wait()
	return err
}

// enter counts a handler among what Close waits for, unless it is too late.
func (e *credentialsEndpoint) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.running.Add(1)
	return true
}

// containerCredentials is the answer that the engine reads.
type containerCredentials struct {
	AccessKeyID     string    `json:"AccessKeyId"`
	SecretAccessKey string    `json:"SecretAccessKey"`
	Token           string    `json:"Token"`
	Expiration      time.Time `json:"Expiration"`
}

func (e *credentialsEndpoint) serve(w http.ResponseWriter, r *http.Request) {
	if !e.enter() {
		return
	}
	defer e.running.Done()
	given := r.Header.Get("Authorization")
	if subtle.ConstantTimeCompare([]byte(given), []byte(e.token)) != 1 {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	if r.Method != http.MethodGet || r.URL.Path != credentialsPath {
		http.NotFound(w, r)
		return
	}
	c, err := e.source.retrieve(r.Context())
	e.report(err)
	if err != nil {
		http.Error(w, "no credentials: see this process's log", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	err = json.NewEncoder(w).Encode(containerCredentials{
		AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey,
		Token: c.SessionToken, Expiration: expiration(c),
	})
	if err != nil { // the engine asks again
		e.log.Debug("the engine did not wait for its credentials", "error", err)
	}
}

// expiration is when the engine asks again at the latest. Credentials that do not
// expire are asked for again all the same: the next ones may.
func expiration(c aws.Credentials) time.Time {
	if c.CanExpire {
		return c.Expires.UTC()
	}
	return clock.Now().Add(time.Hour).UTC()
}

// report logs the first of a row of equal failures, and the end of the row.
func (e *credentialsEndpoint) report(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	text := ""
	if err != nil {
		text = e.source.redact(err.Error())
	}
	e.mu.Lock()
	before := e.failure
	e.failure = text
	e.mu.Unlock()
	switch {
	case text == before:
	case text != "":
		e.log.Error("no credentials for the object store", "error", text)
	default:
		e.log.Info("credentials for the object store are back")
	}
}
