package slatedb

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/slap-go/slap/internal/clock"
)

// credentialsSource retrieves credentials, new ones some time before those at
// hand expire. A provider's failure goes unnoticed while they last.
type credentialsSource struct {
	cache *aws.CredentialsCache // lets one of many concurrent retrievals do the work

	mu      sync.Mutex
	renewal renewal
	last    aws.Credentials // the last good ones
}

func newCredentialsSource(provider aws.CredentialsProvider) *credentialsSource {
	cache, ok := provider.(*aws.CredentialsCache)
	if !ok {
		cache = aws.NewCredentialsCache(provider)
	}
	return &credentialsSource{cache: cache}
}

func (s *credentialsSource) retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := s.cache.Retrieve(ctx)
	if err == nil && s.keep(c) {
		s.cache.Invalidate()
		if c, err = s.cache.Retrieve(ctx); err == nil {
			s.keep(c)
		}
	}
	if err == nil {
		return c, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.HasKeys() && !s.last.Expired() {
		return s.last, nil
	}
	return aws.Credentials{}, err
}

// keep remembers good credentials and tells whether to renew them now.
func (s *credentialsSource) keep(c aws.Credentials) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = c
	return c.CanExpire && s.renewal.due(c.Expires, clock.Now())
}

// redact takes the secrets at hand out of a text.
func (s *credentialsSource) redact(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range []string{s.last.SecretAccessKey, s.last.SessionToken} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

// renewEarly is how long before they expire credentials are renewed. The engine
// asks for new ones five minutes before.
const renewEarly = 6 * time.Minute

// renewal decides when to renew credentials. The zero value has seen none.
type renewal struct {
	expires time.Time // of those seen last
	since   time.Time // when they were seen first
	next    time.Time // not before
}

// due tells whether credentials are to be renewed now: six minutes before they
// expire, or halfway if they live shorter than twice that. A renewal that brought
// the same ones is tried again when a quarter of the time left has gone.
func (r *renewal) due(expires, now time.Time) bool {
	if !expires.Equal(r.expires) {
		*r = renewal{expires: expires, since: now}
	}
	left, life := expires.Sub(now), expires.Sub(r.since)
	if left > min(renewEarly, life/2) || now.Before(r.next) {
		return false
	}
	r.next = now.Add(max(left/4, time.Second))
	return true
}
