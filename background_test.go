package slap_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

// away is a store that refuses everything until it is back, and a way into it all the same.
func away(t *testing.T) (s, inside store.Store, back *atomic.Bool) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	back = &atomic.Bool{}
	s3 := gofakes3.New(backend).Server()
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !back.Load() {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		s3.ServeHTTP(w, r)
	})
	at := func(h http.Handler) store.Store {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return store.S3(store.S3Options{
			Bucket: "bucket", Endpoint: server.URL, Region: "us-east-1",
			Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		})
	}
	return at(refuse), at(s3), back
}

func TestSPEC2_ABackgroundProbeLetsTheNodeStartWithoutAStore(t *testing.T) {
	s, _, back := away(t)
	c := newCluster(t, slap.Config{Store: s, Shards: 2, Probe: slap.ProbeBackground, ShardChildren: counters})
	ctx := within(t, time.Minute)
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := increment(ctx, c, "k"); !errors.Is(err, slap.ErrUnassigned) || !errors.Is(err, slap.ErrNotExecuted) {
		t.Errorf("a request: %v", err)
	}
	if l, err := c.Lookup(1); l.Assigned() || err != nil {
		t.Errorf("a look: %v, %v", l, err)
	}
	if all := c.Assignments(); len(all) != 2 || all[0].Err == nil || all[1].State != slap.StateUnassigned || c.Ready() {
		t.Errorf("assignments: %v", all)
	}
	back.Store(true)
	if err := c.AwaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := increment(ctx, c, "k"); err != nil {
		t.Errorf("once it is back: %v", err)
	}
	stopCluster(t, c)
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func TestSPEC2_ANodeThatStillProbesStops(t *testing.T) {
	s, _, _ := away(t)
	c := newCluster(t, slap.Config{Store: s, Shards: 1, Probe: slap.ProbeBackground})
	if err := c.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(within(t, time.Minute)); err != nil {
		t.Errorf("stop: %v", err)
	}
	<-c.Done()
	if err := c.Err(); err != nil {
		t.Errorf("after a clean stop: %v", err)
	}
	if _, err := c.Lookup(0); !errors.Is(err, slap.ErrNotRunning) {
		t.Errorf("a look: %v", err)
	}
}

func TestP1_1_AnotherClusterFoundInTheBackgroundEndsTheNode(t *testing.T) {
	s, inside, back := away(t)
	c := newCluster(t, slap.Config{Cluster: "mine", Store: s, Shards: 1, Probe: slap.ProbeBackground})
	if err := c.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	bucket, err := inside.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bucket.Close() }()
	theirs := store.IdentityConfig{Cluster: "theirs", Shards: 1}
	if _, err := store.Identify(within(t, time.Minute), bucket, theirs); err != nil {
		t.Fatal(err)
	}
	back.Store(true)
	select {
	case <-c.Done():
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	if err := c.Err(); !errors.Is(err, store.ErrIdentity) {
		t.Errorf("it ended with %v", err)
	}
}
