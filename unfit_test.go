package slap_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

const (
	someKey    = "SOMEACCESSKEYOFMINE"
	someSecret = "some-secret-of-mine"
)

// ignoresConditions is a store that does whatever it is asked, on no condition.
func ignoresConditions(t *testing.T) store.Store {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	s3 := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-Match")
		r.Header.Del("If-None-Match")
		s3.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return store.S3(store.S3Options{
		Bucket: "bucket", Endpoint: server.URL, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(someKey, someSecret, ""),
	})
}

func TestPRB4_AFailedProbeFailsTheStartAndNamesTheSteps(t *testing.T) {
	cluster := newCluster(t, slap.Config{Store: ignoresConditions(t), Shards: 1})
	err := cluster.Start(within(t, time.Minute))
	var failed *store.ProbeError
	if !errors.As(err, &failed) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%v", err)
	}
	var steps []string
	for _, s := range failed.Report.Steps {
		steps = append(steps, s.Name+"="+string(s.Result))
	}
	want := "create=ok create_again=failed stale_if_match=failed current_if_match=skipped delete=ok"
	if got := strings.Join(steps, " "); got != want || failed.Step.Name != store.StepCreateAgain {
		t.Errorf("%s, want %s", got, want)
	}
	<-cluster.Done()
	if !errors.As(cluster.Err(), &failed) {
		t.Errorf("it ended with %v", cluster.Err())
	}
}

func TestPRB5_WithoutAProbeANodeStartsOnAnyStoreAndTellsOfNone(t *testing.T) {
	cluster := newCluster(t, slap.Config{Store: ignoresConditions(t), Shards: 1, Probe: slap.ProbeOff, ShardChildren: counters})
	ctx, cancel := context.WithCancel(t.Context())
	events := cluster.Events(ctx, 1000)
	if err := cluster.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := increment(within(t, time.Minute), cluster, "k"); err != nil {
		t.Error(err)
	}
	stopCluster(t, cluster)
	defer cancel()
	for e := range events {
		if _, ok := e.(slap.Probed); ok {
			t.Errorf("it tells of a probe: %v", e)
		}
	}
}

func TestPRB6_AProbeIsToldAndLoggedWithoutCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		store store.Store
		fit   bool
		level string
		says  string
	}{
		"unfit": {ignoresConditions(t), false, "level=ERROR", "http://127.0.0.1:"},
		"fit":   {store.Memory(), true, "level=DEBUG", ""},
	} {
		t.Run(name, func(t *testing.T) {
			log := &journal{}
			cluster := newCluster(t, slap.Config{Cluster: "some-cluster", Store: c.store, Shards: 1, Logger: log.logger(slog.LevelDebug)})
			events := cluster.Events(t.Context(), 1000)
			if err := cluster.Start(within(t, time.Minute)); (err == nil) != c.fit {
				t.Fatal(err)
			}
			stopCluster(t, cluster)
			<-cluster.Done()
			var probes []slap.Probed
			for e := range events {
				if p, ok := e.(slap.Probed); ok {
					probes = append(probes, p)
				}
			}
			if len(probes) != 1 || probes[0].Cluster != "some-cluster" || (probes[0].Err == nil) != c.fit {
				t.Errorf("told %+v", probes)
			}
			about := log.lines("probe", c.level, c.says)
			if len(about) != 1 || len(log.lines("probe")) != 1 {
				t.Errorf("logged %q", log.lines("probe"))
			}
			for _, never := range []string{someKey, someSecret} {
				if strings.Contains(log.String(), never) {
					t.Errorf("the log has %q:\n%s", never, log)
				}
			}
		})
	}
}
