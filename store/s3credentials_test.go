package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
)

// rotating gives a new session each time it is asked.
type rotating struct{ asked atomic.Int64 }

func (r *rotating) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{
		AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey,
		SessionToken: fmt.Sprintf("session-%d", r.asked.Add(1)),
		CanExpire:    true, Expires: time.Now().Add(time.Hour),
	}, nil
}

// end makes the sessions end that match says.
func (f *flaky) end(ended func(session string) bool) {
	f.proxy.Inject(s3test.Rule{
		Match: func(r s3test.Request) bool { return ended(r.Header.Get("X-Amz-Security-Token")) },
		Fault: s3test.Status(400, "ExpiredToken"),
	})
}

// newFakeFlaky has the fake server, which accepts all sessions, behind the proxy.
func newFakeFlaky(t *testing.T, c aws.CredentialsProvider) *flaky {
	t.Helper()
	proxy, err := s3test.LaunchProxy(fakeS3(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return &flaky{proxy: proxy, bucket: open(t, at(proxy.Endpoint, "place", c))}
}

func TestExpiredCredentialsAreFetchedAgain(t *testing.T) {
	t.Parallel()
	provider := &rotating{}
	f := newFakeFlaky(t, provider)
	f.end(func(session string) bool { return session == "session-1" })
	if _, err := f.bucket.Put(within(t, 30*time.Second), "key", []byte("mine"), store.IfAbsent()); err != nil {
		t.Fatal(err)
	}
	if asked := provider.asked.Load(); asked != 2 {
		t.Errorf("the provider was asked %d times; want 2", asked)
	}
	f.end(func(string) bool { return true })
	_, err := f.bucket.Put(within(t, 30*time.Second), "key", []byte("mine"), store.Overwrite())
	if err == nil || errors.Is(err, store.ErrUnknownOutcome) || !strings.Contains(err.Error(), "have expired") {
		t.Errorf("credentials that stay expired: %v", err)
	}
}

// expiring says that its credentials end at once.
type expiring struct{ rotating }

func (e *expiring) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := e.rotating.Retrieve(ctx)
	c.Expires = time.Now()
	return c, err
}

func TestExpiringCredentialsAreReplacedInTime(t *testing.T) {
	t.Parallel()
	provider := &expiring{}
	f := newFakeFlaky(t, provider)
	before := provider.asked.Load()
	if _, err := f.bucket.Get(t.Context(), "none"); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	if after := provider.asked.Load(); after <= before {
		t.Errorf("the provider was asked %d times before and %d times after", before, after)
	}
}

// hangingOnce never answers its second question.
type hangingOnce struct{ expiring }

func (h *hangingOnce) Retrieve(ctx context.Context) (aws.Credentials, error) {
	if h.asked.Load() == 1 {
		h.asked.Add(1)
		<-ctx.Done()
		return aws.Credentials{}, ctx.Err()
	}
	return h.expiring.Retrieve(ctx)
}

func TestHangingCredentialsAreAskedAgain(t *testing.T) {
	t.Parallel()
	b := open(t, store.S3(store.S3Options{
		Bucket: "bucket", Region: s3test.Region, Endpoint: fakeS3(t), Credentials: &hangingOnce{}, RequestTimeout: 2 * time.Second,
	}))
	ctx := within(t, 30*time.Second)
	if _, err := b.Get(ctx, "none"); err == nil || !strings.Contains(err.Error(), "AWS credentials") {
		t.Fatalf("with hanging credentials: %v", err)
	}
	// The next call may still join the fetch that is about to be given up.
	eventually(t, func() bool {
		_, err := b.Get(ctx, "none")
		return errors.Is(err, store.ErrNotFound)
	})
}
